#include <unistd.h>

void become(uid_t user, gid_t group) {
    // ruleid: unchecked-privilege-drop
    setgid(group);
    // ruleid: unchecked-privilege-drop
    setuid(user);
}
