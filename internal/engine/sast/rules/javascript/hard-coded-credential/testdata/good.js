const jwt = require("jsonwebtoken");

function issue(user) {
  // ok: hard-coded-credential
  return jwt.sign({ user }, process.env.JWT_KEY);
}
