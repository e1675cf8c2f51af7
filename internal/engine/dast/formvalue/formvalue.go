// Package formvalue makes the values that a scan types into fields. They can be found again:
// each scan has a mark of its own, which names, texts, mail addresses and URLs carry. They
// reach nobody: mail addresses and hosts are below the reserved name "example" (RFC 2606, RFC
// 6761), which no name server knows, or URLs of the scan's own listener. Passwords are drawn
// for each scan and kept nowhere.
package formvalue

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// Generator are the values of one scan. A nil *Values is that of no scan, such as that of a
// sign-in form that is read and not filled in.
type Generator struct {
	mark   string
	url    string
	secret [32]byte
}

// New returns the values of the scan with the seed. listener is an address of the scan's
// listener; empty: it has none.
func New(seed uint64, listener string) *Generator {
	v := &Generator{mark: fmt.Sprintf("merlon-%06x", seed&0xffffff), url: listener}
	_, _ = rand.Read(v.secret[:]) // it never fails
	return v
}

// Mark is what every text of the scan carries: "merlon-3f9a2c".
func (v *Generator) Mark() string {
	if v == nil {
		return "merlon-000000"
	}
	return v.mark
}

// Email is a mail address that nobody has.
func (v *Generator) Email() string { return v.Mark() + "@" + v.Host() }

// Host is a name that leads nowhere.
func (v *Generator) Host() string { return "merlon.example" }

// URL is an address of the scan's listener, or one that leads nowhere.
func (v *Generator) URL() string {
	if v == nil || v.url == "" {
		return "https://" + v.Host() + "/" + v.Mark()
	}
	return v.url
}

// Password is a password for what belongs to the given object or form: the same one for its
// confirmation, and another one for each other object.
func (v *Generator) Password(of string) string {
	var secret []byte
	if v != nil {
		secret = v.secret[:]
	} else {
		secret = process[:]
	}
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write([]byte(of)) // a hash takes everything
	return "Mx1-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:10]))
}

// process is the secret where no scan is known.
var process = func() (secret [32]byte) {
	_, _ = rand.Read(secret[:]) // it never fails
	return secret
}()
