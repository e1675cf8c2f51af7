const _ = require("lodash");
const express = require("express");
const app = express();

app.post("/settings", (req, res) => {
  _.merge({}, { color: String(req.body.color) });
});

app.post("/values", (req, res) => {
  const store = {};
  const { group, name, value } = req.body;
  if (group === "__proto__" || group === "constructor") return;
  store[group][name] = value;
});

app.post("/bare", (req, res) => {
  const store = Object.create(null);
  store[req.body.group][req.body.name] = req.body.value;
});

app.post("/counters", (req, res) => {
  const store = {};
  store[req.body.group].seen = 1;
});
