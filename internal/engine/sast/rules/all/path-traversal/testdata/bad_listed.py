import os

from flask import Flask, request

app = Flask(__name__)


@app.route("/theme")
def theme():
    name = request.args.get("name")
    if name in os.listdir("themes"):
        return "there"
    # ruleid: path-traversal
    with open(os.path.join("themes", name)) as f:
        return f.read()
