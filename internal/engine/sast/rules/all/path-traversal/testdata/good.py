from werkzeug.utils import secure_filename
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    open("/data/" + secure_filename(v))
    return "done"
