const jwt = require("jsonwebtoken");

function issue(user) {
  // ruleid: hard-coded-credential
  return jwt.sign({ user }, "k1-not-secret");
}
