import os

from Crypto.Cipher import AES

def opened(nonce, text):
    # ok: hard-coded-key
    return AES.new(os.environb[b"BOX_KEY"], AES.MODE_GCM, nonce=nonce).decrypt(text)
