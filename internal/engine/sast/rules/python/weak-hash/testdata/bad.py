import hashlib

def checksum(data):
    # ruleid: weak-hash
    return hashlib.md5(data).hexdigest()

def other(data):
    name = "sha1"
    # ruleid: weak-hash
    return hashlib.new(name, data).hexdigest()
