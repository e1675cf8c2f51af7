// Package unsignedstate finds state that the application keeps at its users and trusts when it
// comes back, though it is neither signed nor encrypted (CWE-565, CWE-642): sessions in cookies, as
// JSON or as serialized PHP, and the view state of ASP.NET forms.
//
// The proof for a cookie: a page shows a claim of the cookie to its user; with a random word in
// place of the claim the page shows that word, twice; with a cookie that cannot be parsed it does
// not. The proof for a view state: a changed word gives the same page, twice, and a broken state
// does not.
//
// Budget: maxPages pages and maxClaims claims for each cookie, six requests for each form.
package unsignedstate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	sessionRule = texts.Get("session")
	stateRule   = texts.Get("viewstate")
)

// Rule looks at the cookies of the session, State at forms.
var (
	// Rule examines the cookies of the session.
	Rule = &activescan.Rule{ID: "unsigned", FindingRules: []*finding.Rule{sessionRule}, Profile: scan.Safe,
		ScanSite: scanCookies}
	// State examines forms with a view state.
	State = &activescan.Rule{ID: "unsigned", FindingRules: []*finding.Rule{stateRule}, Profile: scan.Safe,
		ScanOperation: scanFormState}
)

const (
	// maxPages bounds the pages that one cookie is tried with.
	maxPages = 20
	// maxClaims bounds the claims of a page that are replaced.
	maxClaims = 6
	// other is the similarity up to which two pages differ.
	other = 0.8
)

// scanCookies examines each cookie that the session sends, until one is proven.
func scanCookies(t *activescan.OperationScan) error {
	if t.As == nil {
		return nil
	}
	req, err := http.NewRequestWithContext(t.Context, http.MethodGet, t.Request.Address(), nil)
	if err != nil {
		return nil
	}
	if err := t.As.Prepare(t.Context, req); err != nil {
		return err
	}
	for _, c := range req.Cookies() {
		// Signed formats have a prefix or a suffix (".", "s:") and do not parse as JSON or PHP.
		kept := decodeState(c.Value)
		if kept == nil {
			continue
		}
		if done, err := probeCookie(t, c.Name, kept); done || err != nil {
			return err
		}
	}
	return nil
}

// probeCookie tries the cookie with pages of the user until one proves it. It reports whether one
// did.
func probeCookie(t *activescan.OperationScan, name string, kept *text) (bool, error) {
	tried := 0
	for _, e := range t.Sitemap.Entries() {
		if e.Request.Method != http.MethodGet || sitemap.ForbiddenReason(e.Request) != "" || tried == maxPages {
			continue
		}
		tried++
		done, err := findClaimPage(t, e.Request, name, kept)
		if done || err != nil && (traffic.IsFinal(err) || errs.Is(err, errs.Invalid)) {
			return done, err
		}
	}
	return false, nil
}

