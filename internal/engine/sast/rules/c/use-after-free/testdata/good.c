#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };

static char *kept;

int take(struct node *n, int failed) {
    if (failed) {
        free(n);
        return -1;
    }
    return n->value;
}

void drop(struct node *n) {
    while (n) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
}

int again(struct node *n) {
    free(n);
    n = malloc(sizeof *n);
    return n ? n->value : 0;
}

int part(struct node *n) {
    free(n->next);
    n->next = NULL;
    return n->value;
}

int jump(char *text, int failed) {
    if (failed) {
        goto fail;
    }
    return text[0];
fail:
    free(text);
    return -1;
}

int make(char **out);

int replace(char *text) {
    free(text);
    make(&text);
    return text[0];
}

void clear(void) {
    free(kept);
}

size_t length(void) {
    return strlen(kept);
}
