from flask import Flask

app = Flask(__name__)
# ok: debug-mode
app.run(host="127.0.0.1")
