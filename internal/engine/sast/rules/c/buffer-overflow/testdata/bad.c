#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    char path[64];
    // ruleid: buffer-overflow
    strcpy(path, argv[1]);
    char *home = getenv("HOME");
    // ruleid: buffer-overflow
    strcat(path, home);
    return 0;
}
