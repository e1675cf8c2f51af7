const jsonwebtoken = require("jsonwebtoken");

function who(key) {
  return (req, res, next) => {
    // ok: unverified-jwt
    req.user = jsonwebtoken.verify(req.headers.authorization.slice(7), key, { algorithms: ["HS256"] });
    next();
  };
}
