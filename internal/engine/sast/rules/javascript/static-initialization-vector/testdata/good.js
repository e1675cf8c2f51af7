const crypto = require("crypto");

function seal(key, text) {
  const start = crypto.randomBytes(16);
  // ok: static-initialization-vector
  const c = crypto.createCipheriv("aes-256-cbc", key, start);
  return start.toString("hex") + c.update(text, "utf8", "hex") + c.final("hex");
}
