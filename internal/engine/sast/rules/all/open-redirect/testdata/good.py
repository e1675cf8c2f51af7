from flask import redirect, url_for
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    return redirect(url_for("view", page=v))

from flask import request as current

@app.route("/again")
def again():
    # ok: open-redirect
    return redirect(current.full_path)
