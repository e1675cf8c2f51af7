from flask import session

def remove(number):
    # ok: decision-on-request
    if session.get("role") == "admin":
        drop(number)
