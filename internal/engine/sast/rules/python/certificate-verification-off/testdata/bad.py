import requests

def load(url):
    # ruleid: certificate-verification-off
    return requests.get(url, verify=False)
