#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; int value; };

int take(struct node *n) {
    free(n);
    // ruleid: use-after-free
    return n->value;
}

void say(char *text, int failed) {
    if (failed) {
        free(text);
    }
    // ruleid: use-after-free
    puts(text);
}

void twice(char *text, int failed) {
    if (failed) {
        free(text);
    }
    // ruleid: use-after-free
    free(text);
}
