// Package jwt finds JSON Web Tokens (RFC 7519) that the target believes although nobody
// who may has signed them, or although they are over. It looks at the tokens that a
// session sends in its headers and cookies. The proof is a page that the user gets and
// nobody else: a forged token gets it too, a text that is no token does not.
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

// Rule is the check. Slow tries short keys at the end of the scan, and whether tokens
// that are over by then still count.
var (
	Rule = &activescan.Rule{ID: "jwt", FindingRules: Rules, ScanSite: func(t *activescan.OperationScan) error {
		return scanTokens(t, false)
	}}
	Slow = &activescan.Rule{ID: "jwt", FindingRules: []*finding.Rule{weakKey, expired}, Slow: true,
		ScanSite: func(t *activescan.OperationScan) error {
			return scanTokens(t, true)
		}}
)

// scanTokens looks at the tokens of the run's own session, or late once more.
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

// Examine looks at the tokens of another session than the run's own, with the requests
// that it may be tried on.
func Examine(t *activescan.OperationScan, as traffic.Session, pages []*message.Request) error {
	return forEachToken(t, as, pages, false)
}

// forEachToken examines each token that the session sends.
func forEachToken(t *activescan.OperationScan, as traffic.Session, pages []*message.Request, late bool) error {
	req, err := http.NewRequestWithContext(t.Context, http.MethodGet, t.Request.Address(), nil)
	if err != nil {
		return nil
	}
	if err := as.Prepare(t.Context, req); err != nil {
		return err
	}
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

// An examination is that of one token.
type examination struct {
	*activescan.OperationScan
	as    traffic.Session
	place string // the header that holds it
	token *token
	at    time.Time
	key   string // that it is signed with; empty: it was not guessed
	tried int    // keys

	page    *message.Request // that only the user gets; nil: none was found
	own     *message.Response
	refused []*message.Response // for nobody, and with a text that is no token
	any     *message.Response   // an answer to the user, of whatever page
}

// sendToken asks for a page with another token.
func (e *examination) sendToken(page *message.Request, text string) (*message.Response, error) {
	e.Sitemap.CountResponses(page, 1)
	return e.Client.Send(e.Context, page, activescan.ForgedSession{Session: e.as, Old: e.token.text, New: text})
}

const (
	maxPages = 20   // that are tried
	alike    = 0.95 // pages that are the same
	other    = 0.8  // at most, of a page that is not
)

// personal are words of pages that everybody has one of his own of.
var personal = lazyregexp.New(`(?i)/(me|self|whoami|profile|account|userinfo|current[-_]?user|dashboard|settings|orders|user)([/.?]|$)`)

// findProtectedPage looks for a page that the user gets and nobody else.
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
		if own.Status >= 300 || len(own.Body) == 0 {
			continue
		}
		e.any = own
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

// isFinal reports whether nothing more can be sent with the token.
func isFinal(err error) bool { return traffic.IsFinal(err) || errs.Is(err, errs.Invalid) }

// requiresToken reports whether the page is there for the token alone.
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

// isAccepted asks for the page with a token, twice, and returns the answer when it is the
// user's page both times; else nil.
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

// randomClaim is a claim that no token has.
func (e *examination) randomClaim() map[string]any { return map[string]any{"mx": e.RandomLetters(8)} }

// A forgery is a token that the target should not believe.
type forgery struct {
	*token
	how string // "whose claims were changed and whose signature was left"
}

// tryForgeries looks at what the token says, and tries forged ones.
func (e *examination) tryForgeries() error {
	if e.any == nil {
		return nil
	}
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

// tryTokens tries forgeries, and tells of the first that is accepted.
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

// tryUnsigned tries tokens without a signature of their own.
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

// signWithGuessedKey signs with the key that was guessed.
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

// keyWords are names of the target, which keys are often made of.
func (e *examination) keyWords() []string {
	var out []string
	for _, s := range []string{e.Scope.Base().Hostname(), e.Scope.Base().Path, fmt.Sprint(e.token.claims["iss"]),
		fmt.Sprint(e.token.claims["aud"])} {
		for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("./:-_ []", c) }) {
			if len(word) > 2 && len(word) < 40 && len(out) < 60 {
				out = append(out, word, word+"secret", word+"-secret", word+"_secret", word+"key", word+"123")
			}
		}
	}
	return out
}

// sets are where targets publish their keys, below their root.
var sets = []string{"/.well-known/jwks.json", "/jwks.json", "/.well-known/openid-configuration/jwks", "/oauth2/jwks",
	"/oauth/jwks", "/.well-known/keys"}

// tryAlgorithmConfusion signs with a public key as if it were a shared one.
func (e *examination) tryAlgorithmConfusion() (bool, error) {
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

// tryKeyHeaders tries tokens that say themselves which key they are signed with.
func (e *examination) tryKeyHeaders() (bool, error) {
	var list []forgery
	if own := e.token.withClaims(nil, e.randomClaim()).signWithOwnKey(); own != nil {
		list = append(list, forgery{own, "with another claim, signed with a key of the scan, which its header " +
			"contains,"})
	}
	if _, has := e.token.header["kid"].(string); has && e.Target.Profile.Allows(scan.Standard) {
		sign := func(kid, key string) *token {
			return e.token.withClaims(map[string]any{"alg": "HS256", "kid": kid}, e.randomClaim()).signHMAC([]byte(key))
		}
		list = append(list, forgery{sign(strings.Repeat("../", 12)+"dev/null", ""), "with another claim whose header " +
			"names the empty file /dev/null as its key, and that was signed with an empty key,"})
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

// isExpired reports whether the token has ended.
func (e *examination) isExpired() bool {
	at, ends := e.token.expiryTime()
	return ends && e.at.After(at.Add(skew))
}

// reportWeakKey tells of a short key, and tries whether the token counts after its end.
func (e *examination) reportWeakKey() error {
	if e.any == nil {
		return nil
	}
	if _, err := e.signWithGuessedKey(); err != nil {
		return err
	}
	return e.tryExpired()
}

// tryExpired tries whether the token counts after its end.
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

// skew is by how much clocks may differ.
const skew = 90 * time.Second
