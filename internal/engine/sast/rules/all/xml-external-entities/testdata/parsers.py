from flask import request
from lxml import etree


def safe():
    # ok: xml-external-entities
    return etree.fromstring(request.data, parser=etree.XMLParser(resolve_entities=False))


def unsafe():
    # ruleid: xml-external-entities
    return etree.fromstring(request.data, parser=etree.XMLParser(load_dtd=True))
