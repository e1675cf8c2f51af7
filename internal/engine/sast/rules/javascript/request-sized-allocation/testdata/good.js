const express = require("express");
const app = express();

app.get("/noise", (req, res) => {
  const size = Number(req.query.size);
  if (!(size > 0 && size <= 4096)) {
    return res.sendStatus(400);
  }
  // ok: request-sized-allocation
  res.json(Buffer.alloc(size));
});

app.get("/line", (req, res) => {
  // ok: request-sized-allocation
  res.json({ line: "-".repeat(Math.min(Number(req.query.width), 80)) });
});
