import os
import shlex
import subprocess
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: command-injection
    os.system("ls " + v)
    return "done"
