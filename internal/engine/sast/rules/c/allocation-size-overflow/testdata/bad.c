#include <alloca.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

int *numbers(const char *text) {
    unsigned n = strtoul(text, NULL, 10);
    // ruleid: allocation-size-overflow
    return malloc(n * sizeof(int));
}

char *text(const unsigned *header) {
    unsigned n = ntohl(*header);
    // ruleid: allocation-size-overflow
    return malloc(n + 1);
}

char *room(FILE *in) {
    int n;
    if (fscanf(in, "%d", &n) != 1) {
        return NULL;
    }
    // ruleid: allocation-size-overflow
    return alloca(n);
}
