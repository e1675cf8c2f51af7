import requests
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    return requests.get("https://api.example/items/" + v).text[:0]

import pycurl

@app.route("/send")
def send():
    c = pycurl.Curl()
    c.setopt(pycurl.URL, "https://example.org/")
    # ok: server-side-request-forgery
    c.setopt(pycurl.POSTFIELDS, request.args["data"])
