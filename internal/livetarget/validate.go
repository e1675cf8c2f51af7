package livetarget

import (
	"encoding/base32"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file checks what people enter.

// Limits of a target.
const (
	maxName         = 200
	maxAddress      = 2000
	maxPatterns     = 200
	maxIdentities   = 10
	maxHeaders      = 50
	maxSteps        = 200
	maxDescriptions = 20
	maxTemplates    = 1000
	// Bodies of JSON logins count as secrets, hence the size.
	maxSecret = 64 << 10
	// MaxTexts bounds the texts of descriptions and templates together, in bytes.
	MaxTexts = 16 << 20
	// maxShown bounds what lists show of one target, in bytes of JSON.
	maxShown     = 128 << 10
	maxRate      = 1000
	maxParallel  = 64
	maxRequests  = 5_000_000
	maxSleepSecs = 30
)

// Validate returns an Invalid error for the first invalid field of a target.
func Validate(name string, e Environment, t *scan.Target) error {
	if !utf8.ValidString(name) || strings.TrimSpace(name) == "" || len(name) > maxName ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return invalidField("name", "a name has 1 to %d bytes and no control characters", maxName)
	}
	if !slices.Contains(Environments, e) {
		return invalidField("environment", "%q is not one of %v", e, Environments)
	}
	if err := parseBaseURL(t.URL); err != nil {
		return err
	}
	if err := validateIntensity(t); err != nil {
		return err
	}
	for field, list := range map[string][]string{"include": t.Include, "exclude": t.Exclude, "seeds": t.Seeds} {
		if err := validatePatterns(field, list); err != nil {
			return err
		}
	}
	if err := validateHeaders("headers", t.Headers); err != nil {
		return err
	}
	if err := validateIdentities(t.Identities); err != nil {
		return err
	}
	return validateDescriptions(t)
}

// validateIntensity checks the profile and the limits of requests. They bound the load that a
// user of the service can cause at a target.
func validateIntensity(t *scan.Target) error {
	if t.Profile != "" && !slices.Contains(scan.Profiles, t.Profile) {
		return invalidField("profile", "%q is not one of %v", t.Profile, scan.Profiles)
	}
	switch {
	case t.Rate < 0 || t.Rate > maxRate:
		return invalidField("rate", "a rate is 0 to %d requests a second", maxRate)
	case t.Parallel < 0 || t.Parallel > maxParallel:
		return invalidField("parallel", "0 to %d requests at once", maxParallel)
	case t.Requests < 0 || t.Requests > maxRequests:
		return invalidField("requests", "0 to %d requests", maxRequests)
	}
	return nil
}

// invalidField returns an Invalid error that names the field.
func invalidField(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &errs.Error{Kind: errs.Invalid, Message: field + ": " + message,
		Details: []errs.Detail{{Location: "body." + field, Message: message}}}
}

// parseBaseURL checks the address of a target.
func parseBaseURL(text string) error {
	u, err := parseAddress(text)
	if err != nil {
		return invalidField("url", "%v", err)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return invalidField("url", "the base of a target has neither a query nor a fragment")
	}
	return nil
}

// parseAddress reads an absolute address of the web.
func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxAddress:
		return nil, fmt.Errorf("an address has at most %d bytes", maxAddress)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("not an address that begins with http:// or https:// and a host")
	// URLs are shown, logged and part of findings; a password in them would be exposed.
	case u.User != nil:
		return nil, fmt.Errorf("a URL must not contain a user and password: put them into an identity")
	case strings.ContainsAny(u.Hostname(), "*?% ") || strings.ContainsFunc(u.Host, unicode.IsControl):
		return nil, fmt.Errorf("not the name of a host")
	}
	return u, nil
}

// validatePatterns checks patterns of addresses; see scan.ScopeDoc. One with a scheme names
// its host in full: a host has to be shown to be the organization's.
func validatePatterns(field string, list []string) error {
	if len(list) > maxPatterns {
		return invalidField(field, "at most %d", maxPatterns)
	}
	for _, p := range list {
		if p == "" || len(p) > maxAddress || !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
			return invalidField(field, "an entry has 1 to %d bytes and no control characters", maxAddress)
		}
		if _, err := parsePatternHost(p); err != nil && field != "exclude" {
			return invalidField(field, "%q: %v", p, err)
		}
	}
	return nil
}

// parsePatternHost returns the address whose host a pattern is about; nil when it is about
// the hosts of the target.
func parsePatternHost(p string) (*url.URL, error) {
	scheme, rest, ok := strings.Cut(p, "://")
	// A path such as "/a?next=http://x" has "://" behind its beginning.
	if !ok || strings.ContainsAny(scheme, "/?*") {
		return nil, nil
	}
	host, _, _ := strings.Cut(rest, "/")
	return parseAddress(scheme + "://" + host)
}

