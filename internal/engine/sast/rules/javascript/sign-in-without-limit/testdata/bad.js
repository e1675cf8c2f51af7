const express = require("express");
const router = express.Router();

// ruleid: sign-in-without-limit
router.post("/login", signIn);

module.exports = router;
