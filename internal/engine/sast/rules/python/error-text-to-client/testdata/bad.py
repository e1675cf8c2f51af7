from flask import Flask, jsonify, request

app = Flask(__name__)

@app.route("/order")
def order():
    try:
        return jsonify(find(request.args["id"]))
    except Exception as e:
        # ruleid: error-text-to-client
        return jsonify({"error": str(e)}), 500
