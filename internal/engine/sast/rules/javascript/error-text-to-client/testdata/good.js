const express = require("express");
const app = express();

app.use((err, req, res, next) => {
  console.error(err.stack);
  // ok: error-text-to-client
  res.status(500).send("internal error");
});
