const crypto = require("crypto");

function box(key, nonce) {
  // ok: weak-cipher
  return crypto.createCipheriv("aes-256-gcm", key, nonce);
}
