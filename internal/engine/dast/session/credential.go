package session

import (
	"net/http"

	"merlon/internal/engine/dast/message"
)

// This file sends what the application has handed out to be shown again, such as a key of
// its API.

// A Credential is a value with the place that it is sent in.
type Credential struct {
	In    string // "header", "query", "cookie"
	Name  string
	Value string
}

// AddCredential adds a credential that the application has handed out to the identity. It goes where
// those of the identity go, to the target alone, and stays when the identity signs in again.
func (s *Session) AddCredential(c Credential) {
	s.o.Secrets.Add(c.Name, c.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handed = append(s.handed, c)
}

// SendsCredential reports whether the session puts something into a header, a cookie or a parameter
// by itself.
func (s *Session) SendsCredential(in, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	probe, err := http.NewRequest(http.MethodGet, s.o.Scope.Base().String(), nil)
	if err != nil {
		return true
	}
	for _, h := range s.header {
		probe.Header.Set(h.Name, h.Value)
	}
	for _, c := range s.jar.Cookies(jarURL(probe.URL)) {
		probe.AddCookie(c)
	}
	for _, c := range s.handed {
		c.addTo(probe)
	}
	return (Credential{In: in, Name: name}).isPresentIn(probe)
}

// isPresentIn reports whether the request has something in the place of the credential.
func (c Credential) isPresentIn(req *http.Request) bool {
	switch c.In {
	case "query":
		return req.URL.Query().Has(c.Name)
	case "cookie":
		_, err := req.Cookie(c.Name)
		return err == nil
	}
	return req.Header.Get(c.Name) != ""
}

// addTo puts the credential into a request that says nothing in its place.
func (c Credential) addTo(req *http.Request) {
	if c.isPresentIn(req) {
		return
	}
	switch pair := []message.Param{{Name: c.Name, Value: c.Value}}; c.In {
	case "query":
		u := *req.URL
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += message.EncodeQuery(pair)
		req.URL = &u
	case "cookie":
		text := message.CookieHeader(pair)
		if said := req.Header.Get("Cookie"); said != "" {
			text = said + "; " + text
		}
		req.Header.Set("Cookie", text)
	default:
		req.Header.Set(c.Name, c.Value)
	}
}

// ApplyTo returns the request with the credential, in the place of what it says there.
func (c Credential) ApplyTo(r *message.Request) *message.Request {
	if c.In == "header" {
		return r.SetHeader(c.Name, c.Value)
	}
	out := r.Clone()
	list := &out.Query
	if c.In == "cookie" {
		list = &out.Cookies
	}
	*list = append(*list, message.Param{Name: c.Name, Value: c.Value})
	return out
}
