const crypto = require("crypto");

function box(key, iv) {
  // ruleid: weak-cipher
  return crypto.createCipheriv("des-cbc", key, iv);
}
