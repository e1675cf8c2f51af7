const crypto = require("crypto");

// ruleid: short-key
const pair = crypto.generateKeyPairSync("rsa", { modulusLength: 1024 });
