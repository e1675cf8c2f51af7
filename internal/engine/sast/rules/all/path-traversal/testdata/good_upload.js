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

function read(file, done) {
  fs.readFile(file.path, done);
}

app.post("/first", upload.any(), (req, res) => {
  read(req.files[0], (err, text) => res.json({ size: text.length }));
});
