const jsonwebtoken = require("jsonwebtoken");

function who(token) {
  // ruleid: unsigned-jwt
  return jsonwebtoken.verify(token, "", { algorithms: ["none"] });
}
