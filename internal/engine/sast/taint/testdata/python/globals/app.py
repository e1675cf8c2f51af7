import os
from flask import Flask, request
from store import db
app = Flask(__name__)
TOOLS = {"ls", "df"}
NAMES = frozenset(["ls", "df"])
TABLE = {"ls": 1, "df": 2}
SEEN = []
OPEN = {"ls", os.environ["TOOL"]}

@app.route("/set")
def of_set():
    tool = request.args.get("tool")
    if tool not in TOOLS:
        return ""
    os.system(tool)

@app.route("/copy")
def of_copy():
    tool = request.args.get("tool")
    if tool in NAMES:
        os.system(tool)
    os.system(tool)  # want command

@app.route("/keys")
def of_keys():
    tool = request.args.get("tool")
    if tool in TABLE:
        os.system(tool)

@app.route("/seen")
def of_seen():
    tool = request.args.get("tool")
    if tool in SEEN:
        os.system(tool)  # want command

@app.route("/open")
def of_open():
    tool = request.args.get("tool")
    if tool in OPEN:
        os.system(tool)  # want command

@app.route("/add")
def add():
    db.session.add(request.get_json())
    return ""

@app.route("/run")
def run():
    os.system(db.session.current())
    mine = []
    mine.append(request.args["x"])
    os.system(mine[0])  # want command

@app.route("/twice")
def twice():
    if request.args.get("tool") not in TOOLS:
        return ""
    os.system(request.args.get("tool"))
    os.system(request.args.get("other"))  # want command
