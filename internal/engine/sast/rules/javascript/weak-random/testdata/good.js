const crypto = require("crypto");

// ok: weak-random
const token = crypto.randomBytes(16).toString("hex");
// ok: weak-random
const x = Math.random() * 100;
