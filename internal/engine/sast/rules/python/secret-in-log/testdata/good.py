import logging

log = logging.getLogger("web")

def login(name, password):
    # ok: secret-in-log
    log.info("sign-in of %s", name)
    # ok: secret-in-log
    log.info("password has %d characters", len(password))

def show(password):
    # ok: secret-in-log
    print("the new password is", password)
