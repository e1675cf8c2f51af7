#include <fcntl.h>
#include <sys/stat.h>

int share(const char *path) {
    return chmod(path, 0640);
}

int begin(const char *path) {
    umask(022);
    mkdir(path, 01777);
    return open(path, O_CREAT | O_WRONLY, 0644);
}
