package activescan

import (
	"slices"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// This file keeps the user that the scan signs in as. A form that shows the account of that
// user may rename it, take its rights or switch it off, so that all that follows is asked
// as nobody.

// editsOwnAccount reports whether a request sends the account of the run's own identity: a form of more
// than its sign-in, filled in by the page with the name by which it signs in.
func (r *Engine) editsOwnAccount(req *message.Request) bool {
	if len(r.Target.Identities) == 0 || req.Body.Kind != message.Form && req.Body.Kind != message.Multipart {
		return false
	}
	user, typed := userName(&r.Target.Identities[0]), 0
	for _, p := range req.Points() {
		if p.In == message.InForm || p.In == message.InMultipart {
			switch p.Type {
			case "hidden", "button", "password":
			default:
				typed++
			}
		}
	}
	return len(user) > 1 && typed > 1 && slices.ContainsFunc(req.Body.Params, func(p message.Param) bool {
		return p.Value == user
	})
}

// userName is the name by which an identity signs in. Empty: it is not known.
func userName(i *scan.Identity) string {
	switch {
	case i.Form != nil:
		return i.Form.User
	case i.Basic != nil:
		return i.Basic.User
	case i.OAuth != nil:
		return i.OAuth.User
	}
	return ""
}

// endangersOwnAccount reports whether another value at the point of a form that shows the identity's own
// account may end what the identity may do: its name, and what is ticked or chosen.
func (r *Engine) endangersOwnAccount(at message.Point) bool {
	return at.Names() || at.Type == "choice" || at.Value == userName(&r.Target.Identities[0])
}
