const _ = require("lodash");
const express = require("express");
const app = express();

app.post("/settings", (req, res) => {
  _.merge({}, { color: String(req.body.color) });
});
