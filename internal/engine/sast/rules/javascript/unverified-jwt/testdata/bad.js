const jsonwebtoken = require("jsonwebtoken");

function who(req, res, next) {
  // ruleid: unverified-jwt
  req.user = jsonwebtoken.decode(req.headers.authorization.slice(7));
  next();
}
