const bcrypt = require("bcrypt");
const crypto = require("crypto");

function stored(password) {
  // ok: fast-password-hash
  return bcrypt.hash(password, 12);
}

async function long(password) {
  // ok: fast-password-hash
  password = crypto.createHash("sha512").update(password).digest("hex");
  return await bcrypt.hash(password, 12);
}

function sum(file) {
  // ok: fast-password-hash
  return crypto.createHash("sha256").update(file).digest("hex");
}
