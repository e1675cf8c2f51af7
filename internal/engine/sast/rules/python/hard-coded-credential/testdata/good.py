import os

from flask import Flask

app = Flask(__name__)
# ok: hard-coded-credential
app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
# ok: hard-coded-credential
PASSWORD = ""
