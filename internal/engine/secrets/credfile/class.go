package credfile

import (
	_ "embed"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// This file says what the loss of each kind of secret costs and how to mend it.

// rulesPage has the texts of all classes: severity, consequences, remediation and references.
// It is embedded, so that texts and rules cannot drift apart.
//
//go:embed rules.md
var rulesPage string

// texts describe the classes of secrets.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "secrets/credentials", Analysis: finding.Secret})

// secretClass is a kind of secret.
// Formats of one class share severity and remediation: a password is changed, a token revoked,
// a key replaced together with everything that trusts it.
type secretClass struct {
	text *finding.Rule // {what} is what a rule of the class says about its files
}

// The classes, by the heading of their section in rules.md. MustLoad fails at the start of the
// program if a section is missing.
var (
	// A password of a person or a service account.
	passwordClass = &secretClass{texts.Get("password")}
	// An access token, which can be revoked at its issuer.
	tokenClass = &secretClass{texts.Get("token")}
	// Keys of a cloud account.
	cloudClass = &secretClass{texts.Get("cloud")}
	// Private keys and keys that decrypt other files.
	keyClass = &secretClass{texts.Get("key")}
	// Keys and stores that are protected with a passphrase, which can be guessed offline.
	lockedClass = &secretClass{texts.Get("locked")}
	// Databases of password managers, browsers and keystores.
	vaultClass = &secretClass{texts.Get("vault")}
	// Password hashes, which can be cracked offline.
	hashClass = &secretClass{texts.Get("hash")}
	// Secrets that sign sessions and tokens: whoever has one can impersonate every user.
	signingClass = &secretClass{texts.Get("signing")}
	// Settings of unknown meaning that look like secrets.
	settingClass = &secretClass{texts.Get("setting")}
	// Passwords that are a word of examples or the name of the account.
	weakClass = &secretClass{texts.Get("weak")}
	// Addresses with a user name and a password (RFC 3986, section 3.2.1).
	addressClass = &secretClass{texts.Get("address")}
	// Secrets that are literals of program code.
	codeClass = &secretClass{texts.Get("code")}
	// Rows with credentials of many users.
	recordClass = &secretClass{texts.Get("record")}
)

// newRule returns a rule of the class with a title of its own and a sentence about its files.
func (c *secretClass) newRule(id, name, what string) *finding.Rule {
	r := *c.text
	r.ID, r.Name = "secrets/credentials/"+id, name
	r.ShortDescription = what
	r.Description = strings.Replace(r.Description, "{what}", what, 1)
	return &r
}
