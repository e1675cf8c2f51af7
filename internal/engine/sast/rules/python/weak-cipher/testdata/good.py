from Crypto.Cipher import AES

def box(key, nonce):
    # ok: weak-cipher
    return AES.new(key, AES.MODE_GCM, nonce=nonce)
