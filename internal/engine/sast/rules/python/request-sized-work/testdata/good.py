import time

from flask import Flask, request

app = Flask(__name__)

@app.route("/wait")
def wait():
    seconds = int(request.args["seconds"])
    if seconds > 5:
        return "too long", 400
    # ok: request-sized-work
    time.sleep(seconds)
    return "done"

@app.route("/line")
def line():
    # ok: request-sized-work
    return {"line": "-" * min(int(request.args.get("width", 10)), 80)}
