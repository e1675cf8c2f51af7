// Package csrf finds forms of a session that another site can send for the user: the
// application does what they ask without anything that the other site could not know.
// The proof: the answer is the same with the origin of another site, and is another
// one without the session.
package csrf

import (
	"net/http"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("forgery")

// Rule is the check.
var Rule = &activescan.Rule{ID: "csrf", FindingRules: []*finding.Rule{rule}, Profile: scan.Standard,
	InspectResponse: recordSameSite,
	ScanOperation:   scanForm}

// changes are words of what a form changes, in its address and the names of its fields.
var changes = lazyregexp.New(`(?i)(^|[^a-z])(add|creat|updat|edit|chang|delet|remov|sav|post|transfer|pay|order|buy|profile|account|settings?|upload|password|passwd|pass|e?mail|role|admin|invite|grant|approve)`)

// writes are words of forms that take a text. Not all of them keep it.
var writes = lazyregexp.New(`(?i)(^|[^a-z])(book|comment|sign|messag|mtx|note|text)`)

// asks are words of forms that only ask.
var asks = lazyregexp.New(`(?i)search|query|filter|(log|sign)[-_]?(in|up|on)|register|forgot|captcha|(^|[^a-z])(q|lang|locale|sort)([^a-z]|$)`)

// current is the name of a field that another site cannot fill in.
var current = lazyregexp.New(`(?i)current|old[-_]?pass|(^|[-_])old([-_]|$)|captcha|otp|totp|one[-_]?time`)

// recordSameSite notes which cookies are kept from the requests of other sites.
func recordSameSite(t *activescan.OperationScan, resp *message.Response) {
	for _, c := range (&http.Response{Header: resp.Header}).Cookies() {
		switch c.SameSite {
		case http.SameSiteStrictMode:
			t.RecordFact("cookie strict " + c.Name)
		case http.SameSiteLaxMode: // but from those that open a page
			t.RecordFact("cookie lax " + c.Name)
		}
	}
}

// scanForm sends the form from its own site, from another one, and without a session.
func scanForm(t *activescan.OperationScan) error {
	if t.As == nil || t.As.Name() == "" || !isForgeable(t.Request) {
		return nil
	}
	if ok, err := isSentCrossSite(t); !ok || err != nil {
		return err
	}
	r := makeHarmless(t, t.Request)
	word := t.RandomLetters(8)
	// A form whose words only say that it takes a text has to keep it: others answer
	// with something made of it, and change nothing.
	keeps := r.Method == http.MethodPost && !changes.MatchString(formWords(r))
	if keeps {
		r = fillTexts(r, word)
	}
	own, err := sendFromOwnSite(t, r, word, keeps)
	if own == nil || err != nil {
		return err
	}
	site := "https://" + t.RandomLetters(10) + ".example"
	forged := r.SetHeader("Origin", site).SetHeader("Referer", site+"/")
	foreign, err := t.Send(forged)
	if err != nil {
		return err
	}
	page := activescan.NewPage(own, word)
	if foreign.Status != own.Status || page.Similarity(activescan.NewPage(foreign, word)) < same {
		return nil
	}
	nobody, err := t.SendAnonymously(forged)
	if err != nil {
		return err
	}
	if nobody.Status == own.Status && page.Similarity(activescan.NewPage(nobody, word)) >= different {
		return nil // it is nobody's: there is nothing to borrow
	}
	t.RaiseAlert(activescan.Alert{Rule: rule, Request: forged, Responses: []*message.Response{own, foreign, nobody},
		ResponseNotes: []string{"from the site itself", "from another site", "without the session"},
		Proof: []string{"The form has no field with a random value, and a session by a cookie that browsers send " +
			"from other sites.",
			"The request with Origin and Referer of " + site + " gets the same response as one of the site itself.",
			"Without the session the response differs."}})
	return nil
}

// sendFromOwnSite sends the form as its own page would; nil: it is refused, or does not keep
// the word that it has to keep.
func sendFromOwnSite(t *activescan.OperationScan, r *message.Request, word string, keeps bool) (*message.Response,
	error) {
	for range attempts {
		own, err := t.Send(r.SetHeader("Origin", r.Base()))
		if err != nil || own.Status >= 400 {
			return nil, err
		}
		if !keeps {
			return own, nil
		}
		if kept, err := showsWord(t, r, word); err != nil || kept {
			return own, err
		}
	}
	return nil, nil
}

// attempts is how often a text is left: another form may take it away at once.
const attempts = 2

// How alike answers are that are the same, and that are not.
const (
	same      = 0.97
	different = 0.9
)

// fillTexts puts the word into the texts of a form.
func fillTexts(r *message.Request, word string) *message.Request {
	for _, p := range r.Points() {
		if (p.In == message.InForm || p.In == message.InMultipart) && (p.Type == "" || p.Type == "text") &&
			writes.MatchString(" "+p.Name) {
			r = r.With(p, word)
		}
	}
	return r
}

// showsWord reports whether the page with the form shows the word, when it is asked for
// again: then the form has stored it.
func showsWord(t *activescan.OperationScan, r *message.Request, word string) (bool, error) {
	page, err := message.Parse(r.Referer)
	if err != nil {
		return false, nil //nolint:nilerr // nobody knows where it stands
	}
	resp, err := t.SendFollowingRedirects(page)
	if err != nil {
		return false, err
	}
	return strings.Contains(resp.Text(), word), nil
}

// formWords are the path and the names of what a form sends.
func formWords(r *message.Request) string {
	out := r.Path
	for _, p := range r.Points() {
		if p.In == message.InQuery || p.In == message.InForm || p.In == message.InMultipart {
			out += " " + p.Name
		}
	}
	return out
}

// isForgeable reports whether the request is of a form that changes something, or takes a
// text, and whose fields another site can fill in.
func isForgeable(r *message.Request) bool {
	if r.Origin != "form" || len(crawl.Tokens(r)) > 0 {
		return false
	}
	passwords, known := countPasswords(r)
	if !known {
		return false
	}
	names := formWords(r)
	if asks.MatchString(names) {
		return false
	}
	switch {
	case passwords == 1: // a sign-in, or a confirmation
		return false
	case r.Method == http.MethodGet:
		return passwords > 1
	}
	return (r.Body.Kind == message.Form || r.Body.Kind == message.Multipart) && (changes.MatchString(names) ||
		writes.MatchString(names))
}

// countPasswords returns how many passwords a form takes, and whether another site can know
// all else that it takes: neither a random value nor the present password.
func countPasswords(r *message.Request) (passwords int, known bool) {
	for _, p := range r.Points() {
		if p.In != message.InQuery && p.In != message.InForm && p.In != message.InMultipart {
			continue
		}
		if current.MatchString(p.Name) || p.Type == "hidden" && looksRandom(p.Value) {
			return 0, false
		}
		if p.Type == "password" || secret.MatchString(p.Name) {
			passwords++
		}
	}
	return passwords, true
}

var secret = lazyregexp.New(`(?i)passw|(^|[-_])(pass|pwd)([-_]|$)`)

// looksRandom reports whether a value looks like one that nobody guesses.
func looksRandom(v string) bool {
	digits, letters := 0, 0
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		}
	}
	return len(v) >= 16 && digits >= 2 && letters >= 2 && !strings.ContainsAny(v, " /")
}

