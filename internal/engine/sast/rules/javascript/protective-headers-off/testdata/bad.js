const express = require("express");
const helmet = require("helmet");

const app = express();
// ruleid: protective-headers-off
app.use(helmet({ frameguard: false }));
