package db

import "os"

// ok: hard-coded-credential
var dbPassword = os.Getenv("DB_PASSWORD")
