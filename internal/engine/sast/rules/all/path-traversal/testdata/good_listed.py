import os

from flask import Flask, request

app = Flask(__name__)


@app.route("/theme")
def theme():
    name = request.args.get("name")
    if name not in os.listdir("themes"):
        return "no"
    with open(os.path.join("themes", name, "theme.css")) as f:
        return f.read()


@app.route("/plugin")
def plugin():
    name = request.args.get("name")
    known = [n for n in os.listdir("plugins") if os.path.isfile(os.path.join("plugins", n, "a.html"))]
    if name in known:
        with open(os.path.join("plugins", name, "a.html")) as f:
            return f.read()
    return "no"