// findClaimPage checks whether a page shows a claim of the cookie to the user and to nobody else.
// Then it sends the cookie with another value in place of the claim.
func findClaimPage(t *activescan.OperationScan, r *message.Request, name string, kept *text) (bool, error) {
	send := func(value string) (*message.Response, error) {
		return t.SendAs(r, activescan.ForgedSession{Session: t.As, Old: name + "=" + kept.whole, New: name + "=" +
			value})
	}
	own, err := send(kept.whole)
	if err != nil || own.Status >= 300 {
		return false, err
	}
	// Only claims that the page shows can prove anything: the changed value has to appear there.
	claims := slices.DeleteFunc(kept.claimWords(), func(c string) bool { return !strings.Contains(own.Text(), c) })
	if len(claims) == 0 {
		return false, nil
	}
	nobody, err := send(t.RandomLetters(30))
	if err != nil || activescan.NewPage(own).Similarity(activescan.NewPage(nobody)) > other {
		return false, err // it is not the cookie that opens the page
	}
	for _, claim := range claims[:min(len(claims), maxClaims)] {
		// A word such as "user" is on the page for everyone.
		if strings.Contains(nobody.Text(), claim) {
			continue
		}
		var answers []*message.Response
		payload := ""
		for range 2 {
			// Long enough not to occur by chance, and not longer than applications expect.
			word := t.RandomLetters(min(max(len(claim), 8), 30))
			payload = kept.withClaim(claim, word)
			resp, err := send(payload)
			if err != nil {
				return false, err
			}
			// A page that shows the whole cookie, such as one for debugging, reads no claim.
			if resp.Status >= 300 || !strings.Contains(resp.Text(), word) || strings.Contains(resp.Text(), payload) {
				break
			}
			answers = append(answers, resp)
		}
		if len(answers) < 2 {
			continue
		}
		word := t.RandomLetters(8)
		broken, err := send(kept.withBrokenText(claim, word))
		if err != nil || strings.Contains(broken.Text(), word) {
			return false, err // what is shown is the text, whatever it says
		}
		t.RaiseAlert(activescan.Alert{Rule: sessionRule, Request: r,
			Point:    &message.Point{In: message.InCookie, Name: name},
			Location: "/", Key: name, Payload: payload,
			Responses: append([]*message.Response{own, nobody, broken}, answers...),
			ResponseNotes: []string{"the page of the user", "a random text in place of " +
				"the cookie", "a changed cookie " +
				"that is broken", "a changed cookie", "another one"},
			Proof: []string{"The cookie " + name + " is " + kept.form + ", and no code is part of it.",
				"The page shows a value of the cookie to the user, and is another one with a random text in place of " +
					"the cookie.",
				"With a random word in place of the value the page is that of a user of this name, twice; with a " +
					"cookie that cannot be read it is not."}})
		return true, nil
	}
	return false, nil
}

// A text is a cookie whose content can be read.
type text struct {
	// whole is the value as it is sent.
	whole string
	// plain is the decoded content: JSON, or an array as PHP serializes it.
	plain string
	// form describes the format to people: "JSON in base 64".
	form string
	// encode writes a content as the cookie does; it reverses the decoding.
	encode func(string) string
	// php says that plain is PHP, where each string has its length before it.
	php bool
}

// serialized matches arrays of PHP whose members are strings, integers, booleans and null:
// a:1:{s:4:"user";s:3:"bob";}. Objects are a check of their own (deserialization).
var serialized = lazyregexp.New(`^a:\d+:\{(?:(?:s:\d+:"[^"]*"|i:-?\d+|b:[01]|N);)+\}$`)

// decodeState parses JSON and arrays of PHP, as they are, percent-encoded, in base64, or in both;
// nil: the value is neither.
func decodeState(value string) *text {
	type way struct {
		plain, form string
		encode      func(string) string
	}
	ways := []way{{value, "", func(s string) string { return s }}}
	if plain, err := url.QueryUnescape(value); err == nil && plain != value {
		ways = append(ways, way{plain, " in URL encoding", url.QueryEscape})
	}
	for _, w := range slices.Clone(ways) {
		// Padding and alphabet are those of the first that decodes, so that the changed value looks
		// alike.
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
			base64.RawURLEncoding} {
			if b, err := e.DecodeString(w.plain); err == nil {
				ways = append(ways, way{string(b), " in base 64", func(s string) string {
					return w.encode(e.EncodeToString([]byte(s)))
				}})
				break
			}
		}
	}
	for _, w := range ways {
		switch plain := strings.TrimSpace(w.plain); {
		case strings.HasPrefix(plain, "{") && json.Valid([]byte(plain)):
			return &text{whole: value, plain: plain, form: "JSON" + w.form, encode: w.encode}
		case serialized.MatchString(plain):
			return &text{whole: value, plain: plain, form: "an array as PHP writes it" + w.form, encode: w.encode,
				php: true}
		}
	}
	return nil
}

var (
	// inJSON captures string values of JSON; inPHP those of PHP. At least three characters: shorter
	// ones are on every page.
	inJSON = lazyregexp.New(`:\s*"([A-Za-z0-9@._-]{3,60})"`)
	inPHP  = lazyregexp.New(`;s:\d+:"([A-Za-z0-9@._-]{3,60})"`)
)

