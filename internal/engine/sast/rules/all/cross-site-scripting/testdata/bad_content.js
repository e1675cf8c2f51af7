const express = require("express");

const app = express();

app.get("/page", (req, res) => {
  res.type("html");
  // ruleid: cross-site-scripting
  res.send("<p>" + req.query.q);
});
