const crypto = require("crypto");

function sum(data) {
  // ok: weak-hash
  return crypto.createHash("sha256").update(data).digest("hex");
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

function accept(key) {
  // ok: weak-hash-any-purpose
  return crypto.createHash("sha1").update(key + GUID).digest("base64");
}
