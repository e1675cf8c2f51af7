package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 says so
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file signs in by a form, and makes one-time passwords.

// submitPasswordForm fills in the form with a password of the page, and returns the page behind it.
// A name that is requested on a page of its own before, and a one-time password on one behind, are
// entered too.
func (s *Session) submitPasswordForm(ctx context.Context, l *scan.FormLogin) (*message.Response, error) {
	page, err := s.request(l.URL)
	if err != nil {
		return nil, err
	}
	resp, err := s.follow(ctx, page, 5)
	if err != nil {
		return nil, err
	}
	f := loginForm(resp)
	if f == nil { // the password may come on the next page
		if resp, err = s.submitStep(ctx, resp, userName, l.User); err != nil {
			return nil, err
		}
		f = loginForm(resp)
	}
	if f == nil {
		return nil, errs.E(errs.Unavailable, "signing in as %q: %s has no form with a password", s.identity.Name,
			page.Location())
	}
	// Addresses end in access logs and in the header Referer. Mostly a script sends such a form, so
	// the browser is tried next.
	if f.Method == http.MethodGet {
		return nil, errs.E(errs.Unavailable, "signing in as %q is not possible because the form of %s would send the "+
			"password in its address (method GET)", s.identity.Name, page.Location())
	}
	// A field for the one-time password on the same page is filled in, unless the settings of the
	// identity name one.
	coded := slices.Contains(slices.Collect(maps.Values(l.Fields)), "{{totp}}")
	if name := typedField(f, oneTime); !coded && s.identity.TOTP != "" && name != "" {
		// A copy: the settings belong to the caller, and the next sign-in needs another code.
		l = &scan.FormLogin{URL: l.URL, User: l.User, Password: l.Password, Fields: maps.Clone(l.Fields)}
		if l.Fields == nil {
			l.Fields = map[string]string{}
		}
		l.Fields[name], coded = "{{totp}}", true
	}
	r, err := s.fillCredentials(f, l)
	if err != nil {
		return nil, err
	}
	if resp, err = s.submitForm(ctx, resp, r); err != nil || coded || s.identity.TOTP == "" {
		return resp, err
	}
	return s.submitStep(ctx, resp, oneTime, "{{totp}}") // the page behind it may ask for the code
}

// submitStep fills in the form of a page that has no password, and one field of the kind, and
// returns the page behind it; the page itself where there is no such form.
func (s *Session) submitStep(ctx context.Context, resp *message.Response, kind *lazyregexp.Regexp,
	value string) (*message.Response, error) {
	// A page with a password field is the sign-in page again: the code has no place on it.
	if !resp.IsHTML() || resp.Status != http.StatusOK || loginForm(resp) != nil {
		return resp, nil
	}
	for _, f := range crawl.ReadPage(resp).Requests {
		name := ""
		if f.Origin == "form" {
			name = typedField(f, kind)
		}
		if name == "" {
			continue
		}
		r, err := s.fillCredentials(f, &scan.FormLogin{Fields: map[string]string{name: value}})
		if err != nil {
			return nil, err
		}
		return s.submitForm(ctx, resp, r)
	}
	return resp, nil
}

// submitForm sends a form as its page does, and returns the page behind it.
func (s *Session) submitForm(ctx context.Context, page *message.Response,
	r *message.Request) (*message.Response, error) {
	for _, p := range r.Points() { // such as a token that binds the form to the session
		if r.Types[p.Key()] == "hidden" {
			s.o.Secrets.AddObtained(p.Name, p.Value)
		}
	}
	// Frameworks check Referer or Origin against CSRF and refuse a form without them.
	r.Referer = page.Request.Address()
	return s.follow(ctx, r.SetHeader("Origin", page.Request.Base()), 5)
}

