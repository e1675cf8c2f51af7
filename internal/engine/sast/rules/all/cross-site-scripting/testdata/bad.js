const express = require("express");
const escapeHtml = require("escape-html");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: cross-site-scripting
  res.send("<p>" + v + "</p>");
});
