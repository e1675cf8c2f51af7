from urllib.parse import urlparse

from flask import Flask, redirect, request

app = Flask(__name__)


@app.route("/go")
def go():
    to = request.args.get("to") or "/"
    try:
        address = urlparse(to)
        if address.netloc not in ["example.org", "example.net"] or address.scheme != "https":
            return "no"
    except ValueError:
        return "no"
    return redirect(to)


@app.route("/one")
def one():
    to = request.args.get("to")
    if urlparse(to).hostname == "example.org":
        return redirect(to)
    return "no"
