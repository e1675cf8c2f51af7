const crypto = require("crypto");

function sum(data) {
  // ruleid: weak-hash
  return crypto.createHash("md5").update(data).digest("hex");
}
