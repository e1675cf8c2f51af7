package authz_test

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

const clinicDescription = `openapi: 3.0.3
info: {title: Clinic, version: "1"}
security: [{bearer: []}]
paths:
  /register:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password, email], properties: {username: {type: string}, email: {type: string}, password: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /login:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /profile: {get: {responses: {"200": {description: OK}}}}
  /records/mine: {get: {responses: {"200": {description: OK}}}}
  /admin/figures: {get: {responses: {"200": {description: OK}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
`

// A clinic checks requests in front of what answers them. read is the path of a request as
// the check reads it, whom who asks besides his token.
type clinic struct {
	read  func(r *http.Request) string
	whom  func(r *http.Request) string
	words map[string]string
	mails map[string]string

	mu sync.Mutex
}

func (c *clinic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit-Limit", "5")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	var in struct{ Username, Email, Password string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	me := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer of-")
	switch at := c.read(r); {
	case strings.HasPrefix(at, "/admin/") && me != "eve":
		answer(map[bool]int{true: 401, false: 403}[c.words[me] == ""], "no")
		return
	case (at == "/profile" || strings.HasPrefix(at, "/records")) && c.words[me] == "" && (c.whom == nil || c.words[c.whom(r)] == ""):

		answer(401, "sign in")
		return
	}
	if c.whom != nil && c.words[c.whom(r)] != "" {
		me = c.whom(r)
	}
	to := strings.ToLower(path.Clean(r.URL.Path))
	if other := r.Header.Get("X-Rewrite-URL"); other != "" {
		to = other
	}
	switch to {
	case "/register":
		if in.Username == "" || c.words[in.Username] != "" {
			answer(400, "taken")
			return
		}
		c.words[in.Username], c.mails[in.Username] = in.Password, in.Email
		answer(201, "welcome")
	case "/login":
		if in.Password == "" || c.words[in.Username] != in.Password {
			answer(401, "no")
			return
		}
		answer(200, map[string]any{"token": "of-" + in.Username})
	case "/profile":
		answer(200, map[string]any{"username": me, "email": c.mails[me]})
	case "/records/mine":
		answer(200, map[string]any{"records": []any{"blood", "teeth"}, "of": "the user"})
	case "/admin/figures":
		answer(200, map[string]any{"patients": 1204, "doctors": 17, "rooms": []any{"one", "two"}})
	default:
		answer(404, "none")
	}
}

func TestDetours(t *testing.T) {
	exact := func(r *http.Request) string { return r.URL.Path }
	routed := func(r *http.Request) string { // as what answers reads it
		if other := r.Header.Get("X-Rewrite-URL"); other != "" {
			return other
		}
		return strings.ToLower(path.Clean(r.URL.Path))
	}
	folder := func(r *http.Request) string { // the folder is read well, the rest is not
		if at := routed(r); strings.HasPrefix(at, "/admin/") {
			return at
		}
		return r.URL.Path
	}
	header := func(r *http.Request) string { return r.Header.Get("X-Username") }
	query := func(r *http.Request) string { return r.URL.Query().Get("username") }
	tests := []struct {
		name string
		api  *clinic
		want []string
	}{
		{"secure", &clinic{read: routed}, nil},
		{"another header of the path", &clinic{read: func(r *http.Request) string {
			return strings.ToLower(path.Clean(r.URL.Path))
		}},
			[]string{"access-control-detour GET /admin/figures", "access-control-detour GET /records/mine"}},
		{"spellings", &clinic{read: exact}, []string{"access-control-detour GET " +
			"/admin/figures", "access-control-detour GET /records/mine"}},
		{"spellings below a folder that is read well", &clinic{read: folder}, []string{"access-control-detour GET " +
			"/records/mine"}},
		{"a header that says who asks", &clinic{read: routed, whom: header}, []string{"claimed-identity GET /profile " +
			"X-Username"}},
		{"a parameter that says who asks", &clinic{read: routed, whom: query}, []string{"claimed-identity GET " +
			"/profile username"}},
	}
	for _, test := range tests {
		test.api.words, test.api.mails = map[string]string{"ann": "pass-ann", "eve": "pass-eve"},
			map[string]string{"ann": "ann@example.org", "eve": "eve@example.org"}
		target := scan.Target{Profile: scan.Standard, Checks: []string{"authorization"},
			Descriptions: []scan.Description{{Name: "clinic.yaml", Text: clinicDescription}}}
		for i, name := range []string{"ann", "eve"} {
			target.Identities = append(target.Identities,
				scan.Identity{Name: name, Role: i + 1,
					JSON: &scan.JSONLogin{URL: "/login",
						Body: scan.LoginBody(`{"username":"` + name + `","password":"pass-` + name + `"}`)}})
		}
		if got := examine(t, test.api, target); !slices.Equal(got, test.want) {
			t.Errorf("%s: found:\n\t%s", test.name, strings.Join(got, "\n\t"))
		}
	}
}
