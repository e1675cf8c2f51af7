import os
import shlex
import subprocess
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    subprocess.run(["ls", "--", "/tmp"])
    os.system("ls " + shlex.quote(v))
    return "done"
