const crypto = require("crypto");

function genuine(key, text, signature) {
  const mac = crypto.createHmac("sha256", key).update(text).digest();
  // ok: timing-unsafe-comparison
  return signature.length === mac.length && crypto.timingSafeEqual(mac, signature);
}
