package operations

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file uses keys that the API hands out: an operation that wants one is refused until
// it is sent where the description, or the refusal, says.

// A key is a text of a response whose name says that it is a credential.
type key struct{ name, value string }

// A place is where a credential is sent: in "header", "query" or "cookie", under a name, after a
// prefix such as "Bearer ".
type place struct{ in, name, prefix string }

const (
	// maxKeys bounds the keys that are remembered.
	maxKeys = 20
	// maxKeyTries bounds the requests of a scan that find out which key opens what.
	maxKeyTries = 12
	// minKey and maxKey bound the length in bytes; shorter texts are placeholders such as "none".
	minKey = 8
	maxKey = 4096
)

// keyNames matches normalized names of members that contain a key or a token: apiKey, access_token,
// newClientSecretKey. Names for another use do not match: refresh_token, csrfToken, nextPageToken.
var keyNames = lazyregexp.New(`^(x|my|new|your)?(api|app|application|access|auth|bearer|client|consumer|developer|integration|partner|personal|secret|service|user|session|id)*(key|token|jwt)(value)?$`)

// learnKeys remembers the keys of a successful response. Keys within a list of several objects may
// belong to others and are left alone.
func (e *examination) learnKeys(resp *message.Response) {
	if resp.Status < 300 && resp.IsData() {
		looked := 0
		e.walkKeys(message.DecodeJSON(resp.Body), 0, &looked)
	}
}

// walkKeys goes through an answer and collects what is a key by its name and its form.
func (e *examination) walkKeys(v any, depth int, looked *int) {
	if *looked++; depth > maxDepth || *looked > maxLooked || len(e.keys) >= maxKeys {
		return
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 1 {
			e.walkKeys(v[0], depth+1, looked)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, is := v[name].(string)
			switch {
			case !is:
				e.walkKeys(v[name], depth+1, looked)
			case isKey(name, text) && !slices.ContainsFunc(e.keys, func(k key) bool { return k.value == text }):
				e.keys = append(e.keys, key{name, text})
			}
		}
	}
}

// isKey reports whether a member of a document is by its name and form a key.
func isKey(name, text string) bool {
	return len(text) >= minKey && len(text) <= maxKey && !strings.ContainsAny(text, " \t\r\n") &&
		keyNames.MatchString(normalizeName(name))
}

// named are names of headers and parameters for keys in the text of a refusal.
var (
	// namedHeader matches headers that the text of a refusal names: "missing X-Api-Key header".
	namedHeader = lazyregexp.New(`(?i)\bX-(?:[a-z0-9]+-)*(?:key|token)\b|\b(?:[a-z0-9]+-)*(?:api-?key|access-token|auth-token)\b`)
	// namedQuery matches parameters that it names: "query parameter 'api_key' required", "?token=".
	namedQuery = lazyregexp.New(`(?i)query[\w ]{0,20}[\s:"'` + "`" +
		`=]+([a-z_-]*(?:key|token))\b|\?([a-z_-]*(?:key|token))=`)
)

// bearer is where a bearer token is sent (RFC 6750, section 2.1).
var bearer = place{"header", "Authorization", "Bearer "}

// schemePlace returns where a security scheme of OpenAPI sends its credential; false: no key can be
// one, as with HTTP Basic.
func schemePlace(s apispec.SecurityScheme) (place, bool) {
	switch s.Type {
	case "apiKey":
		return place{in: s.In, name: s.Name}, s.Name != "" &&
			slices.Contains([]string{"header", "query", "cookie"}, s.In)
	case "http":
		return bearer, strings.EqualFold(s.Scheme, "bearer")
	case "oauth2", "openIdConnect":
		return bearer, true
	}
	return place{}, false
}

