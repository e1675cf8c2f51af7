import hashlib

def checksum(data):
    # ruleid: weak-hash-any-purpose
    return hashlib.md5(data).hexdigest()

def other(data):
    name = "sha1"
    # ruleid: weak-hash-any-purpose
    return hashlib.new(name, data).hexdigest()

def store(user, password):
    # ruleid: weak-hash
    user.digest = hashlib.md5(password.encode()).hexdigest()

def hash_password(text):
    # ruleid: weak-hash
    return hashlib.sha1(text).hexdigest()

def make(user):
    # ruleid: weak-hash
    token = hashlib.md5(str(user.id).encode()).hexdigest()
    return token
