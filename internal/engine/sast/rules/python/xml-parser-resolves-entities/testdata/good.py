from lxml import etree

def parser():
    # ok: xml-parser-resolves-entities
    return etree.XMLParser(resolve_entities=False)
