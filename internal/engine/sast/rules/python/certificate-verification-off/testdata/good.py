import requests

def load(url):
    # ok: certificate-verification-off
    return requests.get(url, verify="ca.pem", timeout=5)
