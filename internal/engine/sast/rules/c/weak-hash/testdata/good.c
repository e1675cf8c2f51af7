#include <openssl/evp.h>
#include <openssl/sha.h>

void sum(const unsigned char *text, size_t n, unsigned char *out) {
    SHA256(text, n, out);
}

int begin(EVP_MD_CTX *c) {
    return EVP_DigestInit_ex(c, EVP_sha256(), NULL);
}
