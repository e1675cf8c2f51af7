#include <stdio.h>
#include <syslog.h>

int main(int argc, char **argv) {
    char line[80];
    // ruleid: uncontrolled-format-string
    printf(argv[1]);
    fgets(line, sizeof line, stdin);
    // ruleid: uncontrolled-format-string
    syslog(LOG_INFO, line);
    return 0;
}
