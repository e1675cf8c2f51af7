import subprocess
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    subprocess.run(["git", "status"])
    return "done"
