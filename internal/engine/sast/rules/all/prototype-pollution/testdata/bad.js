const _ = require("lodash");
const express = require("express");
const app = express();

app.post("/settings", (req, res) => {
  // ruleid: prototype-pollution
  _.merge({}, req.body);
});
