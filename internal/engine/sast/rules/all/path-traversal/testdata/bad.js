const express = require("express");
const fs = require("fs");
const path = require("path");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: path-traversal
  fs.readFile("/data/" + v, () => {});
});

app.get("/asked", (req, res) => {
  const name = path.join("/data", req.query.name);
  fs.stat(name, (err, found) => {
    if (err || !found.isFile()) return res.sendStatus(404);
    // ruleid: path-traversal
    fs.readFile(name, (err, text) => res.json({ text: String(text) }));
  });
});

app.get("/another", (req, res) => {
  const name = path.join("/data", req.query.name);
  // ruleid: path-traversal
  fs.stat(name, (err, found) => {
    const index = path.join(name, "index.json");
    // ruleid: path-traversal
    if (found.isDirectory()) fs.readFile(index, (err, text) => res.json({ text: String(text) }));
  });
});

app.get("/only-asked", (req, res) => {
  const name = path.join("/data", req.query.name);
  // ruleid: path-traversal
  fs.stat(name, (err, found) => {
    fs.readdir(name, (err, names) => res.json({ names: names.length }));
  });
});
