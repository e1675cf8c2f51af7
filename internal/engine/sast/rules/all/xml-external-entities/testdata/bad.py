import defusedxml.ElementTree
import lxml.etree
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: xml-external-entities
    lxml.etree.fromstring(v)
    return "done"
