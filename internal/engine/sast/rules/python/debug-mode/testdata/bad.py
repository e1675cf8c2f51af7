from flask import Flask

app = Flask(__name__)
# ruleid: debug-mode
app.run(host="0.0.0.0", debug=True)
