const express = require("express");
const escapeHtml = require("escape-html");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  res.send("<p>" + escapeHtml(v) + "</p>");
});
