import requests
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: server-side-request-forgery
    return requests.get(v).text[:0]

import pycurl

@app.route("/curl")
def curl():
    c = pycurl.Curl()
    # ruleid: server-side-request-forgery
    c.setopt(pycurl.URL, request.args["url"])
