#include <stdio.h>

void ask(void) {
    char name[32];
    int n;
    fgets(name, sizeof name, stdin);
    scanf("%31s %d", name, &n);
}
