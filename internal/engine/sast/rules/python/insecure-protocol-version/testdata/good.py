import ssl

# ok: insecure-protocol-version
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# ok: insecure-protocol-version
context.minimum_version = ssl.TLSVersion.TLSv1_2
