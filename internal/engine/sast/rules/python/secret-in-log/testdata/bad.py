import logging

log = logging.getLogger("web")

def login(name, password):
    # ruleid: secret-in-log
    log.info("sign-in of %s with %s", name, password)
