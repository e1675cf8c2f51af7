const express = require("express");
const app = express();

app.use((err, req, res, next) => {
  // ruleid: error-text-to-client
  res.status(500).send(err.stack);
});
