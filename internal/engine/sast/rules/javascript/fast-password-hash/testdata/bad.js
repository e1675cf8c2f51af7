const crypto = require("crypto");
const bcrypt = require("bcrypt");

function stored(password) {
  // ruleid: fast-password-hash
  return crypto.createHash("sha256").update(password).digest("hex");
}

function quick(user) {
  // ruleid: fast-password-hash
  return bcrypt.hashSync(user.password, 4);
}

function few(password, salt) {
  // ruleid: fast-password-hash
  return crypto.pbkdf2Sync(password, salt, 1000, 32, "sha256");
}
