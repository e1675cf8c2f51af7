package authz_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

const club = `openapi: 3.0.3
info: {title: Club, version: "1"}
paths:
  /members:
    post:
      operationId: createMember
      summary: sign up
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [user], properties: {user: {$ref: "#/components/schemas/New"}}}}}}
      responses: {"201": {description: OK}}
  /members/login:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [user], properties: {user: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}}
  /profile:
    get:
      security: [{token: []}]
      responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {user: {type: object, properties: {username: {type: string}, nickname: {type: string}, role: {type: string, enum: [Guest, Waiter, Staff]}}}}}}}}}
    put:
      security: [{token: []}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [user], properties: {user: {type: object, properties: {nickname: {type: string}}}}}}}}
      responses: {"200": {description: OK}}
  /events/:
    get:
      security: [{token: []}]
      responses: {"200": {description: OK}}
components:
  securitySchemes: {token: {type: apiKey, in: header, name: Authorization}}
  schemas:
    New: {type: object, required: [username, password, phone], properties: {username: {type: string}, password: {type: string}, phone: {type: string}}}
`

// clubhouse is an API whose bodies are wrapped, whose paths end in a slash, whose tokens
// follow the word Token, and whose accounts need a telephone number of their own. A role
// that there is not breaks an account for good.
type clubhouse struct {
	flawed bool

	mu    sync.Mutex
	users map[string]map[string]any
	asked []string
	fails int // to sign in
}

func (c *clubhouse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	if !strings.HasSuffix(r.URL.Path, "/") {
		http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
		return
	}
	var in struct{ User map[string]any }
	_ = json.NewDecoder(r.Body).Decode(&in)
	name, _ := in.User["username"].(string)
	me := c.users[strings.TrimPrefix(r.Header.Get("Authorization"), "Token of-")]
	switch at := r.Method + " " + r.URL.Path; {
	case at == "POST /members/":
		for _, other := range c.users {
			if name == "" || other["username"] == name || other["phone"] == in.User["phone"] {
				answer(400, "taken")
				return
			}
		}
		c.users[name] = map[string]any{"username": name, "password": in.User["password"], "phone": in.User["phone"],
			"nickname": "", "role": "Guest"}
		answer(201, map[string]any{"user": map[string]any{"username": name}})
	case at == "POST /members/login/":
		if user := c.users[name]; user == nil || user["password"] != in.User["password"] {
			c.fails++
			answer(map[bool]int{true: 403, false: 401}[c.fails > 8], "no")
			return
		}
		answer(200, map[string]any{"user": map[string]any{"token": "of-" + name}})
	case me == nil:
		answer(401, "sign in")
	case !slices.Contains([]any{"Guest", "Waiter", "Staff"}, me["role"]):
		answer(500, "broken")
	case at == "GET /events/":
		c.asked = append(c.asked, at)
		answer(200, []any{})
	case strings.HasSuffix(at, "/profile/"):
		for name, v := range in.User {
			if name == "nickname" || c.flawed {
				me[name] = v
			}
		}
		answer(200, map[string]any{"user": map[string]any{"username": me["username"], "nickname": me["nickname"],
			"role": me["role"]}})
	default:
		answer(404, "none")
	}
}

// Without an identity the scan registers one, and finds out how the API wants it.
func TestAccountIsJoined(t *testing.T) {
	for _, flawed := range []bool{true, false} {
		api := &clubhouse{flawed: flawed, users: map[string]map[string]any{"ann": {"username": "ann", "phone": "1"}}}
		got := examine(t, api,
			scan.Target{Profile: scan.Standard, Descriptions: []scan.Description{{Name: "club.yaml", Text: club}}})
		var want []string
		if flawed {
			want = []string{"mass-assignment PUT /profile/ /user/role"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("flawed %v: found:\n\t%s", flawed, strings.Join(got, "\n\t"))
		}
		if len(api.asked) == 0 {
			t.Error("nothing was asked as a user")
		}
		for name, user := range api.users {
			if role := user["role"]; name != "ann" && role != "Guest" {
				t.Errorf("an account stays with the role %v", role)
			}
		}
	}
}

// Below the profile standard nobody is registered.
func TestNobodyIsJoined(t *testing.T) {
	api := &clubhouse{users: map[string]map[string]any{}}
	examine(t, api, scan.Target{Profile: scan.Safe, Descriptions: []scan.Description{{Name: "club.yaml", Text: club}}})
	if len(api.users) > 0 {
		t.Errorf("%d accounts were made", len(api.users))
	}
}
