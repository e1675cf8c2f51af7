from urllib.parse import urlparse

from flask import Flask, redirect, request

app = Flask(__name__)


@app.route("/go")
def go():
    to = request.args.get("to")
    if urlparse(to).netloc not in ["example.org"]:
        # ruleid: open-redirect
        return redirect(to)
    other = request.args.get("other")
    # ruleid: open-redirect
    return redirect(other)


@app.route("/scheme")
def scheme():
    to = request.args.get("to")
    if urlparse(to).scheme == "https":
        # ruleid: open-redirect
        return redirect(to)
    return "no"
