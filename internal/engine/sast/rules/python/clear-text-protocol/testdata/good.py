import ftplib

def fetch(host):
    # ok: clear-text-protocol
    return ftplib.FTP_TLS(host)
