const express = require("express");
const cp = require("child_process");
const app = express();

// A handler has others before the request: options that were bound.
function answer(folder, req, res) {
  cp.exec("log " + req.query.id); // want command
  res.send("<b>" + req.query.id); // want html
  cp.execFile("ls", [folder]);
}

app.use(answer.bind(null, "/srv"));
