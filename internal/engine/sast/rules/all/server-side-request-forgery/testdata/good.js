const express = require("express");
const axios = require("axios");
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  axios.get("https://api.example/items/" + v);
});
