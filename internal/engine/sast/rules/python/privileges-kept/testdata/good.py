import os

def drop(uid, gid):
    # ok: privileges-kept
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
