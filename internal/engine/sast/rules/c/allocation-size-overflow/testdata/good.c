#include <arpa/inet.h>
#include <stdlib.h>

int *numbers(const char *text) {
    unsigned n = strtoul(text, NULL, 10);
    return calloc(n, sizeof(int));
}

char *text(const unsigned *header) {
    unsigned n = ntohl(*header);
    if (n > 4096) {
        return NULL;
    }
    return malloc(n + 1);
}

int *fixed(void) {
    return malloc(16 * sizeof(int));
}
