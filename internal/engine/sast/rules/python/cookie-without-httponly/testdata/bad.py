from flask import Flask, make_response

app = Flask(__name__)
# ruleid: cookie-without-httponly
app.config["SESSION_COOKIE_HTTPONLY"] = False

def page(token):
    answer = make_response("hello")
    # ruleid: cookie-without-httponly
    answer.set_cookie("session", token, secure=True, httponly=False)
    return answer
