const express = require("express");
const fs = require("fs");
const path = require("path");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  fs.readFile("/data/" + path.basename(v), () => {});
});