// claimWords returns the string values of the content, each once.
func (x *text) claimWords() []string {
	re := inJSON
	if x.php {
		re = inPHP
	}
	var out []string
	for _, m := range re.FindAllStringSubmatch(x.plain, 50) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// changed returns the content with a word in place of a claim. PHP writes the length before each
// string and refuses a wrong one.
func (x *text) changed(claim, word string) string {
	if x.php {
		return strings.ReplaceAll(x.plain, fmt.Sprintf("s:%d:%q", len(claim), claim),
			fmt.Sprintf("s:%d:%q", len(word), word))
	}
	return strings.ReplaceAll(x.plain, `"`+claim+`"`, `"`+word+`"`)
}

// withClaim returns the cookie with a word in place of the claim.
func (x *text) withClaim(claim, word string) string { return x.encode(x.changed(claim, word)) }

// withBrokenText returns the same without its closing braces, so that no parser accepts it. An
// application that shows the word all the same only searches the text.
func (x *text) withBrokenText(claim, word string) string {
	return x.encode(strings.TrimRight(x.changed(claim, word), "} "))
}

// stateHead begins the view state that ASP.NET serializes with LosFormatter (version 2.0 and
// later). What does not begin so in base64 is encrypted.
const stateHead = "\xff\x01"

// word matches a run of letters in a state, which can be replaced by one of the same length without
// changing the structure around it.
var word = lazyregexp.New(`[A-Za-z]{5,30}`)

// scanFormState changes a word in the view state of a form. ASP.NET appends an HMAC unless
// EnableViewStateMac is off, and then refuses the change.
func scanFormState(t *activescan.OperationScan) error {
	points := t.Request.Points()
	i := slices.IndexFunc(points, func(p message.Point) bool { return p.Name == "__VIEWSTATE" })
	if i < 0 || !t.FirstTime("viewstate "+t.Request.Path) {
		return nil
	}
	at := points[i]
	raw, err := base64.StdEncoding.DecodeString(at.Value)
	if err != nil || !strings.HasPrefix(string(raw), stateHead) {
		return nil // encrypted, or something else
	}
	where := word.FindAllStringIndex(string(raw), -1)
	if where == nil {
		return nil
	}
	send := func(b []byte) (*message.Request, *message.Response, error) {
		r := t.Request.With(at, base64.StdEncoding.EncodeToString(b))
		resp, err := t.SendAs(r, t.As)
		return r, resp, err
	}
	_, own, err := send(raw)
	if err != nil || own.Status >= 400 {
		return err
	}
	// One word is replaced by letters of the same length, so the structure around it stays valid.
	change := func() []byte {
		b, last := slices.Clone(raw), where[len(where)-1]
		copy(b[last[0]:last[1]], t.RandomLetters(last[1]-last[0]))
		return b
	}
	// Another head: no version of the formatter parses it.
	broken := slices.Clone(raw)
	broken[0], broken[1] = 'M', 'x'
	_, refused, err := send(broken)
	if err != nil || refused.Status == own.Status &&
		activescan.NewPage(own).Similarity(activescan.NewPage(refused)) > other {
		return err // nobody reads it
	}
	answers := []*message.Response{own, refused}
	var changed *message.Request
	for range 2 {
		r, resp, err := send(change())
		if err != nil || resp.Status != own.Status ||
			activescan.NewPage(own).Similarity(activescan.NewPage(resp)) <=
				activescan.NewPage(own).Similarity(activescan.NewPage(refused)) {
			return err
		}
		answers, changed = append(answers, resp), r
	}
	_, refused, err = send(broken)
	if err != nil || refused.Status == own.Status &&
		activescan.NewPage(own).Similarity(activescan.NewPage(refused)) > other {
		return err
	}
	t.RaiseAlert(activescan.Alert{Rule: stateRule, Request: changed, Point: &at, Payload: "a state with another " +
		"word in it", Responses: append(answers, refused),
		ResponseNotes: []string{"the state as it is", "a state that is none", "a state with another word",
			"and with another one", "a state that is none, again"},
		Proof: []string{"The state is neither encrypted nor does the application notice that a word in it was " +
			"changed, twice: the response is the same as for the unmodified state.", "A state that cannot be read is " +
			"refused, " +
			"before and after, so that it is read."}})
	return nil
}
