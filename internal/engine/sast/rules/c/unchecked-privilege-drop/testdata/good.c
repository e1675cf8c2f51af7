#include <stdlib.h>
#include <unistd.h>

int become(uid_t user, gid_t group) {
    if (setgid(group) != 0) {
        abort();
    }
    int failed = setegid(group);
    if (failed) {
        return failed;
    }
    return setuid(user);
}
