const express = require("express");
const app = express();

const NAME = /^[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*$/;
const SLOW = /^(a+)+$/;

app.get("/name", (req, res) => {
  const name = req.query.name;
  // ok: regular-expression-denial-of-service
  if (!NAME.test(name)) return res.end();
  // ok: regular-expression-denial-of-service
  const fixed = SLOW.test("aaab");
  // ok: regular-expression-denial-of-service-polynomial
  const parts = name.split(",");
  // ok: regular-expression-denial-of-service-polynomial
  res.json({ fixed, parts, trimmed: name.replace(/^\s+/, "") });
});

// ok: regular-expression-denial-of-service-library
exports.trim = (text) => text.replace(/\s+$/, "");
// ok: regular-expression-denial-of-service-library
exports.list = (text) => text.split(/\s*,/);
