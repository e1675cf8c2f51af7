const express = require("express");
const path = require("path");
const app = express();

// ok: whole-folder-served
app.use(express.static(path.join(__dirname, "public")));
