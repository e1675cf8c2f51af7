import ssl

# ruleid: insecure-protocol-version
context = ssl.SSLContext(ssl.PROTOCOL_TLSv1)
