const express = require("express");
const http = require("http");

const app = express();

app.get("/text", (req, res) => {
  res.type("text/plain").send(req.query.q);
});

app.get("/json", (req, res) => {
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.end(req.query.q);
});

app.get("/file", (req, res) => {
  res.attachment("notes.md");
  res.send(req.query.q);
});

http.createServer((req, res) => {
  res.writeHead(200, { "Content-Type": "text/plain" });
  res.end(req.url);
});

app.get("/answer", (req, res) => {
  const answer = { status: "ok", asked: req.query.q };
  res.send(answer);
});

app.get("/answers", (req, res) => {
  res.status(400).send([req.query.q]);
});
