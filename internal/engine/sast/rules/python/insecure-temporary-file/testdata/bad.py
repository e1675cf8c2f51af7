import tempfile

def scratch():
    # ruleid: insecure-temporary-file
    return open(tempfile.mktemp(), "w")
