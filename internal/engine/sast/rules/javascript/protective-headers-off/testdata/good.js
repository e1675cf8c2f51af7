const express = require("express");
const helmet = require("helmet");

const app = express();
// ok: protective-headers-off
app.use(helmet({ frameguard: { action: "sameorigin" } }));
