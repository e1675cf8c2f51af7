import hashlib
import hmac

def genuine(key, text, signature):
    mac = hmac.new(key, text, hashlib.sha256).hexdigest()
    # ruleid: timing-unsafe-comparison
    return mac == signature

def same(key, text, signature):
    # ruleid: timing-unsafe-comparison
    if hmac.new(key, text, hashlib.sha256).hexdigest() != signature:
        return False
    return True
