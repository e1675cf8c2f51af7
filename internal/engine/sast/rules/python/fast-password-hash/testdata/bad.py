import hashlib

def stored(password):
    # ruleid: fast-password-hash
    return hashlib.sha256(password.encode("utf-8")).hexdigest()

def salted(salt, password):
    # ruleid: fast-password-hash
    return hashlib.sha512((salt + password).encode()).hexdigest()
