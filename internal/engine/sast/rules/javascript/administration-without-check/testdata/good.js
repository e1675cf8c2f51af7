const express = require("express");
const app = express();

// ok: administration-without-check
app.get("/admin/users", administratorsOnly, (req, res) => {
  res.json(users());
});
