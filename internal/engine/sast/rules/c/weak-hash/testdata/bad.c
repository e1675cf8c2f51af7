#include <openssl/evp.h>
#include <openssl/md5.h>

void sum(const unsigned char *text, size_t n, unsigned char *out) {
    // ruleid: weak-hash
    MD5(text, n, out);
}

int begin(EVP_MD_CTX *c) {
    // ruleid: weak-hash
    return EVP_DigestInit_ex(c, EVP_sha1(), NULL);
}

const EVP_MD *kind(void) {
    // ruleid: weak-hash
    return EVP_md5();
}
