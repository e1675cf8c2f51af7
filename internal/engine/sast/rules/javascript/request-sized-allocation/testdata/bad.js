const express = require("express");
const app = express();

app.get("/noise", (req, res) => {
  // ruleid: request-sized-allocation
  res.json(Buffer.alloc(Number(req.query.size)));
});

app.get("/line", (req, res) => {
  const width = parseInt(req.query.width, 10);
  // ruleid: request-sized-allocation
  res.json({ line: "-".repeat(width) });
});
