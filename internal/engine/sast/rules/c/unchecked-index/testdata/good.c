#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int slots[16];

void take(const char *text) {
    int slot = atoi(text);
    if (slot < 0 || slot >= 16) {
        return;
    }
    slots[slot] = 1;
}

void wrap(const char *text) {
    unsigned slot = strtoul(text, NULL, 10);
    slots[slot % 16] = 1;
}

struct header { unsigned length; };

int unpack(char *out, size_t room, const char *in) {
    const struct header *h = (const struct header *)in;
    unsigned n = ntohl(h->length);
    if (n > room) {
        return -1;
    }
    memcpy(out, in + sizeof *h, n);
    return 0;
}

void serve(int argc, char **argv) {
    int port = 0;
    for (int i = 1; i < argc; i++) {
        port = atoi(argv[i]);
    }
    printf("%d", port);
}