// loginForm returns the form of a page that has exactly one field for a password, else the first
// with any; nil: there is none. A page often shows registration beside sign-in, with the password
// and its confirmation.
func loginForm(resp *message.Response) *message.Request {
	if !resp.IsHTML() {
		return nil
	}
	var any *message.Request
	for _, r := range crawl.ReadPage(resp).Requests {
		if r.Origin != "form" {
			continue
		}
		n := 0
		for _, t := range r.Types {
			if t == "password" {
				n++
			}
		}
		if n == 1 {
			return r
		}
		if n > 1 && any == nil {
			any = r
		}
	}
	return any
}

// userName matches names of fields that take the name of a user.
var userName = lazyregexp.New(`(?i)user|login|mail|account|name|uid|ident`)

// fillCredentials returns a copy of the form with the user and the password. The user goes into the
// first visible field whose name matches userName, else into the first visible field.
func (s *Session) fillCredentials(f *message.Request, l *scan.FormLogin) (*message.Request, error) {
	r := f.Clone()
	list := &r.Body.Params
	in := message.InForm
	switch {
	case r.Method == http.MethodGet:
		list, in = &r.Query, message.InQuery
	case r.Body.Kind == message.Multipart:
		in = message.InMultipart
	}
	for key, t := range f.Types { // the crawler leaves it out where the page has filled in the others
		if name, ok := strings.CutPrefix(key, string(in)+":"); ok && t == "password" &&
			!slices.ContainsFunc(*list, func(p message.Param) bool { return p.Name == name }) {
			*list = append(*list, message.Param{Name: name})
		}
	}
	user := -1
	for i, p := range *list {
		switch t := f.Types[string(in)+":"+p.Name]; {
		case t == "password":
			(*list)[i].Value = l.Password
		// Hidden fields keep the CSRF token, and a field of the settings is set below.
		case t == "hidden", t == "button", t == "file", l.Fields[p.Name] != "":
		case user < 0 || !userName.MatchString((*list)[user].Name) && userName.MatchString(p.Name):
			user = i
		}
	}
	if user >= 0 {
		(*list)[user].Value = l.User
	}
	for name, value := range l.Fields {
		value, err := s.fill(value)
		if err != nil {
			return nil, err
		}
		setField(list, name, value)
	}
	return r, nil
}

// setField sets each field of the name to the value. A field that is missing is added: a script may
// add it before the form is sent.
func setField(list *[]message.Param, name, value string) {
	found := false
	for i := range *list {
		if (*list)[i].Name == name {
			(*list)[i].Value, found = value, true
		}
	}
	if !found {
		*list = append(*list, message.Param{Name: name, Value: value})
	}
}

// typedField returns the name of the first field of a form that a user types in and whose name
// matches the kind; empty: there is none. Passwords, check boxes and hidden fields are no typed
// fields.
func typedField(form *message.Request, kind *lazyregexp.Regexp) string {
	for _, p := range form.Points() {
		switch p.In {
		case message.InForm, message.InMultipart, message.InQuery:
		default:
			continue
		}
		if t := form.Types[p.Key()]; (t == "" || t == "email" || t == "tel" || t == "number") &&
			kind.MatchString(p.Name) {
			return p.Name
		}
	}
	return ""
}

// totp is the one-time password of a time: RFC 6238 with SHA-1, six digits and steps
// of 30 seconds, as authenticators do it.
func totp(secret string, at time.Time) (string, error) {
	// Secrets are shown to people in groups ("JBSW Y3DP EHPK 3PXP"), and some with padding.
	text := strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "=", "").Replace(secret))
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err != nil || len(key) == 0 {
		return "", errs.E(errs.Invalid, "the secret of one-time passwords is not base 32")
	}
	var step [8]byte
	// The counter of RFC 4226 is the number of steps since 1970 (RFC 6238, section 4.2).
	binary.BigEndian.PutUint64(step[:], uint64(at.Unix()/30))
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write(step[:]) // a hash takes everything
	sum := mac.Sum(nil)
	// Dynamic truncation (RFC 4226, section 5.3): the last four bits choose four bytes, without the
	// sign bit.
	offset := sum[len(sum)-1] & 0xf
	code := binary.BigEndian.Uint32(sum[offset:offset+4]) & 0x7fffffff
	return fmt.Sprintf("%06d", code%1_000_000), nil
}
