const express = require("express");
const axios = require("axios");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: server-side-request-forgery
  axios.get(v);
});
