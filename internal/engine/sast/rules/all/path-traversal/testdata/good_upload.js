const express = require("express");
const fs = require("fs");

const app = express();

app.post("/one", (req, res) => {
  fs.unlinkSync(req.file.path); // a name that the server made
  res.end();
});

app.post("/many", (req, res) => {
  fs.readFileSync(req.files[0].path);
  res.end();
});
