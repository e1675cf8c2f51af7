const libxmljs = require("libxmljs");

function read(text) {
  // ruleid: xml-parser-resolves-entities
  return libxmljs.parseXml(text, { noent: true });
}
