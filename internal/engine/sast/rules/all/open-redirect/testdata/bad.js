const express = require("express");

const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: open-redirect
  res.redirect(v);
});
