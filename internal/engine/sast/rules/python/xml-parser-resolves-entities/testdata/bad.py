from lxml import etree

def parser():
    # ruleid: xml-parser-resolves-entities
    return etree.XMLParser(resolve_entities=True)
