import os

def share(path):
    # ok: permissive-file-mode
    os.chmod(path, 0o750)
