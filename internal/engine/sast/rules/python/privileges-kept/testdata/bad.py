import os

def drop(uid, gid):
    # ruleid: privileges-kept
    os.setuid(uid)
    os.setgid(gid)
