import defusedxml.ElementTree
import lxml.etree
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    defusedxml.ElementTree.fromstring(v)
    return "done"
