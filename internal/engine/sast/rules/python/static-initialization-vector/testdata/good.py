import os

from Crypto.Cipher import AES

def seal(key, text):
    start = os.urandom(16)
    # ok: static-initialization-vector
    return start + AES.new(key, AES.MODE_CBC, start).encrypt(text)
