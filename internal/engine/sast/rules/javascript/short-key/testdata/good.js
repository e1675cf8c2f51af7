const crypto = require("crypto");

// ok: short-key
const pair = crypto.generateKeyPairSync("rsa", { modulusLength: 3072 });
