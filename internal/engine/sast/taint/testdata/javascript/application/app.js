const express = require('express');
const { exec } = require('child_process');
const app = express();
app.get('/', (req, res) => {
  exec('ls ' + req.query.a); // want command
  res.json([req.query.b, req.query.c, req.body.d, req.params.e]);
});
module.exports.helper = function (name) {
  exec('du ' + name);
};
module.exports.handle = function (req, res) {
  exec('df ' + req.body.disk); // want command
};
