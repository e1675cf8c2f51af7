from flask import make_response
from markupsafe import escape
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: cross-site-scripting
    return make_response("<p>" + v + "</p>")
