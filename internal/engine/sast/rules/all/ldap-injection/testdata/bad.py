import ldap3
from ldap3.utils.conv import escape_filter_chars
from flask import Flask, request

app = Flask(__name__)


@app.route("/v")
def view():
    v = request.args.get("v")
    c = ldap3.Connection("ldap.example")
    # ruleid: ldap-injection
    c.search("dc=example", "(uid=" + v + ")")
    return "done"
