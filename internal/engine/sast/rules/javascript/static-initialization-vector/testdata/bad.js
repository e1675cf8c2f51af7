const crypto = require("crypto");

function seal(key, text) {
  // ruleid: static-initialization-vector
  const c = crypto.createCipheriv("aes-256-cbc", key, "0123456789abcdef");
  return c.update(text, "utf8", "hex") + c.final("hex");
}

function sealAgain(key, text) {
  // ruleid: static-initialization-vector
  const c = crypto.createCipheriv("aes-256-gcm", key, Buffer.alloc(12));
  return c.update(text, "utf8", "hex") + c.final("hex");
}
