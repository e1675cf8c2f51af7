const express = require("express");
const app = express();

app.use(express.json());

app.post("/sign", (req, res) => {
  // ruleid: uninitialized-buffer
  res.json({ encoded: new Buffer(req.body.name).toString("base64") });
});

app.post("/tags", (req, res) => {
  req.body.tags.forEach((tag) => {
    // ruleid: uninitialized-buffer
    const b = Buffer(tag);
    res.write(b.toString("hex"));
  });
  res.end();
});
