#include <stdlib.h>

int scratch(void) {
    char name[] = "/tmp/reportXXXXXX";
    return mkstemp(name);
}
