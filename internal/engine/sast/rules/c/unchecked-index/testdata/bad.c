#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int slots[16];

void take(const char *text) {
    int slot = atoi(text);
    // ruleid: unchecked-index
    slots[slot] = 1;
}

int ask(void) {
    int slot;
    if (scanf("%d", &slot) != 1) {
        return -1;
    }
    // ruleid: unchecked-index
    return slots[slot];
}

struct header { unsigned length; };

void unpack(char *out, const char *in) {
    const struct header *h = (const struct header *)in;
    unsigned n = ntohl(h->length);
    // ruleid: unchecked-index
    memcpy(out, in + sizeof *h, n);
}
