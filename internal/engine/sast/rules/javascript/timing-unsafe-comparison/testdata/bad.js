const crypto = require("crypto");

function genuine(key, text, signature) {
  const mac = crypto.createHmac("sha256", key).update(text).digest("hex");
  // ruleid: timing-unsafe-comparison
  return mac === signature;
}
