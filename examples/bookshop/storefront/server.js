// The storefront: pages of the bookshop, and covers of books as images.
const express = require('express');
const { exec, execFile } = require('child_process');

const app = express();

app.get('/cover', (req, res) => {
  // Vulnerable: a shell reads the command, and the size is part of it.
  exec('convert cover.png -resize ' + req.query.size + ' png:-', { encoding: 'buffer' }, (err, image) => {
    res.type('png').send(image);
  });
});

app.get('/thumbnail', (req, res) => {
  // Sound: no shell, and the size is a number between 16 and 512.
  const size = Math.min(512, Math.max(16, Number.parseInt(req.query.size, 10) || 128));
  execFile('convert', ['cover.png', '-resize', String(size), 'png:-'], { encoding: 'buffer' }, (err, image) => {
    res.type('png').send(image);
  });
});

app.listen(3000);
