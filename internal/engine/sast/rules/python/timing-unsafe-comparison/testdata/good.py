import hashlib
import hmac

def genuine(key, text, signature):
    mac = hmac.new(key, text, hashlib.sha256).hexdigest()
    # ok: timing-unsafe-comparison
    return hmac.compare_digest(mac, signature)
