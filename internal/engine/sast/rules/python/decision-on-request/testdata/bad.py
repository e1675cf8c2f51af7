from flask import request

def remove(number):
    # ruleid: decision-on-request
    if request.cookies.get("admin") == "1":
        drop(number)
