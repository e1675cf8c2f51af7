// Package jwt finds JSON Web Tokens (RFC 7519) that the target accepts although they are forged or
// expired. It examines the tokens that a session sends in its headers and cookies.
//
// The attacks, in this order: a changed claim under the old signature or none, the algorithm "none"
// (CVE-2015-2951), a guessed key, a public key used as an HMAC key (CVE-2016-10555), a key in the
// header (CVE-2018-0114), and a key identifier that leads to a known key. The first that succeeds
// ends the examination of the token.
//
// The proof is a page that the user gets and nobody else: a forged token gets it too, twice, while
// a text that is no token does not. Forged tokens get a random claim that no application reads, so
// the request does the same as the user's own.
//
// Budget: maxPages pages until one is found, then some twenty requests per token. Short keys are
// tried at the end of the scan, without requests.
package jwt

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// Rule is the check. Slow tries short keys at the end of the scan, and whether tokens that have
// expired by then are still accepted.
var (
	Rule = &activescan.Rule{ID: "jwt", FindingRules: Rules, ScanSite: func(t *activescan.OperationScan) error {
		return scanTokens(t, false)
	}}
	Slow = &activescan.Rule{ID: "jwt", FindingRules: []*finding.Rule{weakKey, expired}, Slow: true,
		ScanSite: func(t *activescan.OperationScan) error {
			return scanTokens(t, true)
		}}
)

// scanTokens examines the tokens of the scan's own session; late says that it is the end of the
// scan.
func scanTokens(t *activescan.OperationScan, late bool) error {
	if t.As == nil {
		return nil
	}
	var pages []*message.Request
	for _, e := range t.Sitemap.Entries() {
		pages = append(pages, e.Request)
	}
	return forEachToken(t, t.As, pages, late)
}

// Examine examines the tokens of another session than the scan's own, such as that of an account
// which the comparison of users has registered. pages are the requests that a token may be tried
// with.
func Examine(t *activescan.OperationScan, as traffic.Session, pages []*message.Request) error {
	return forEachToken(t, as, pages, false)
}

