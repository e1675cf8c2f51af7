import re

from flask import Flask, request

app = Flask(__name__)
NAME = re.compile(r"^(\w+\s?)*$")


@app.route("/name")
def name():
    # ruleid: regular-expression-denial-of-service
    return str(bool(NAME.match(request.args["name"])))


@app.route("/number")
def number():
    text = request.args["number"]
    # ruleid: regular-expression-denial-of-service-polynomial
    found = re.search(r"\d+\.?\d+%", text)
    # ruleid: regular-expression-denial-of-service-search
    return re.sub(r"\s+$", "", text) if found else ""
