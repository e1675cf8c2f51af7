package identity

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"merlon/internal/errs"
	"merlon/internal/mail"
)

// This file brings what people type to one form.

// Limits of a profile.
const (
	maxName    = 100  // characters
	maxPicture = 8192 // bytes; the contract's
)

// NormalizeEmail returns the address as accounts are found by: lower case, an
// international domain in its ASCII form (RFC 5891). An address that cannot be
// one is an Invalid error.
func NormalizeEmail(email string) (string, error) {
	email = strings.TrimSpace(email)
	at := strings.LastIndexByte(email, '@')
	if at < 1 || len(email) > 320 {
		return "", invalidInput("body.email", "invalid e-mail address")
	}
	domain, err := idna.Lookup.ToASCII(email[at+1:])
	if err == nil { // what the conversion made must itself be a domain
		domain, err = idna.Lookup.ToASCII(domain)
	}
	if err != nil || !utf8.ValidString(email) {
		return "", invalidInput("body.email", "invalid e-mail address: invalid domain")
	}
	email = strings.ToLower(email[:at]) + "@" + strings.ToLower(domain)
	if err := mail.CheckAddress(email); err != nil {
		return "", invalidInput("body.email", "invalid e-mail address")
	}
	return email, nil
}

// normalizeNames trims the names and checks them.
func (n Names) normalizeNames() (Names, error) {
	n = Names{FirstName: strings.TrimSpace(n.FirstName), LastName: strings.TrimSpace(n.LastName)}
	if n.FirstName == "" {
		return n, invalidInput("body.firstName", "first name is required")
	}
	for location, name := range map[string]string{"body.firstName": n.FirstName, "body.lastName": n.LastName} {
		if err := checkLabel(location, name); err != nil {
			return n, err
		}
	}
	return n, nil
}

// checkLabel refuses a text that does not fit on one line of maxName characters.
func checkLabel(location, text string) error {
	if len([]rune(text)) > maxName {
		return invalidInput(location, "must be at most %d characters", maxName)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return invalidInput(location, "must not contain control characters")
	}
	return nil
}

// sanitizeText returns at most n bytes of a text that a stranger sent, as any database
// can hold it and any terminal show it.
func sanitizeText(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

func validPicture(s string) bool {
	if s == "" {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(s) <= maxPicture
}

// isNotFound reports whether err says that there is no such thing.
func isNotFound(err error) bool { return errs.Is(err, errs.NotFound) }
