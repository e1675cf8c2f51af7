#include <stdlib.h>
#include <string.h>

void join(const char *name) {
    char out[64] = "user ";
    strncat(out, name, sizeof(out) - strlen(out) - 1);
    out[sizeof(out) - 1] = 0;
}

char *twin(const char *name) {
    char *out = malloc(strlen(name) + 1);
    if (out) {
        strcpy(out, name);
    }
    return out;
}
