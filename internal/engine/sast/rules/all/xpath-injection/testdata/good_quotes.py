import lxml.etree
from flask import Flask, request

app = Flask(__name__)


@app.route("/find")
def find():
    name = request.args.get("name", "").replace("'", "&apos;")
    tree = lxml.etree.parse("staff.xml")
    return str(len(tree.xpath(f"/staff/person[@name='{name}']")))
