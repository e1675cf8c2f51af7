from flask import render_template_string
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    return render_template_string("Hello {{ v }}", v=v)
