package session

import (
	"net/http"

	"merlon/internal/engine/dast/message"
)

// This file sends what the application has handed out to be shown again, such as a key of
// its API.

// A Credential is a value with the place that it is sent in.
type Credential struct {
	// In is "header", "query" or "cookie", as in the security schemes of OpenAPI.
	In string
	// Name is that of the header, the parameter or the cookie.
	Name string
	// Value is sent as it is; encoding for the query is done by addTo.
	Value string
}

// AddCredential adds a credential that the application has issued to the identity. It is sent to
// the target alone, as all others, and stays when the identity signs in again.
func (s *Session) AddCredential(c Credential) {
	s.o.Secrets.Add(c.Name, c.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handed = append(s.handed, c)
}

// SendsCredential reports whether the session sets the header, the cookie or the parameter by
// itself. The base address stands for all of the target: cookies of other paths do not count.
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

// isPresentIn reports whether the request already has a header, a parameter or a cookie of the
// name.
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

// addTo adds the credential to a request that has no value of its own there. A value of its own may
// be an attack, and a second one beside it would hide the effect.
func (c Credential) addTo(req *http.Request) {
	if c.isPresentIn(req) {
		return
	}
	switch pair := []message.Param{{Name: c.Name, Value: c.Value}}; c.In {
	case "query":
		// The address is shared with the caller's request, so a copy is changed.
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

// ApplyTo returns a copy of the request with the credential. A header of the name is replaced;
// query and cookies get it at the end.
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
