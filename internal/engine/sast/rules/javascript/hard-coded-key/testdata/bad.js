const crypto = require("crypto");

function opened(start, text) {
  // ruleid: hard-coded-key
  return crypto.createDecipheriv("aes-128-cbc", "sixteen byte key", start).update(text);
}

const KEY = "another key, 16b";

function sealed(start, text) {
  // ruleid: hard-coded-key
  return crypto.createCipheriv("aes-128-cbc", KEY, start).update(text);
}
