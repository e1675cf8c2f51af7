const express = require("express");
const fs = require("fs");

const app = express();

app.post("/one", (req, res) => {
  // ruleid: path-traversal
  fs.renameSync(req.file.path, "uploads/" + req.file.originalname);
  res.end();
});

function keep(file, done) {
  // ruleid: path-traversal
  fs.rename(file.path, "/srv/files/" + file.originalname, done);
}

app.post("/keep", upload.any(), (req, res) => {
  keep(req.files[0], () => {});
  res.end();
});
