from flask import Flask, make_response, request

app = Flask(__name__)


@app.route("/")
def view():
    return make_response(("fine", {"X-Name": request.args.get("name")}))