// forEachToken examines each token that the session sends.
func forEachToken(t *activescan.OperationScan, as traffic.Session, pages []*message.Request, late bool) error {
	// A request that is never sent: the session adds its credentials to it, and these are read.
	req, err := http.NewRequestWithContext(t.Context, http.MethodGet, t.Request.Address(), nil)
	if err != nil {
		return nil
	}
	if err := as.Prepare(t.Context, req); err != nil {
		return err
	}
	// Sorted, so that two scans examine tokens in the same order.
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		for _, text := range form.FindAllString(strings.Join(req.Header[name], " "), 4) {
			found := parseToken(text)
			if found == nil || found.algorithm() == "" {
				continue
			}
			e := &examination{OperationScan: t, as: as, place: name, token: found, at: time.Now()}
			e.key, e.tried = found.findWeakKey(commonKeys(e.keyWords()))
			if late {
				if e.key == "" {
					e.key, e.tried = found.findWeakKey(shortKeys)
				} else { // it was told at once
					e.key = ""
				}
				// There is nothing that the first examination has not reported.
				if e.key == "" && !e.isExpired() {
					continue
				}
			}
			if err := e.findProtectedPage(pages); err != nil {
				return err
			}
			next := e.tryForgeries
			if late {
				next = e.reportWeakKey
			}
			if err := next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// An examination is that of one token. forEachToken sets the fields up to tried, findProtectedPage
// the rest.
type examination struct {
	*activescan.OperationScan
	// The session whose token it is; only the token is replaced in its requests.
	as traffic.Session
	// The header that contains the token: "Authorization", "Cookie".
	place string
	// The token as the target has issued it.
	token *token
	// The time of the examination, against which expiry is measured.
	at time.Time
	// The key that signs the token; empty: it was not guessed.
	key string
	// How many keys were tried, the right one included.
	tried int

	// A page that only the user gets; nil: none was found, so no forgery can be proven.
	page *message.Request
	// The response of page to the user's token.
	own *message.Response
	// The responses of page without a token, and with a text that is no token.
	refused []*message.Response
	// A response to the user, of whatever page; nil: no page responds to him.
	any *message.Response
}

// sendToken requests a page with another text in place of the token.
func (e *examination) sendToken(page *message.Request, text string) (*message.Response, error) {
	e.Sitemap.CountResponses(page, 1)
	return e.Client.Send(e.Context, page, activescan.ForgedSession{Session: e.as, Old: e.token.text, New: text})
}

const (
	// maxPages bounds the pages that are tried until one is protected.
	maxPages = 20
	// alike is the similarity from which on two pages are the same. The same page has another time
	// or another CSRF token each time.
	alike = 0.95
	// other is the similarity up to which two pages differ. Between the two nothing is concluded.
	other = 0.8
)

// personal matches addresses of pages that differ for each user, such as /api/me. They are tried
// first.
var personal = lazyregexp.New(`(?i)/(me|self|whoami|profile|account|userinfo|current[-_]?user|dashboard|settings|orders|user)([/.?]|$)`)

// findProtectedPage searches for a page that the user gets and nobody else, first among those whose
// address says that they are personal.
func (e *examination) findProtectedPage(pages []*message.Request) error {
	var list []*message.Request
	for _, first := range []bool{true, false} {
		for _, r := range pages {
			if r.Method == http.MethodGet && sitemap.ForbiddenReason(r) == "" &&
				personal.MatchString(r.Address()) == first {
				list = append(list, r)
			}
		}
	}
	for _, r := range list[:min(len(list), maxPages)] {
		own, err := e.Client.Send(e.Context, r, activescan.ForgedSession{Session: e.as, Old: e.token.text,
			New: e.token.text})
		if err != nil {
			if isFinal(err) {
				return err
			}
			continue
		}
		// An empty response cannot be told from an empty refusal.
		if own.Status >= 300 || len(own.Body) == 0 {
			continue
		}
		e.any = own
		// A profile below safe sends no forged token. A guessed key is reported all the same.
		if !e.Target.Profile.Allows(scan.Safe) {
			return nil // what follows sends what no user sends
		}
		found, err := e.requiresToken(r, own)
		if err != nil && isFinal(err) {
			return err
		}
		if found && err == nil {
			e.page, e.own = r, own
			return nil
		}
	}
	return nil
}

// isFinal reports whether nothing more can be sent with the token. Invalid means that the token
// cannot be replaced in the request of the session.
func isFinal(err error) bool { return traffic.IsFinal(err) || errs.Is(err, errs.Invalid) }

// requiresToken reports whether the page is shown for the token alone. Without a token and with a
// text that is no token another page comes; with the token again the same one, since a page that
// changes by itself would prove anything.
func (e *examination) requiresToken(r *message.Request, own *message.Response) (bool, error) {
	page := activescan.NewPage(own)
	nobody, err := e.Client.Send(e.Context, r, nil)
	if err != nil || page.Similarity(activescan.NewPage(nobody)) > other {
		return false, err
	}
	garbage, err := e.sendToken(r, e.RandomLetters(30))
	if err != nil || page.Similarity(activescan.NewPage(garbage)) > other {
		return false, err
	}
	again, err := e.sendToken(r, e.token.text)
	if err != nil || page.Similarity(activescan.NewPage(again)) < alike {
		return false, err
	}
	e.refused = []*message.Response{nobody, garbage}
	return true, nil
}

// isAccepted requests the page with a token, twice, and returns the last response if both are the
// user's page; else nil.
func (e *examination) isAccepted(t *token) (*message.Response, error) {
	var resp *message.Response
	for range 2 {
		var err error
		if resp, err = e.sendToken(e.page, t.text); err != nil {
			return nil, err
		}
		if activescan.NewPage(e.own).Similarity(activescan.NewPage(resp)) < alike {
			return nil, nil
		}
	}
	return resp, nil
}

// randomClaim returns a claim that no token has. It changes what is signed, and nothing else.
func (e *examination) randomClaim() map[string]any { return map[string]any{"mx": e.RandomLetters(8)} }

// A forgery is a token that the target should refuse.
type forgery struct {
	*token
	// how continues "A token …" in the report: "with another claim and without a signature".
	how string
}

// tryForgeries reports what the token itself shows, and tries forged tokens until one is accepted.
func (e *examination) tryForgeries() error {
	if e.any == nil {
		return nil
	}
	// A guessed key needs no page as a proof: it makes the same signature.
	if e.page == nil {
		_, err := e.signWithGuessedKey()
		return err
	}
	if _, ends := e.token.expiryTime(); !ends {
		e.raiseAlert(noExpiry, e.own, "", []string{fmt.Sprintf("The token in %s has the claims %s, and "+
			"no exp.", e.place, strings.Join(slices.Sorted(maps.Keys(e.token.claims)), ", "))})
	}
	for _, step := range []func() (bool, error){e.tryUnsigned, e.signWithGuessedKey, e.tryAlgorithmConfusion,
		e.tryKeyHeaders} {
		if done, err := step(); done || err != nil {
			return err
		}
	}
	return e.tryExpired()
}

// tryTokens tries forgeries, and reports the first that is accepted: the others would have the same
// cause.
func (e *examination) tryTokens(list []forgery) (bool, error) {
	for _, f := range list {
		resp, err := e.isAccepted(f.token)
		if err != nil {
			return false, err
		}
		if resp == nil {
			continue
		}
		e.raiseAlert(unverified, resp, f.how, []string{"A token " + f.how + " gives the page of the user, twice."})
		return true, nil
	}
	return false, nil
}

// tryUnsigned tries tokens without a valid signature. A library that only decodes accepts the first
// two. The algorithm "none" (RFC 7519, section 6) is often refused by a comparison that is
// sensitive to case, so other spellings are tried, and an empty name.
func (e *examination) tryUnsigned() (bool, error) {
	changed := e.token.withClaims(nil, e.randomClaim())
	list := []forgery{
		{changed.withSignature(e.token.signature), "with another claim and the signature of the old ones"},
		{changed, "with another claim and without a signature"},
	}
	for _, name := range []string{"none", "None", "NONE", "nOnE", ""} {
		c := e.token.withClaims(map[string]any{"alg": name}, e.randomClaim())
		list = append(list, forgery{c, fmt.Sprintf("with another claim, the algorithm %q and no signature", name)})
	}
	return e.tryTokens(list)
}

// signWithGuessedKey reports a guessed key. Where a page is known, it also signs a changed token
// with the key, and an expired one.
func (e *examination) signWithGuessedKey() (bool, error) {
	if e.key == "" {
		return false, nil
	}
	tell := func(resp *message.Response, proof ...string) {
		e.raiseAlert(weakKey, resp, "", append([]string{fmt.Sprintf("The token in %s is signed with %s, and the "+
			"signature "+
			"is that of a key of %d characters, the %dth that was tested.",
			e.place, e.token.algorithm(), len(e.key), e.tried)}, proof...))
	}
	if e.page == nil {
		tell(e.any)
		return true, nil
	}
	// A changed token can be refused although the key is right: the server may keep a list of its
	// tokens.
	resp, err := e.isAccepted(e.token.withClaims(nil, e.randomClaim()).signHMAC([]byte(e.key)))
	if err != nil {
		return false, err
	}
	if resp == nil {
		tell(e.own)
		return true, nil
	}
	tell(resp, "A token with another claim that was signed with this key gives the page of the user, twice.")
	if at, ends := e.token.expiryTime(); ends && at.After(e.at) {
		past := json.Number(fmt.Sprint(e.at.Add(-48 * time.Hour).Unix()))
		claims := map[string]any{"exp": past}
		// A token that expires before it was issued would be refused for that.
		if _, is := e.token.claims["iat"]; is {
			claims["iat"] = json.Number(fmt.Sprint(e.at.Add(-72 * time.Hour).Unix()))
		}
		old, err := e.isAccepted(e.token.withClaims(nil, claims).signHMAC([]byte(e.key)))
		if old == nil || err != nil {
			return true, err
		}
		e.raiseAlert(expired, old, "", []string{"A token that was signed with the key that was guessed, and ended " +
			"two days " +
			"ago, gives the page of the user, twice."})
	}
	return true, nil
}

// keyWords returns words of the target's address and of the token's issuer and audience, with the
// endings that keys often have: "shop.example" gives "shop", "shopsecret", "shop-secret".
func (e *examination) keyWords() []string {
	var out []string
	for _, s := range []string{e.Scope.Base().Hostname(), e.Scope.Base().Path, fmt.Sprint(e.token.claims["iss"]),
		fmt.Sprint(e.token.claims["aud"])} {
		for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("./:-_ []", c) }) {
			// Some sixty, because commonKeys makes more than fifty spellings of each.
			if len(word) > 2 && len(word) < 40 && len(out) < 60 {
				out = append(out, word, word+"secret", word+"-secret", word+"_secret", word+"key", word+"123")
			}
		}
	}
	return out
}

