import xml.dom.minidom
import xml.sax
import xml.sax.handler

from flask import Flask, request

app = Flask(__name__)


@app.route("/load", methods=["POST"])
def load():
    parser = xml.sax.make_parser()
    parser.setFeature(xml.sax.handler.feature_external_ges, True)
    # ruleid: xml-external-entities
    doc = xml.dom.minidom.parseString(request.data, parser)
    return str(len(doc.childNodes))
