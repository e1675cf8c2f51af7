from flask import Flask

app = Flask(__name__)
# ruleid: hard-coded-credential
app.config["SECRET_KEY"] = "x91-kkq-77"
# ruleid: hard-coded-credential
DB_PASSWORD = "n0t-a-g00d-idea"

# ruleid: hard-coded-credential
STORE = {"name": "db", "password": "s3cr3t-7"}
# ruleid: hard-coded-credential
client = connect("db", password="s3cr3t-7")

def login(password, form):
    # ruleid: hard-coded-credential
    if password == "letmein":
        return True
    # ruleid: hard-coded-credential
    return form["password"] == "open-sesame"

default_users = [
    # ruleid: hard-coded-credential
    ("admin", "Winter2024"),
]
