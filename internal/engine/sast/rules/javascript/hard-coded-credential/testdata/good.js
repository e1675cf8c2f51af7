const jwt = require("jsonwebtoken");

function issue(user) {
  // ok: hard-coded-credential
  return jwt.sign({ user }, process.env.JWT_KEY);
}

const labels = { password: 'Password', apiKey: 'API key 2', inputPassword: 'password' };
const fromOutside = { password: process.env.PASSWORD };
