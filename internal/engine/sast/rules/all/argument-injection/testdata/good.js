const express = require("express");
const cp = require("child_process");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  cp.execFile("git", ["status"]);
});
