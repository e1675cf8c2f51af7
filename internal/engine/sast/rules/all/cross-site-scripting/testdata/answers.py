import bottle
from flask import Flask, Response, request

app = Flask(__name__)


@app.route("/pair")
def pair():
    # ruleid: cross-site-scripting
    return "<p>" + request.args["v"], 404


@app.route("/json")
def json():
    # ok: cross-site-scripting
    return {"v": request.args["v"]}


@app.errorhandler(404)
def missing(error):
    # ruleid: cross-site-scripting
    return "<p>no " + request.path, 404


@app.route("/typed")
def typed():
    if request.args.get("plain"):
        # ok: cross-site-scripting
        return Response(request.args["v"], mimetype="text/plain")
    # ruleid: cross-site-scripting
    return Response("<p>" + request.args["v"], mimetype="text/html")


@bottle.route("/shelf/<name>")
def shelf(name):
    # ruleid: cross-site-scripting
    return "<p>" + name
