const crypto = require("crypto");

function sum(data) {
  // ruleid: weak-hash-any-purpose
  return crypto.createHash("md5").update(data).digest("hex");
}

function keep(user, password) {
  // ruleid: weak-hash
  user.digest = crypto.createHash("sha1").update(password).digest("hex");
}

function hashPassword(text) {
  // ruleid: weak-hash
  return crypto.createHash("md5").update(text).digest("hex");
}

function signature(text, key) {
  // ruleid: weak-hash-any-purpose
  return crypto.createHmac("sha1", key).update(text).digest("base64");
}
