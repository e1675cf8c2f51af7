#include <stdlib.h>
#include <string.h>

void join(const char *name) {
    char out[64] = "user ";
    // ruleid: wrong-copy-size
    strncat(out, name, sizeof(out));
}

void copy(char *out, const char *name) {
    // ruleid: wrong-copy-size
    strncpy(out, name, strlen(name));
}

void end(void) {
    char out[64];
    // ruleid: wrong-copy-size
    out[sizeof(out)] = 0;
}

char *twin(const char *name) {
    // ruleid: wrong-copy-size
    char *out = malloc(strlen(name));
    if (out)
        out[0] = 0;
    strcpy(out, name);
    return out;
}
