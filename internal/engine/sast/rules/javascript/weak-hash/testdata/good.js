const crypto = require("crypto");

function sum(data) {
  // ok: weak-hash
  return crypto.createHash("sha256").update(data).digest("hex");
}
