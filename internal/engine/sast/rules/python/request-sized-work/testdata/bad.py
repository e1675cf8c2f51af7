import time

from flask import Flask, request

app = Flask(__name__)

@app.route("/wait")
def wait():
    seconds = int(request.args["seconds"])
    # ruleid: request-sized-work
    time.sleep(seconds)
    return "done"

@app.route("/line")
def line():
    # ruleid: request-sized-work
    return {"line": "-" * int(request.args.get("width", 10))}
