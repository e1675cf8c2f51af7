from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: uncontrolled-format-string
    return v.format(user="x")[:0]
