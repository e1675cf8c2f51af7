import xml.dom.minidom
import xml.sax
import xml.sax.handler

from flask import Flask, request

app = Flask(__name__)


@app.route("/load", methods=["POST"])
def load():
    parser = xml.sax.make_parser()
    doc = xml.dom.minidom.parseString(request.data, parser)
    trusted = xml.sax.make_parser()
    trusted.setFeature(xml.sax.handler.feature_external_ges, True)
    own = xml.dom.minidom.parseString("<a/>", trusted)
    return str(len(doc.childNodes) + len(own.childNodes))
