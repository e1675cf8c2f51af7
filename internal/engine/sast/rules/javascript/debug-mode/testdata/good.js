const express = require("express");
const errorhandler = require("errorhandler");

const app = express();
if (process.env.NODE_ENV === "development") {
  // ok: debug-mode
  app.use(errorhandler());
}
