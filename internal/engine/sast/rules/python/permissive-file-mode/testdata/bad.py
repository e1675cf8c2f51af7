import os

def share(path):
    # ruleid: permissive-file-mode
    os.chmod(path, 0o777)
