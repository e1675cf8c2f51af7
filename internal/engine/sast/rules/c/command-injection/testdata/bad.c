#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    char command[256];
    snprintf(command, sizeof command, "ping -c 1 %s", argv[1]);
    // ruleid: command-injection
    return system(command);
}
