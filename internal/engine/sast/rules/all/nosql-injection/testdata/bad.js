const express = require("express");
const mongoose = require("mongoose");
const User = mongoose.model("User", {});
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: nosql-injection
  User.findOne({ name: v });
});
