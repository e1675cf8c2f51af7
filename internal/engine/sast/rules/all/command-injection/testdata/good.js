const express = require("express");
const cp = require("child_process");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  cp.execFile("ls", ["--", "/tmp"]);
});

// What an address is given is not given to the text that it was parsed from.
const settings = { home: process.cwd() };

function parsed(text, headers) {
  const address = require("url").parse(text);
  address.headers = headers;
  return address;
}

app.get("/home", (req, res) => {
  parsed(settings.home, req.headers);
  cp.exec("ls " + settings.home);
});
