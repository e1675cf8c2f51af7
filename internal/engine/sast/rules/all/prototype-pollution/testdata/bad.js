const _ = require("lodash");
const express = require("express");
const app = express();

app.post("/settings", (req, res) => {
  // ruleid: prototype-pollution
  _.merge({}, req.body);
});

app.post("/values", (req, res) => {
  const store = {};
  // ruleid: prototype-pollution
  store[req.body.group][req.body.name] = req.body.value;
});

app.post("/assign", (req, res) => {
  const store = {};
  const group = store[req.body.group];
  // ruleid: prototype-pollution
  Object.assign(group, req.body.values);
});
