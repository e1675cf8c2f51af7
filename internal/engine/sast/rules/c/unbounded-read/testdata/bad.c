#include <stdio.h>

void ask(void) {
    char name[32];
    // ruleid: unbounded-read
    gets(name);
    // ruleid: unbounded-read
    scanf("%s", name);
}