// sets are the paths at which targets publish their keys as a JWK set (RFC 7517, section 5), below
// their root. To add a row, add the path that a framework uses by default.
var sets = []string{"/.well-known/jwks.json", "/jwks.json", "/.well-known/openid-configuration/jwks", "/oauth2/jwks",
	"/oauth/jwks", "/.well-known/keys"}

// tryAlgorithmConfusion signs with HS256 and the public key as the shared key. A library that takes
// the algorithm from the header, and one key for all algorithms, verifies that signature.
func (e *examination) tryAlgorithmConfusion() (bool, error) {
	// Tokens with a shared key have no public one.
	if a := e.token.algorithm(); !strings.HasPrefix(a, "RS") && !strings.HasPrefix(a, "PS") &&
		!strings.HasPrefix(a, "ES") {
		return false, nil
	}
	for _, path := range sets {
		r := e.Request.Clone()
		r.Path, r.Query, r.Template = path, nil, ""
		if e.Scope.Allows(r) != nil {
			continue
		}
		resp, err := e.SendAnonymously(r)
		if err != nil {
			return false, err
		}
		if resp.Status != http.StatusOK {
			continue
		}
		var list []forgery
		for _, key := range readJWKS(resp.Body) {
			list = append(list,
				forgery{e.token.withClaims(map[string]any{"alg": "HS256"}, e.randomClaim()).signHMAC(key),
					"with another claim that was signed by HS256, with the public key of " + path +
						" as if it were a secret,"})
		}
		if len(list) > 0 {
			return e.tryTokens(list)
		}
	}
	return false, nil
}

