package scan

import (
	"encoding/json"
	"strings"

	"merlon/internal/redact"
)

// This file extracts the credentials from recorded traffic and request collections (HAR,
// Postman), which often contain real session tokens.

// maxRecorded bounds the values that are extracted from one description.
const maxRecorded = 500

// addDescription adds the values in a JSON description whose names are credential names: the
// members "name" or "key" and "value" of one object, as HAR and Postman represent headers,
// cookies, parameters and variables. It reads one token at a time, because recordings are
// large, and stops silently where the text is not JSON.
func addDescription(s *redact.Set, text string) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return
	}
	d := json.NewDecoder(strings.NewReader(text))
	var open []jsonScope
	for added := 0; added < maxRecorded; {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				open = append(open, jsonScope{object: t == '{'})
				continue
			}
			if last := open[len(open)-1]; last.addCredential(s) {
				added++
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return
			}
			open[len(open)-1].member = ""
		case string:
			open[len(open)-1].acceptText(t)
		default:
			open[len(open)-1].member = ""
		}
	}
}

// jsonScope is an open object or array.
type jsonScope struct {
	object      bool
	member      string // the name of the next value; "" when a name comes next
	name, value string
}

// acceptText processes a string: the name of a member, or its value.
func (r *jsonScope) acceptText(text string) {
	switch {
	case !r.object:
	case r.member == "":
		r.member = text
	default:
		switch r.member {
		case "name", "key":
			r.name = text
		case "value":
			r.value = text
		}
		r.member = ""
	}
}

// addCredential adds the value if it is a credential, and reports whether it did.
func (r *jsonScope) addCredential(s *redact.Set) bool {
	switch {
	case r.name == "" || r.value == "" || strings.Contains(r.value, "{{"):
		return false
	case redact.IsCredentialName(r.name), strings.EqualFold(r.name, "Cookie"),
		strings.EqualFold(r.name, "Authorization"):

		addHeader(s, Header{Name: r.name, Value: r.value})
		return true
	}
	return false
}