// validateHeaders checks names and values by RFC 9110, section 5. A line break in a value would
// add headers to every request.
func validateHeaders(field string, list []scan.Header) error {
	if len(list) > maxHeaders {
		return invalidField(field, "at most %d", maxHeaders)
	}
	for _, h := range list {
		if !httpguts.ValidHeaderFieldName(h.Name) {
			return invalidField(field, "%q is not the name of a header", h.Name)
		}
		if len(h.Value) > maxSecret || !httpguts.ValidHeaderFieldValue(h.Value) {
			return invalidField(field, "the value of %s cannot be sent in a header", h.Name)
		}
	}
	return nil
}

// validateIdentities checks the identities, and that their names are unique.
func validateIdentities(list []scan.Identity) error {
	if len(list) > maxIdentities {
		return invalidField("identities", "at most %d", maxIdentities)
	}
	names := map[string]bool{}
	for n := range list {
		i := &list[n]
		if i.Name == "" || len(i.Name) > maxName || !utf8.ValidString(i.Name) ||
			strings.ContainsFunc(i.Name, unicode.IsControl) || names[i.Name] {
			return invalidField("identities", "each has a name of its own, of at most %d bytes", maxName)
		}
		names[i.Name] = true
		if err := validateIdentity(i); err != nil {
			return err
		}
	}
	return nil
}

// countSignInMethods returns how many sign-in methods of the identity are set.
func countSignInMethods(i *scan.Identity) int {
	n := 0
	for _, set := range []bool{i.Form != nil, i.JSON != nil, i.OAuth != nil, i.Bearer != "", i.Basic != nil,
		i.Cookie != "", len(i.Header) > 0, len(i.Steps) > 0} {
		if set {
			n++
		}
	}
	return n
}

// validateIdentity checks the sign-in of one identity.
func validateIdentity(i *scan.Identity) error {
	// With two methods it would be unclear which one decides whether the sign-in succeeded.
	if n := countSignInMethods(i); n != 1 {
		return invalidField("identities", "%s has %d ways of signing in, and must have exactly one", i.Name, n)
	}
	long := false
	// On a copy, since eachSecret assigns what the function returns.
	eachSecret(deepCopy(i), func(_, value string) string { long = long || len(value) > maxSecret; return value })
	if long {
		return invalidField("identities", "%s: a value has more than %d bytes", i.Name, maxSecret)
	}
	if i.TOTP != "" {
		secret := strings.ToUpper(strings.TrimRight(strings.ReplaceAll(i.TOTP, " ", ""), "="))
		if _, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret); err != nil {
			return invalidField("identities", "%s: totp is not a secret in base 32", i.Name)
		}
	}
	for name, text := range Addresses(i) {
		if _, err := parseAddress(text); err != nil {
			return invalidField("identities", "%s: %s: %v", i.Name, name, err)
		}
	}
	if err := validateHeaders("identities", i.Header); err != nil {
		return err
	}
	if len(i.Steps) > maxSteps {
		return invalidField("identities", "%s: at most %d steps", i.Name, maxSteps)
	}
	for _, s := range i.Steps {
		if s.Sleep < 0 || s.Sleep.Seconds() > maxSleepSecs {
			return invalidField("identities", "%s: a step sleeps for at most %d s", i.Name, maxSleepSecs)
		}
	}
	return nil
}

// Addresses returns the absolute addresses that the sign-in of an identity names, by
// what they are for.
func Addresses(i *scan.Identity) map[string]string {
	all := map[string]string{"marker": i.Marker.URL}
	if i.Form != nil {
		all["form"] = i.Form.URL
	}
	if i.JSON != nil {
		all["json"] = i.JSON.URL
	}
	if o := i.OAuth; o != nil {
		all["issuer"], all["authorize"], all["token"] = o.Issuer, o.Authorize, o.Token
	}
	for n, s := range i.Steps {
		all[fmt.Sprintf("steps.%d", n)] = s.Open
	}
	for name, text := range all {
		if !strings.Contains(text, "://") { // missing, or below the target
			delete(all, name)
		}
	}
	return all
}

// validateDescriptions checks API descriptions and templates: each is a text or a URL, within
// the limits.
func validateDescriptions(t *scan.Target) error {
	size := 0
	for field, max := range map[string]int{"descriptions": maxDescriptions, "templates": maxTemplates} {
		list := t.Descriptions
		if field == "templates" {
			list = t.Templates
		}
		if len(list) > max {
			return invalidField(field, "at most %d", max)
		}
		names := map[string]bool{}
		for _, d := range list {
			if d.Name == "" || len(d.Name) > maxName || names[d.Name] {
				return invalidField(field, "each has a name of its own, of at most %d bytes", maxName)
			}
			names[d.Name] = true
			// Exactly one of both.
			if (d.Text == "") == (d.URL == "") {
				return invalidField(field, "%s has either a text or an address", d.Name)
			}
			if len(d.URL) > maxAddress {
				return invalidField(field, "%s: an address has at most %d bytes", d.Name, maxAddress)
			}
			size += len(d.Text)
		}
	}
	if size > MaxTexts {
		return invalidField("descriptions", "descriptions and templates have at most %d MiB together", MaxTexts>>20)
	}
	return nil
}