// makeHarmless gives fields of passwords different values, so that none is changed.
func makeHarmless(t *activescan.OperationScan, r *message.Request) *message.Request {
	for _, p := range r.Points() {
		if p.Type == "password" || secret.MatchString(p.Name) {
			r = r.With(p, t.RandomLetters(12))
		}
	}
	return r
}

// recordFirstCookies notes the cookies that the first page of the target sets for a new
// visitor, and that which it redirects to; false: the target has no such page.
func recordFirstCookies(t *activescan.OperationScan) (bool, error) {
	page, err := message.FromURL(t.Scope.Base())
	if err != nil {
		return false, nil
	}
	for range 2 {
		resp, err := t.SendAnonymously(page)
		if err != nil {
			return false, err
		}
		recordSameSite(t, resp)
		to := resp.Location()
		if to == nil {
			break
		}
		if page, err = message.FromURL(to); err != nil || t.Scope.Allows(page) != nil {
			break
		}
	}
	return true, nil
}

// isSentCrossSite reports whether the session is carried by a cookie that browsers send with
// requests from other sites.
func isSentCrossSite(t *activescan.OperationScan) (bool, error) {
	req, err := t.Request.HTTP(t.Context)
	if err != nil {
		return false, err
	}
	if err := t.As.Prepare(t.Context, req); err != nil {
		return false, err
	}
	if strings.HasPrefix(strings.ToLower(req.Header.Get("Authorization")), "bearer") {
		return false, nil
	}
	if !t.HasFact("cookies asked") { // those that were set before anybody looked
		t.RecordFact("cookies asked")
		if ok, err := recordFirstCookies(t); !ok || err != nil {
			return false, err
		}
	}
	session := false
	for _, c := range req.Cookies() {
		if !sessionName.MatchString(c.Name) && !looksRandom(c.Value) {
			continue
		}
		if t.HasFact("cookie strict "+c.Name) || t.HasFact("cookie lax "+c.Name) && t.Request.Method != http.MethodGet {
			return false, nil // one that is kept back is enough
		}
		session = true
	}
	return session, nil
}

var sessionName = lazyregexp.New(`(?i)sess|sid|auth|token|jwt|remember`)
