from flask import make_response

def login(token):
    response = make_response("hello")
    # ruleid: cookie-without-secure
    response.set_cookie("token", token)
    return response
