from flask import Flask
from flask_login import login_required

app = Flask(__name__)

# ok: administration-without-check
@app.route("/admin/users")
@login_required
def users():
    return listed()
