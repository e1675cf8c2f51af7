package authz_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

const gate = `openapi: 3.0.3
info: {title: Gate, version: "1"}
paths:
  /register:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"201": {description: OK}, "400": {description: bad}}
  /login:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}}
  /news: {get: {responses: {"200": {description: OK}}}}
`

// gatehouse registers users and signs them in. No operation shows users themselves.
type gatehouse struct {
	flawed bool
	shows  string // the response that shows what an account has: "/register", "/login" or none

	mu    sync.Mutex
	users map[string]map[string]any
}

func (g *gatehouse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	name, _ := in["username"].(string)
	out := map[string]any{"status": "done"}
	switch r.Method + r.URL.Path {
	case "GET/news":
		answer(200, []any{})
		return
	case "POST/register":
		if name == "" || g.users[name] != nil {
			answer(400, map[string]any{"error": "taken"})
			return
		}
		user := map[string]any{"is_admin": false}
		if g.flawed {
			maps.Copy(user, in)
		}
		user["username"], user["password"] = name, in["password"]
		g.users[name] = user
	case "POST/login":
		if g.users[name] == nil || g.users[name]["password"] != in["password"] {
			answer(401, map[string]any{"error": "wrong"})
			return
		}
		out["token"] = "token-" + name
	default:
		answer(404, map[string]any{"error": "none"})
		return
	}
	if g.shows == r.URL.Path {
		out["debug"] = map[string]any{"username": name, "is_admin": g.users[name]["is_admin"]}
	}
	answer(map[bool]int{true: 201, false: 200}[r.URL.Path == "/register"], out)
}

// TestEntries reads properties that users should not set where only the registration or the
// sign-in shows them, and says so where nothing does.
func TestEntries(t *testing.T) {
	for name, c := range map[string]struct {
		shows      string
		flawed     bool
		found      int
		confidence finding.Confidence // of the finding
		untried    bool
	}{
		"flawed, seen at sign-in":       {"/login", true, 1, finding.HighConfidence, false},
		"flawed, seen at registration":  {"/register", true, 1, finding.MediumConfidence, false},
		"flawed, seen nowhere":          {"", true, 0, "", true},
		"sound, seen at sign-in":        {"/login", false, 0, "", false},
		"sound, seen at registration":   {"/register", false, 0, "", false},
		"sound, nothing of it is shown": {"", false, 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(&gatehouse{flawed: c.flawed, shows: c.shows,
				users: map[string]map[string]any{}})
			defer server.Close()
			got := visit(t, server,
				scan.Target{Profile: scan.Standard, Descriptions: []scan.Description{{Name: "gate.yaml", Text: gate}}})
			found := 0
			for _, f := range got.Findings {
				if f.RuleID == "api/operations/mass-assignment" {
					found++
					if f.Confidence != c.confidence {
						t.Errorf("found with the confidence %q, want %q", f.Confidence, c.confidence)
					}
					if f.Live.Parameter != "/is_admin" || !strings.HasSuffix(f.Live.URL, "/register") {
						t.Errorf("found %s of %s", f.Live.Parameter, f.Live.URL)
					}
				}
			}
			if found != c.found {
				t.Errorf("found %d, want %d", found, c.found)
			}
			untried := false
			for _, s := range got.Statuses {
				for _, r := range s.Reasons {
					untried = untried || slices.Contains(r.Rules, "api/operations/mass-assignment") &&
						strings.Contains(r.Message, "no response shows the properties of an account")
				}
			}
			if untried != c.untried {
				t.Errorf("said that it was not tried: %v, want %v", untried, c.untried)
			}
		})
	}
}