// tryKeyHeaders tries tokens whose header says which key verifies them: a key of the scan in the
// member jwk, and a key identifier (kid, RFC 7515, section 4.1.4) that the target uses as a file
// name or in SQL.
func (e *examination) tryKeyHeaders() (bool, error) {
	var list []forgery
	if own := e.token.withClaims(nil, e.randomClaim()).signWithOwnKey(); own != nil {
		list = append(list, forgery{own, "with another claim, signed with a key of the scan, which its header " +
			"contains,"})
	}
	// Path traversal and SQL in a header are more than the profile safe allows.
	if _, has := e.token.header["kid"].(string); has && e.Target.Profile.Allows(scan.Standard) {
		sign := func(kid, key string) *token {
			return e.token.withClaims(map[string]any{"alg": "HS256", "kid": kid}, e.randomClaim()).signHMAC([]byte(key))
		}
		list = append(list, forgery{sign(strings.Repeat("../", 12)+"dev/null", ""), "with another claim whose header " +
			"names the empty file /dev/null as its key, and that was signed with an empty key,"})
		// The statement returns this text as the key, in both kinds of SQL comment.
		key := e.RandomLetters(12)
		for _, end := range []string{"-- ", "#"} {
			list = append(list, forgery{sign(e.RandomLetters(8)+"' UNION SELECT '"+key+"' "+end, key),
				"with another claim " +
					"whose header names its key by a statement of SQL that gives one of ours, and that was signed " +
					"with it,"})
		}
	}
	return e.tryTokens(list)
}

// isExpired reports whether the token has expired, by more than clocks may differ.
func (e *examination) isExpired() bool {
	at, ends := e.token.expiryTime()
	return ends && e.at.After(at.Add(skew))
}

// reportWeakKey is the examination at the end of the scan: it reports a short key, and whether an
// expired token is accepted.
func (e *examination) reportWeakKey() error {
	if e.any == nil {
		return nil
	}
	if _, err := e.signWithGuessedKey(); err != nil {
		return err
	}
	return e.tryExpired()
}

// tryExpired reports an expired token that is accepted. A server must refuse it (RFC 7519, section
// 4.1.4).
func (e *examination) tryExpired() error {
	if e.page == nil || !e.isExpired() {
		return nil
	}
	at, _ := e.token.expiryTime()
	resp, err := e.isAccepted(e.token)
	if resp == nil || err != nil {
		return err
	}
	e.raiseAlert(expired, resp, "", []string{fmt.Sprintf("The token in %s ended %s before this request, and gives "+
		"the page "+
		"of the user, twice.", e.place, e.at.Sub(at).Round(time.Second))})
	return nil
}

// skew is by how much clocks may differ. Servers allow about a minute of leeway.
const skew = 90 * time.Second
