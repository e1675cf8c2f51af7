const express = require('express');
const { exec } = require('child_process');
const app = express();
const tools = ['ls', 'df'];
app.get('/guarded', (req, res) => {
  if (!tools.includes(req.query.tool)) return res.sendStatus(400);
  exec(req.query.tool);
  exec(req.query.other); // want command
});
app.get('/written', (req, res) => {
  if (!tools.includes(req.query.tool)) return;
  req.query.tool = req.body.tool;
  exec(req.query.tool); // want command
});
app.get('/another', (req, res) => {
  let q = req.query;
  if (!tools.includes(q.tool)) return;
  exec(q.tool);
  q = req.body;
  exec(q.tool); // want command
});
app.get('/one-way', (req, res) => {
  if (req.query.check) {
    if (!tools.includes(req.query.tool)) return;
  }
  exec(req.query.tool); // want command
});
app.get('/index', (req, res) => {
  if (!tools.includes(req.query['tool'])) return;
  exec(req.query.tool);
});
