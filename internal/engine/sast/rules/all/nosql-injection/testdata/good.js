const express = require("express");
const mongoose = require("mongoose");
const User = mongoose.model("User", {});
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  User.findOne({ name: String(v) });
});

app.get("/users/:id", async (req, res) => {
  const user = await User.findOne({ id: req.params.id });
  const pattern = new RegExp("^" + req.body.name);
  res.json([user, await User.findOne({ name: pattern })]);
});
