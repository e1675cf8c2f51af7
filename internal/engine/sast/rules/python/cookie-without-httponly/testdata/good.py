from flask import Flask, make_response

app = Flask(__name__)
# ok: cookie-without-httponly
app.config["SESSION_COOKIE_HTTPONLY"] = True

def page(token):
    answer = make_response("hello")
    # ok: cookie-without-httponly
    answer.set_cookie("session", token, secure=True, httponly=True)
    return answer
