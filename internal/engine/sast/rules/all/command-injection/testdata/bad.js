const express = require("express");
const cp = require("child_process");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: command-injection
  cp.exec("ls " + v);
});

app.get("/host", (req, res) => {
  const address = require("url").parse(req.query.address);
  address.headers = {};
  // ruleid: command-injection
  cp.exec("ping " + address.hostname);
});
