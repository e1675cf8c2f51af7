#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int open_for_user(const char *path) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW);
    if (fd >= 0 && (fstat(fd, &about) != 0 || about.st_uid != getuid())) {
        close(fd);
        return -1;
    }
    return fd;
}

int has(const char *path) {
    return access(path, F_OK) == 0;
}

int other(const char *a, const char *b) {
    struct stat about;
    if (stat(a, &about) != 0) {
        return -1;
    }
    return open(b, O_RDONLY);
}
