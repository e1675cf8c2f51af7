#include <fcntl.h>
#include <sys/stat.h>

int share(const char *path) {
    // ruleid: world-writable
    return chmod(path, 0666);
}

int begin(const char *path) {
    // ruleid: world-writable
    umask(0);
    // ruleid: world-writable
    return open(path, O_CREAT | O_WRONLY, 0777);
}
