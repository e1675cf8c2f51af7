const express = require('express');
const { exec } = require('child_process');
const app = express();

app.get('/later', (req, res) => {
  setTimeout(() => { exec(req.query.a); }, 1); // want command
});
app.get('/through', (req, res) => {
  let y = '';
  function set(v) { y = v; }
  function mid(v) { set(v); }
  mid(req.query.a);
  exec(y); // want command
});
app.get('/members', (req, res) => {
  const q = req.query.a;
  class A { constructor() { this.d = q; } get() { return this.d; } }
  class B extends A { constructor() { super(); } run() { exec(this.get()); } } // want command
  new B().run();
});
app.get('/promise', (req, res) => {
  new Promise((resolve) => { resolve(req.query.a); }).then((r) => {
    exec(r); // want command
  });
});
app.get('/each', (req, res) => {
  [req.query.a].forEach((c) => { exec(c); }); // want command
});
app.get('/applied', (req, res) => {
  const wrap = (f) => function (...args) { return f.apply(this, args); };
  wrap((c) => { exec(c); })(req.query.a); // want command
});
