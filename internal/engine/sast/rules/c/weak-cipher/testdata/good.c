#include <openssl/evp.h>

const EVP_CIPHER *choose(void) {
    return EVP_aes_256_gcm();
}
