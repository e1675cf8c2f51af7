const jwt = require("jsonwebtoken");

function issue(user) {
  // ruleid: hard-coded-credential
  return jwt.sign({ user }, "k1-not-secret");
}

// ruleid: hard-coded-credential
const adminPassword = 'Winter2024';
// ruleid: hard-coded-credential
const options = { user: 'db', password: 's3cr3t-7' };
const seed = [
  {
    "name": "admin",
    // ruleid: hard-coded-credential
    "password": "Admin_123", // to begin with
    "id": 1
  },
];
