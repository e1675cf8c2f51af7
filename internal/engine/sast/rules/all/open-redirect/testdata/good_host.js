const express = require("express");

const app = express();
const hosts = ["example.org", "example.net"];

app.get("/go", (req, res) => {
  const to = req.query.to;
  const address = new URL(to);
  if (!hosts.includes(address.hostname)) {
    return res.status(400).end();
  }
  res.redirect(to);
});
