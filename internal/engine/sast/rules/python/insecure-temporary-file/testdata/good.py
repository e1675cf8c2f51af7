import tempfile

def scratch():
    # ok: insecure-temporary-file
    return tempfile.NamedTemporaryFile("w")
