package db

import "os"

// ok: hard-coded-credential
var dbPassword = os.Getenv("DB_PASSWORD")

type account struct{ user, password, passwordField string }

func empty() account {
	// ok: hard-coded-credential
	return account{user: "me", password: "", passwordField: "form-password"}
}

func hidden(a *account) {
	// ok: hard-coded-credential
	a.password = "--- redacted ---"
}
