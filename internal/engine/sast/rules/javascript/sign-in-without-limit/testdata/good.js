const express = require("express");
const limit = require("express-rate-limit");
const router = express.Router();

// ok: sign-in-without-limit
router.post("/login", limit({ windowMs: 60000, max: 5 }), signIn);

module.exports = router;
