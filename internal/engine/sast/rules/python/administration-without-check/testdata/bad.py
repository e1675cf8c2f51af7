from flask import Flask

app = Flask(__name__)

# ruleid: administration-without-check
@app.route("/admin/users")
def users():
    return listed()
