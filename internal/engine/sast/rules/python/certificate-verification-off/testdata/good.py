import requests

def load(url):
    # ok: certificate-verification-off
    return requests.get(url, verify="ca.pem", timeout=5)


def context(verify):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if verify is True:
        ctx.load_default_certs()
    elif verify is False:
        # ok: certificate-verification-off
        ctx.check_hostname = False
    return ctx
