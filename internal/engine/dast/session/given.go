package session

import (
	"encoding/json"
	"net/http"
	"net/url"

	"merlon/internal/engine/dast/message"
)

// This file notes what a session is given, so that no report shows it.

// recordCookies adds the cookies of a response to the secrets. One whose value the request has sent
// itself is no credential: it may be an attack, which the report has to show. mu is held.
func (s *Session) recordCookies(r *message.Request, set []*http.Cookie) {
	// A scan without an identity has nothing to hide: its cookies are those of any visitor.
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
		// Pages and scripts show the decoded value.
		if err == nil && plain != c.Value {
			s.o.Secrets.AddObtained(c.Name, plain)
		}
	}
}

// recordCredentials adds the strings of a JSON response to a sign-in to the secrets: the access
// token, the refresh token, personal data of the user. AddObtained decides by name and value which
// of them are credentials.
func (s *Session) recordCredentials(body []byte) {
	var root any
	if json.Unmarshal(body, &root) == nil {
		walkStrings(root, "", 0, s.o.Secrets.AddObtained)
	}
}

// recordScriptStorage adds an item of localStorage or sessionStorage to the secrets. Applications
// keep a token there, or JSON that contains one.
func (s *Session) recordScriptStorage(name, value string) {
	s.o.Secrets.AddObtained(name, value)
	s.recordCredentials([]byte(value))
}
