import hashlib

from argon2 import PasswordHasher

def stored(password):
    # ok: fast-password-hash
    return PasswordHasher().hash(password)

def digest(password_file):
    # ok: fast-password-hash
    return hashlib.sha256(password_file.read()).hexdigest()
