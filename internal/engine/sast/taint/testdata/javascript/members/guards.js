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
const db = require('./db');
app.get('/own', (req, res) => res.redirect(`${db.prefix}/users/${req.params.id}`));
app.get('/host', (req, res) => res.redirect(`${db.scheme}://${req.params.id}`)); // want redirect
app.get('/row', (req, res) => {
  const row = db.cell('SELECT tool FROM tools WHERE name = ?', [req.query.name]);
  exec(row);
  exec(db.cell('tool of', [req.query.name])); // want command
});
app.get('/named', (req, res) => {
  if (!tools.includes(req.get('x-tool'))) return;
  exec(req.get('x-tool'));
  exec(req.get('x-other')); // want command
});
