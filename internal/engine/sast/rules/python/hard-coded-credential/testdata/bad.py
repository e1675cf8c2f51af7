from flask import Flask

app = Flask(__name__)
# ruleid: hard-coded-credential
app.config["SECRET_KEY"] = "x91-kkq-77"
# ruleid: hard-coded-credential
DB_PASSWORD = "n0t-a-g00d-idea"
