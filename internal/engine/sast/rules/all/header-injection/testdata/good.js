const express = require("express");

const app = express();

app.get("/", (req, res) => {
  res.setHeader("X-Name", req.query.name); // throws at a line break
  res.set("X-Other", req.query.name);
  res.end();
});
