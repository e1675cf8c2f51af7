package authz_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/scan"
)

const directory = `openapi: 3.0.3
info: {title: Directory, version: "1"}
paths:
  /login:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}}
  /people/_debug: {get: {responses: {"200": {description: OK}}}}
  /people/{username}:
    get:
      parameters: [{in: path, name: username, required: true, schema: {type: string}}]
      responses: {"200": {description: OK}, "404": {description: none}}
  /contact: {get: {responses: {"200": {description: OK}}}}
  /check:
    get:
      parameters: [{in: query, name: phone, required: true, schema: {type: string, example: "0123456789"}}]
      responses: {"200": {description: OK}}
  /card: {get: {responses: {"200": {description: OK}, "401": {description: no}}}}
`

// people is an API whose description requires no sign-in anywhere. What is personal it shows to
// everybody, or to the user himself alone.
func people(flawed bool) http.HandlerFunc {
	known := map[string]map[string]any{}
	for _, name := range []string{"ann", "bob"} {
		known[name] = map[string]any{"username": name, "email": name + "@example.org", "password": "pass-" + name,
			"phone": "555000" + name}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		answer := func(status int, v any) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(v)
		}
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		me := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer token-")
		shown := func(name string) map[string]any {
			if flawed || name == me {
				return known[name]
			}
			return map[string]any{"username": name} // that he exists, everybody may know
		}
		switch name := strings.TrimPrefix(r.URL.Path, "/people/"); {
		case r.URL.Path == "/login":
			user, _ := in["username"].(string)
			if known[user] == nil || known[user]["password"] != in["password"] {
				answer(401, map[string]any{"error": "wrong"})
				return
			}
			answer(200, map[string]any{"token": "token-" + user})
		case r.URL.Path == "/contact":
			answer(200, map[string]any{"username": "office", "email": "office@example.org", "phone": "555-1234"})
		case r.URL.Path == "/check":
			answer(200, map[string]any{"username": "ann", "phone": r.URL.Query().Get("phone")})
		case name == "_debug":
			answer(200, []any{shown("ann"), shown("bob")})
		case r.URL.Path == "/card" && known[me] != nil:
			answer(200, known[me])
		case r.URL.Path == "/card":
			answer(401, map[string]any{"error": "sign in"})
		case known[name] != nil:
			answer(200, shown(name))
		default:
			answer(404, map[string]any{"error": "none"})
		}
	}
}

// TestUnsecured asks operations that the description leaves open without a sign-in.
func TestUnsecured(t *testing.T) {
	for _, flawed := range []bool{true, false} {
		target := notesTarget([]string{"ann", "bob"}, scan.Safe)
		target.Descriptions = []scan.Description{{Name: "directory.yaml", Text: directory}}
		var want []string
		if flawed {
			want = []string{"personal-data-of-others GET /people/_debug", "personal-data-of-others GET " +
				"/people/{username}"}
		}
		if got := examine(t, people(flawed), target); !slices.Equal(got, want) {
			t.Errorf("flawed %v: found:\n\t%s", flawed, strings.Join(got, "\n\t"))
		}
	}
}
