const express = require("express");
const app = express();

const NAME = /^(?:\.?[a-z_][a-z_0-9]*)+$/;
const forms = { number: /^[1-9]+[0-9]*$/, word: /^\w+$/ };
const blanks = new RegExp("^(\\s*,?)*;", "i");

app.get("/name", (req, res) => {
  // ruleid: regular-expression-denial-of-service
  res.json(NAME.test(req.query.name));
});

app.get("/number", (req, res) => {
  const text = req.query.number;
  // ruleid: regular-expression-denial-of-service-polynomial
  if (forms.number.exec(text)) res.json(1);
  // ruleid: regular-expression-denial-of-service
  if (blanks.test(text)) res.json(2);
  // ruleid: regular-expression-denial-of-service-search
  res.json(text.replace(/\s+$/, ""));
});
