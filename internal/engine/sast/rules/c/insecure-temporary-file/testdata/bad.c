#include <stdio.h>

FILE *scratch(void) {
    // ruleid: insecure-temporary-file
    return fopen(tmpnam(NULL), "w");
}
