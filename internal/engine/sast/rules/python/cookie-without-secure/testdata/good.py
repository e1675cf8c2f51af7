from flask import make_response

def login(token):
    response = make_response("hello")
    # ok: cookie-without-secure
    response.set_cookie("token", token, secure=True, httponly=True)
    return response
