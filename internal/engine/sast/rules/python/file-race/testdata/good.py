def read(path):
    try:
        # ok: file-race
        with open(path) as f:
            return f.read()
    except OSError:
        return ""
