const libxmljs = require("libxmljs");

function read(text) {
  // ok: xml-parser-resolves-entities
  return libxmljs.parseXml(text, { nonet: true });
}
