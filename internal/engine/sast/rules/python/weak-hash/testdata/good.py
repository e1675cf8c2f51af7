import hashlib

def checksum(data):
    # ok: weak-hash
    return hashlib.sha256(data).hexdigest()

def cache_key(data):
    # ok: weak-hash
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
