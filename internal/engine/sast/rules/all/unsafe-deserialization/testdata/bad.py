import base64
import json
import pickle
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    # ruleid: unsafe-deserialization
    pickle.loads(base64.b64decode(v))
    return "done"
