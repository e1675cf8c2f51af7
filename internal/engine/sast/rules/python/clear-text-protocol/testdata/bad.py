import ftplib

def fetch(host):
    # ruleid: clear-text-protocol
    return ftplib.FTP(host)
