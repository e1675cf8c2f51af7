const express = require("express");
const errorhandler = require("errorhandler");

const app = express();
// ruleid: debug-mode
app.use(errorhandler());
