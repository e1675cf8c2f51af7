const express = require("express");
const app = express();

// ruleid: whole-folder-served
app.use(express.static(__dirname));
