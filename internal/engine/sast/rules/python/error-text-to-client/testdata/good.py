import logging

from flask import Flask, jsonify, request

app = Flask(__name__)

@app.route("/order")
def order():
    try:
        return jsonify(find(request.args["id"]))
    except Exception:
        logging.exception("cannot find the order")
        # ok: error-text-to-client
        return jsonify({"error": "internal error"}), 500
