from Crypto.Cipher import AES

def opened(nonce, text):
    # ruleid: hard-coded-key
    return AES.new(b"sixteen byte key", AES.MODE_GCM, nonce=nonce).decrypt(text)
