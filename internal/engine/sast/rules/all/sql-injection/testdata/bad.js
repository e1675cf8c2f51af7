const express = require("express");
const db = require("mysql").createConnection({});
const app = express();

app.get("/v", (req, res) => {
  const v = req.query.v;
  // ruleid: sql-injection
  db.query("SELECT * FROM t WHERE a = '" + v + "'", () => {});
});
