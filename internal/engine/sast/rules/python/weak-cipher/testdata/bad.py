from Crypto.Cipher import AES, DES

def box(key, iv):
    # ruleid: weak-cipher
    return DES.new(key, DES.MODE_CBC, iv)

def plain(key):
    # ruleid: weak-cipher
    return AES.new(key, AES.MODE_ECB)
