package db

// ruleid: hard-coded-credential
const dbPassword = "n0t-a-g00d-idea"
