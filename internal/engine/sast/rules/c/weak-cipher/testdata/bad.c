#include <openssl/evp.h>

const EVP_CIPHER *choose(void) {
    // ruleid: weak-cipher
    return EVP_des_cbc();
}
