package session

import (
	"encoding/json"
	"net/http"
	"net/url"

	"merlon/internal/engine/dast/message"
)

// This file notes what a session is given, so that no report shows it.

// recordCookies notes the cookies of an answer. One whose value the request has sent itself is no
// credential: it may be an attack, which the report has to show. mu is held.
func (s *Session) recordCookies(r *message.Request, set []*http.Cookie) {
	if s.o.Secrets == nil || !s.signsIn() && s.identity.Name == "" {
		return
	}
	sent := map[string]bool{}
	for _, p := range r.Points() {
		sent[p.Value] = true
	}
	for _, c := range set {
		plain, err := url.QueryUnescape(c.Value)
		if sent[c.Value] || err == nil && sent[plain] {
			continue
		}
		s.o.Secrets.AddObtained(c.Name, c.Value)
		if err == nil && plain != c.Value {
			s.o.Secrets.AddObtained(c.Name, plain)
		}
	}
}

// recordCredentials notes the credentials of an answer to a sign-in: tokens for the application,
// for a later sign-in, and of the user.
func (s *Session) recordCredentials(body []byte) {
	var root any
	if json.Unmarshal(body, &root) == nil {
		walkStrings(root, "", 0, s.o.Secrets.AddObtained)
	}
}

// recordScriptStorage notes what a script has kept: a text, or JSON.
func (s *Session) recordScriptStorage(name, value string) {
	s.o.Secrets.AddObtained(name, value)
	s.recordCredentials([]byte(value))
}
