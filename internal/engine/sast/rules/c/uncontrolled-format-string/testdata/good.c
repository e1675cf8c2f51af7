#include <stdio.h>

int main(int argc, char **argv) {
    char line[80];
    printf("%s\n", argv[1]);
    fgets(line, sizeof line, stdin);
    fprintf(stderr, "%s", line);
    return 0;
}
