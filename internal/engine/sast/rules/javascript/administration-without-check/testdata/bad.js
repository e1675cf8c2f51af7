const express = require("express");
const app = express();

// ruleid: administration-without-check
app.get("/admin/users", (req, res) => {
  res.json(users());
});
