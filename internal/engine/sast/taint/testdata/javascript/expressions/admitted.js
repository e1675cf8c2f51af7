const express = require('express');
const { exec } = require('child_process');
const app = express();
const word = /^[a-z]+$/i;
const units = { km: 1, mile: 2 };

app.get('/literal', (req, res) => {
  const host = req.query.host;
  if (/^[\w-]+$/.test(host)) exec('ping ' + host);
  else exec('ping ' + host); // want command
});
app.get('/member', (req, res) => word.test(req.query.name) && exec('finger ' + req.query.name));
app.get('/other', (req, res) => word.test(req.query.name) && exec('finger ' + req.query.other)); // want command
app.get('/open', (req, res) => {
  const host = req.query.host;
  if (/[\w-]+/.test(host)) exec('ping ' + host); // want command
});
app.get('/wide', (req, res) => {
  const host = req.query.host;
  if (!/^[^\s]+$/.test(host)) return;
  exec('ping ' + host); // want command
});
app.get('/page', (req, res) => {
  const title = req.query.title;
  if (!title.match(/^[\w ]+$/)) return res.sendStatus(400);
  res.send('<h1>' + title + '</h1>');
  exec('say ' + title); // want command
});
app.get('/listed', (req, res) => {
  const text = req.query.text;
  if (/[<"'`]/.test(text)) return;
  res.send('<p>' + text);
  exec('say ' + text); // want command
});
app.get('/stripped', (req, res) => {
  exec('ping ' + req.query.host.replace(/[^a-z0-9-]/gi, ''));
  exec('ping ' + req.query.host.replace(/[^a-z0-9-]/, '')); // want command
  exec('ping ' + req.query.host.replace(/[;|]/g, '')); // want command
  res.send(req.query.text.replace(/</g, '&lt;'));
});
app.get('/equal', (req, res) => {
  if (req.query.tool === 'ls' || req.query.tool === 'df') exec(req.query.tool);
  if (req.query.tool !== 'ls') exec(req.query.tool); // want command
});
app.get('/typed', (req, res) => {
  const n = req.body.n;
  if (typeof n === 'number') exec('sleep ' + n);
  if (typeof n === 'string') exec('sleep ' + n); // want command
});
app.get('/key', (req, res) => {
  const unit = req.query.unit;
  if (!(unit in units)) return;
  exec('convert ' + unit);
});
app.get('/false', (req, res) => {
  const tool = req.query.tool && 'ls';
  exec(tool);
});
const spelled = new RegExp('^[a-z]+$');
app.get('/kept', (req, res) => {
  const name = req.query.name;
  const found = name.match(/^\w+$/);
  if (!found) return;
  exec('finger ' + name);
  const other = req.query.other;
  if (spelled.exec(other) === null) return;
  exec('finger ' + other);
});
app.get('/position', (req, res) => {
  const tool = req.query.tool;
  const at = ['ls', 'df'].indexOf(tool);
  if (at === -1) return;
  exec(tool);
});
app.get('/changed', (req, res) => {
  let name = req.query.name;
  const fine = word.test(name);
  name = req.query.other;
  if (fine) exec('finger ' + name); // want command
});
