#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    char path[64];
    snprintf(path, sizeof path, "%s", argv[1]);
    strcpy(path, "/tmp");
    return 0;
}
