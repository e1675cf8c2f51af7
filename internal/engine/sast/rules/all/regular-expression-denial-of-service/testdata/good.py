import re

from flask import Flask, request

app = Flask(__name__)
NAME = re.compile(r"^\w+(\s\w+)*$")


@app.route("/name")
def name():
    text = request.args["name"]
    # ok: regular-expression-denial-of-service
    if not NAME.match(text):
        return ""
    # ok: regular-expression-denial-of-service-polynomial
    return str(bool(re.match(r"\s+$", text)))
