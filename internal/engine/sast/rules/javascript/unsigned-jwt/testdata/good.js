const jsonwebtoken = require("jsonwebtoken");

function who(token, key) {
  // ok: unsigned-jwt
  return jsonwebtoken.verify(token, key, { algorithms: ["HS256"] });
}
