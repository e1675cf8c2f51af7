#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *open_for_user(const char *path) {
    if (access(path, R_OK) != 0) {
        return NULL;
    }
    // ruleid: file-race
    return fopen(path, "r");
}

int share(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return -1;
    }
    // ruleid: file-race
    return chmod(path, 0644);
}
