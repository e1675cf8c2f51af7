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


def relative(to):
    if urlparse(to).netloc:
        return False
    return True


@app.route("/own")
def own():
    to = request.args.get("to")
    address = urlparse(to)
    if address.netloc:
        return "no"
    return redirect(to)


@app.route("/asked")
def asked():
    to = request.args.get("to")
    if to and relative(to):
        return redirect(to)
    return "no"
