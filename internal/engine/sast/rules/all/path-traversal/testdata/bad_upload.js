const express = require("express");
const fs = require("fs");

const app = express();

app.post("/one", (req, res) => {
  // ruleid: path-traversal
  fs.renameSync(req.file.path, "uploads/" + req.file.originalname);
  res.end();
});
