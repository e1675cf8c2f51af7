package traffic

import (
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
)

// This file keeps passwords out of addresses, which logs, histories and other hosts see.

// minPassword is the length from which a password is recognised in a parameter of any name.
const minPassword = 8

// passwordName is what parameters for passwords are named.
var passwordName = lazyregexp.New(`(?i)pass|pwd|secret|kennwort|wachtwoord|contrase|senha|parola`)

// Protect has the client refuse requests with the password in their query.
func (c *Client) Protect(password string) {
	if password != "" {
		c.passwords.Store(password, true)
	}
}

// refusePasswordInQuery returns an error for a request with a password in its query.
func (c *Client) refusePasswordInQuery(r *message.Request) error {
	for _, p := range r.Query {
		if _, ok := c.passwords.Load(p.Value); ok && (len(p.Value) >= minPassword || passwordName.MatchString(p.Name)) {
			return errs.E(errs.Forbidden, "%s %s would send a password in its address", r.Method, r.Location())
		}
	}
	return nil
}
