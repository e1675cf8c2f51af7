import os

from flask import Flask

app = Flask(__name__)
# ok: hard-coded-credential
app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
# ok: hard-coded-credential
PASSWORD = ""

FIELDS = {"password": "required", "api_key": "string", "token": "12345"}
LABELS = {"password": "Your password"}
field = form(password="password", name="x")

def check(password, kind):
    return password == "" or kind == "password" or password != "required"

roles = [("admin", "Administrator2")]
users = [("admin", "Administrator"), ("guest", "Guest")]
SUMS = {"password": "65079b006e85a7e798abecb99e47c154"}
