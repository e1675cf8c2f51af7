from Crypto.Cipher import AES

def seal(key, text):
    # ruleid: static-initialization-vector
    return AES.new(key, AES.MODE_CBC, b"0123456789abcdef").encrypt(text)

def seal_again(key, text):
    # ruleid: static-initialization-vector
    return AES.new(key, AES.MODE_CBC, iv=b"0123456789abcdef").encrypt(text)
