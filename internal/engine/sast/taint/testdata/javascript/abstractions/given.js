const express = require('express');
const { exec } = require('child_process');
const util = require('util');
const app = express();

function give(value, to) { to(value); }
function run(f) { return f(); }
function later(value, done) { done(null, value); }

// A function value that shares variables writes to them wherever it is called.
app.get('/shared', (req, res) => {
  let line;
  give(req.query.line, (v) => { line = v; });
  exec(line); // want command
});
app.get('/part', (req, res) => {
  const job = { user: 'root' };
  give(req.query.line, (v) => { job.line = v; });
  exec(job.user);
  exec(job.line); // want command
});
app.get('/inner', (req, res) => {
  let line = 'ls';
  run(() => { line = req.query.line; });
  exec(line); // want command
});

// A function of the program that returns promises now.
app.get('/promisified', async (req, res) => {
  const lineOf = util.promisify(later);
  exec(await lineOf('ls'));
  exec(await lineOf(req.query.line)); // want command
});
app.get('/all', async (req, res) => {
  const [first, second] = await Promise.all([Promise.resolve(req.query.line), Promise.resolve('ls')]);
  exec(second);
  exec(first); // want command
});
app.get('/settled', async (req, res) => {
  const [one, two] = await Promise.allSettled([Promise.resolve('ls'), Promise.resolve(req.query.line)]);
  exec(one.value);
  exec(two.value); // want command
});

// Accessors of objects.
app.get('/accessors', (req, res) => {
  const job = { get line() { return req.query.line; }, get user() { return 'root'; } };
  exec(job.user);
  exec(job.line); // want command
});
app.get('/set', (req, res) => {
  const job = { kept: 'ls', set line(v) { this.kept = v; } };
  exec(job.kept);
  job.line = req.query.line;
  exec(job.kept); // want command
});
app.get('/defined', (req, res) => {
  const job = {};
  Object.defineProperty(job, 'line', { get() { return req.query.line; } });
  Object.defineProperty(job, 'user', { value: 'root' });
  exec(job.user);
  exec(job.line); // want command
});
app.get('/proxy', (req, res) => {
  const job = new Proxy({ line: req.query.line, user: 'root' }, {});
  exec(job.user);
  exec(job.line); // want command
});

// What is set later replaces what was copied.
app.get('/spread', (req, res) => {
  const job = { ...req.body, line: 'ls' };
  exec(job.line);
  exec(job.other); // want command
  const other = { line: 'ls', ...req.body };
  exec(other.line); // want command
});
app.get('/numbers', (req, res) => {
  exec('sleep ' + +req.query.n);
  exec('sleep ' + (req.query.n | 0));
  exec('sleep ' + req.query.n.length);
  exec('sleep ' + (req.query.n + 0)); // want command
});
app.get('/constant', (req, res) => {
  const word = 'ABC';
  let line;
  switch (word.charAt(1)) {
    case 'A': line = req.query.line; break;
    default: line = 'ls';
  }
  exec(line);
});
