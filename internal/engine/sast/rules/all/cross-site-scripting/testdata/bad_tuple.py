from flask import Flask, make_response, request

app = Flask(__name__)


@app.route("/")
def view():
    # ruleid: cross-site-scripting
    answer = make_response((request.args.get("name"), {"X-Name": "me"}))
    return answer
