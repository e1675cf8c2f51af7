// Package oast is the listener for what a target sends elsewhere when it is
// attacked: requests of HTTP, lookups of DNS, and the first step of LDAP. It proves
// vulnerabilities of which no answer tells.
//
// Every value that is sent to a target gets a Token of its own, which nobody can guess:
// random letters, and a code over them (HMAC-SHA-256) under a key that only the scan and
// the listener have. What arrives without a valid token of a scan that runs is answered
// with nothing and forgotten at once. A scan sees what its own tokens brought, and
// nothing else; it is forgotten when the scan ends. All of it is in memory, and bounded.
//
// The listener runs nothing, and answers each token with the same harmless text.
package oast

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// Tokens makes the tokens and the addresses of one scan. It holds a secret.
type Tokens struct {
	URL    string `json:"url"`              // of the listener, without a slash at its end
	Domain string `json:"domain,omitempty"` // whose names the listener answers; empty: none
	Scan   string `json:"scan"`             // what every token begins with
	Key    []byte `json:"key"`
}

// The parts of a token, in characters of the alphabet of base 32. It fits into a label
// of DNS, which is no longer than 63.
const (
	scanLength   = 8
	randomLength = 12
	codeLength   = 8
	tokenLength  = scanLength + randomLength + codeLength
)

// alphabet is base32 in lower case: DNS names are case-insensitive, and resolvers change the
// case at random.
var alphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// randomText returns n random characters.
func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails: crypto/rand ends the program instead
	return alphabet.EncodeToString(b)[:n]
}

// newNames returns the names of another scan.
func newNames(address, domain string) Tokens {
	return Tokens{URL: strings.TrimRight(address, "/"), Domain: domain, Scan: randomText(scanLength),
		Key: []byte(randomText(32))}
}

// NewToken returns a new token: 28 lower-case letters and digits.
func (n Tokens) NewToken() string {
	text := n.Scan + randomText(randomLength)
	return text + n.macOf(text)
}

// macOf is the code over the rest of a token.
func (n Tokens) macOf(text string) string {
	mac := hmac.New(sha256.New, n.Key)
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return alphabet.EncodeToString(mac.Sum(nil))[:codeLength]
}

// isValidToken reports whether the token is one of the scan.
func (n Tokens) isValidToken(token string) bool {
	text, code := token[:scanLength+randomLength], token[scanLength+randomLength:]
	return hmac.Equal([]byte(n.macOf(text)), []byte(code))
}

// Address implements scan.OASTListener.
func (n Tokens) Address(token string) (address, host string) {
	if n.Domain != "" {
		host = token + "." + n.Domain
	}
	return n.URL + "/" + token, host
}

// Response implements scan.OASTListener.
func (n Tokens) Response(token string) scan.OASTResponse { return responseOf(token) }

// responseOf is what the listener answers to a token: three words, with an empty element of
// PHP between the first two, and an empty element of HTML before the third. It runs
// nothing; who includes it as a program leaves the first element out, who cleans it as
// text leaves out both. The words are not in the request, and follow from it only for
// who knows this function.
func responseOf(token string) scan.OASTResponse {
	sum := sha256.Sum256([]byte("merlon callback " + token))
	words := strings.ToLower(alphabet.EncodeToString(sum[:]))
	one, two, three := words[:8], words[8:16], words[16:24]
	return scan.OASTResponse{Text: one + "<?php ?>" + two + "<b></b>" + three, Included: one + two + "<b></b>" + three,
		First: one}
}

// CheckURL returns an Invalid error unless the text is an address that a listener can be
// reached at.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return errs.E(errs.Invalid, "%.200q is not an http or https address that a listener can have", text)
	}
	return nil
}

// CheckDomain returns an Invalid error unless the text is a domain whose names, with a
// token before them, are names of hosts.
func CheckDomain(text string) error {
	ok := len(text) > 0 && len(text) <= 253-tokenLength-1
	for label := range strings.SplitSeq(text, ".") {
		ok = ok && len(label) > 0 && len(label) <= 63 &&
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && label[0] != '-' &&
			label[len(label)-1] != '-'
	}
	if !ok {
		return errs.E(errs.Invalid, "%.200q is not a domain in lower case", text)
	}
	return nil
}
