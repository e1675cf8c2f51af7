import sqlite3
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    c = sqlite3.connect("x.db").cursor()
    # ruleid: sql-injection
    c.execute("SELECT * FROM t WHERE a = '%s'" % v)
    return "done"
