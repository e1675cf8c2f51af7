const crypto = require("crypto");

function opened(start, text) {
  const key = Buffer.from(process.env.BOX_KEY, "hex");
  // ok: hard-coded-key
  return crypto.createDecipheriv("aes-128-cbc", key, start).update(text);
}
