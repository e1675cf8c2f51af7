#include <stdlib.h>
#include <string.h>

struct node { struct node *next; int value; };

char *copy(const char *text, size_t n) {
    // ruleid: unchecked-allocation
    char *out = malloc(n + 1);
    memcpy(out, text, n);
    return out;
}

struct node *push(struct node *list, int value) {
    struct node *n;
    // ruleid: unchecked-allocation
    n = calloc(1, sizeof *n);
    n->value = value;
    n->next = list;
    return n;
}

void grow(int *numbers, size_t n) {
    // ruleid: unchecked-allocation
    numbers = realloc(numbers, (n + 1) * sizeof *numbers);
    numbers[n] = 0;
}