// credentialPlaces returns where a refused operation expects a credential: the security schemes of
// its description, a header that the description names like a key, the challenge WWW-Authenticate
// (RFC 9110, section 11.6.1), and what the text of the refusal says.
func (c *call) credentialPlaces() []place {
	var out []place
	add := func(p place) {
		if !slices.ContainsFunc(out, func(q place) bool { return q.in == p.in && strings.EqualFold(q.name, p.name) }) {
			out = append(out, p)
		}
	}
	for _, r := range c.operation.Security {
		for _, need := range r {
			if p, ok := schemePlace(c.schemes[need.Scheme]); ok {
				add(p)
			}
		}
	}
	for _, p := range c.operation.Parameters {
		if p.In == "header" && keyNames.MatchString(normalizeName(p.Name)) {
			add(place{in: p.In, name: p.Name})
		}
	}
	challenge := c.answer.Header.Get("WWW-Authenticate")
	if scheme, _, _ := strings.Cut(challenge, " "); strings.EqualFold(scheme, "bearer") {
		add(bearer)
	}
	text := challenge + "\n" + c.answer.Text()[:min(len(c.answer.Text()), maxKey)]
	for _, name := range namedHeader.FindAllString(text, 3) {
		add(place{in: "header", name: name})
	}
	for _, m := range namedQuery.FindAllStringSubmatch(text, 3) {
		add(place{in: "query", name: cmp.Or(m[1], m[2])})
	}
	return out
}

// lacksCredential reports whether an operation was refused because a credential is missing. Some
// servers use 403 for that.
func lacksCredential(c *call) bool {
	return c.answer != nil && c.operation.Call == nil && (c.answer.Status == http.StatusUnauthorized ||
		c.answer.Status == http.StatusForbidden)
}

// useKeys sends the keys that responses have handed out where refused operations want one.
// One that is accepted belongs to the session from then on, and what was refused is asked
// again. Nothing is sent where nothing was refused or no key was handed out.
func (e *examination) useKeys(ctx context.Context, order []*call) error {
	if len(e.keys) == 0 || !e.Target.Profile.Allows(scan.Safe) {
		return nil
	}
	trial := keyTrial{tried: map[string]int{}}
	for _, c := range order {
		if !lacksCredential(c) {
			continue
		}
		for _, p := range c.credentialPlaces() {
			if err := e.tryKeys(ctx, &trial, c, p); err != nil {
				return err
			}
		}
	}
	if len(e.opens) == 0 {
		return nil
	}
	for _, c := range order {
		if lacksCredential(c) {
			if err := e.exploreOperation(ctx, c); traffic.IsFinal(err) {
				return err
			}
		}
	}
	return nil
}

// A keyTrial counts the requests that find out which key opens what. One operation may
// refuse a good key for want of rights, so that each is tried at two.
type keyTrial struct {
	tried map[string]int
	tries int
}

// tryKeys tries the known keys at one place of an operation until one opens it.
func (e *examination) tryKeys(ctx context.Context, trial *keyTrial, c *call, p place) error {
	for _, k := range e.keys {
		id := p.in + " " + strings.ToLower(p.name) + " " + k.value
		if trial.tries == maxKeyTries || trial.tried[id] == 2 || e.As.SendsCredential(p.in, p.name) {
			continue
		}
		trial.tried[id]++
		trial.tries++
		if opened, err := e.tryKey(ctx, c, p, k); err != nil || opened {
			return err
		}
	}
	return nil
}

// tryKey asks an operation that was refused with a key, and gives the key to the session
// when it is refused no more.
func (e *examination) tryKey(ctx context.Context, c *call, p place, k key) (bool, error) {
	e.Secrets.Add(k.name, k.value)
	credential := session.Credential{In: p.in, Name: p.name, Value: p.prefix + k.value}
	e.Secrets.Add(p.name, credential.Value)
	resp, err := e.Client.Send(ctx, credential.ApplyTo(c.request), e.As)
	c.seen.Requests++
	if err != nil {
		if traffic.IsFinal(err) {
			return false, err
		}
		return false, nil
	}
	// 404 or 400 means that the key was accepted and the request was not.
	if resp.Status == http.StatusUnauthorized || resp.Status == http.StatusForbidden || resp.Status >= 500 ||
		resp.Status == http.StatusTooManyRequests {
		return false, nil
	}
	e.As.AddCredential(credential)
	e.opens = append(e.opens, p)
	e.Progress(40, "a key that the API handed out ("+k.name+") opens operations that want "+p.name)
	return true, nil
}
