package credfile

import (
	_ "embed"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// This file says what the loss of each kind of secret costs and how to mend it.

//go:embed rules.md
var rulesPage string

// texts describe the classes of secrets.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "secrets/credentials", Analysis: finding.Secret})

// secretClass is a kind of secret.
type secretClass struct {
	text *finding.Rule // {what} is what a rule of the class says about its files
}

var (
	passwordClass = &secretClass{texts.Get("password")}
	tokenClass    = &secretClass{texts.Get("token")}
	cloudClass    = &secretClass{texts.Get("cloud")}
	keyClass      = &secretClass{texts.Get("key")}
	lockedClass   = &secretClass{texts.Get("locked")}
	vaultClass    = &secretClass{texts.Get("vault")}
	hashClass     = &secretClass{texts.Get("hash")}
	signingClass  = &secretClass{texts.Get("signing")}
	settingClass  = &secretClass{texts.Get("setting")}
	addressClass  = &secretClass{texts.Get("address")}
	codeClass     = &secretClass{texts.Get("code")}
	recordClass   = &secretClass{texts.Get("record")}
)

// newRule returns a rule of the class with a title of its own and a sentence about its files.
func (c *secretClass) newRule(id, name, what string) *finding.Rule {
	r := *c.text
	r.ID, r.Name = "secrets/credentials/"+id, name
	r.ShortDescription = what
	r.Description = strings.Replace(r.Description, "{what}", what, 1)
	return &r
}
