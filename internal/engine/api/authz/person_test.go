package authz_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

const guild = `openapi: 3.0.3
info: {title: Guild, version: "1"}
security: [{bearer: []}]
paths:
  /users:
    get: {responses: {"200": {description: OK}}}
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, email, password], properties: {username: {type: string}, email: {type: string}, password: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /login:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}}
  /me:
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {username: {type: string}, password: {type: string}, isAdmin: {type: boolean}}}}}}
      responses: {"200": {description: OK}}
  /payment:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [cardNumber], properties: {cardNumber: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /logout: {post: {responses: {"204": {description: bye}}}}
  /password:
    put:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [currentPassword, newPassword], properties: {currentPassword: {type: string}, newPassword: {type: string}}}}}}
      responses: {"200": {description: OK}, "400": {description: wrong}}
  /forgot-password:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username], properties: {username: {type: string}}}}}}
      responses: {"200": {description: OK}, "400": {description: no}}
  /new-password:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, code, password], properties: {username: {type: string}, code: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "400": {description: no}}
  /users/{id}:
    parameters: [{in: path, name: id, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}, "404": {description: none}}}
    patch:
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {bio: {type: string}}}}}}
      responses: {"200": {description: OK}, "403": {description: no}}
  /users/{id}/role:
    parameters: [{in: path, name: id, required: true, schema: {type: integer}}]
    put:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [role], properties: {role: {type: string, enum: [member, moderator]}}}}}}
      responses: {"200": {description: OK}, "403": {description: no}}
`

// visitMembers is an API of accounts that are named by numbers.
type visitMembers struct {
	flawed bool
	cards  bool // everybody is shown them

	mu     sync.Mutex
	users  map[int]map[string]any
	tokens map[string]int
	issued int
	fails  map[string]int
}

func (m *visitMembers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	text := func(name string) string { s, _ := in[name].(string); return s }
	whose := 0
	for id, u := range m.users {
		if u["username"] == text("username") && text("username") != "" {
			whose = id
		}
	}
	many := func(what string) bool {
		m.fails[what+text("username")]++
		return !m.flawed && m.fails[what+text("username")] > 8
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /users":
		id := len(m.users) + 1
		m.users[id] = map[string]any{"id": id, "username": text("username"), "email": text("email"),
			"password": text("password"), "bio": "", "role": "member", "isAdmin": false}
		answer(201, map[string]any{"id": id})
		return
	case "POST /login":
		if whose == 0 || m.users[whose]["password"] != text("password") {
			answer(map[bool]int{true: 403, false: 401}[many("login")], "no")
			return
		}
		m.issued++
		token := fmt.Sprintf("token-%d-%d", whose, m.issued)
		m.tokens[token] = whose
		answer(200, map[string]any{"token": token})
		return
	case "POST /forgot-password":
		answer(map[bool]int{true: 400, false: 200}[whose == 0 && m.flawed], "a code is sent to who exists")
		return
	case "POST /new-password":
		answer(map[bool]int{true: 403, false: 400}[many("code")], "wrong code")
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	me := m.tokens[token]
	if me == 0 {
		answer(401, "sign in")
		return
	}
	view := func(id int) map[string]any {
		u := maps.Clone(m.users[id])
		delete(u, "password")
		if !m.flawed && id != me {
			delete(u, "email")
		}
		if !m.cards && id != me {
			delete(u, "card")
		}
		return u
	}
	if r.URL.Path == "/me" {
		if v, is := in["isAdmin"].(bool); is && m.flawed {
			m.users[me]["isAdmin"] = v
		}
		answer(200, view(me))
		return
	}
	if r.URL.Path == "/payment" {
		m.users[me]["card"] = in["cardNumber"]
		answer(200, "thanks")
		return
	}
	if r.URL.Path == "/logout" {
		if !m.flawed {
			delete(m.tokens, token)
		}
		answer(200, "bye")
		return
	}
	if r.URL.Path == "/password" {
		if !m.flawed && m.users[me]["password"] != text("currentPassword") {
			answer(400, "wrong")
			return
		}
		m.users[me]["password"] = text("newPassword")
		maps.DeleteFunc(m.tokens, func(other string, whose int) bool {
			return !m.flawed && whose == me && other != token
		})
		answer(200, "done")
		return
	}
	if r.URL.Path == "/users" {
		list := []any{}
		for _, id := range slices.Sorted(maps.Keys(m.users)) {
			list = append(list, view(id))
		}
		answer(200, list)
		return
	}
	var id int
	_, _ = fmt.Sscanf(r.URL.Path, "/users/%d", &id)
	switch role := strings.HasSuffix(r.URL.Path, "/role"); {
	case m.users[id] == nil:
		answer(404, "none")
	case r.Method == "GET":
		answer(200, view(id))
	case !m.flawed && (id != me || role):
		answer(403, "no")
	case role:
		m.users[id]["role"] = in["role"]
		answer(200, view(id))
	default:
		m.users[id]["bio"] = in["bio"]
		answer(200, view(id))
	}
}

func TestPersons(t *testing.T) {
	for _, flawed := range []bool{true, false} {
		api := &visitMembers{flawed: flawed,
			users: map[int]map[string]any{1: {"id": 1, "username": "ann", "email": "ann@example.org", "password": "x",
				"bio": "of ann", "role": "admin"}},
			tokens: map[string]int{}, fails: map[string]int{}}
		got := examine(t, api,
			scan.Target{Profile: scan.Full, Descriptions: []scan.Description{{Name: "guild.yaml", Text: guild}}})
		var want []string
		if flawed {
			want = []string{
				"code-without-limit POST /new-password /code",
				"object-level-authorization-write PATCH /users/{id}",
				"own-role PUT /me /isAdmin",
				"own-role PUT /users/{id}/role /role",
				"password-without-present-one PUT /password",
				"personal-data-of-others GET /users",
				"personal-data-of-others GET /users/{id}",
				"session-after-password-change GET /users",
				"session-after-sign-out GET /users",
				"sign-in-without-limit POST /login",
				"user-enumeration POST /forgot-password",
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("flawed %v: found:\n\t%s", flawed, strings.Join(got, "\n\t"))
		}
		if ann := api.users[1]; ann["bio"] != "of ann" || ann["role"] != "admin" {
			t.Errorf("the account of ann was changed: %v", ann)
		}
	}
}

// What a user hands over alone is not for others.
func TestCards(t *testing.T) {
	api := &visitMembers{cards: true, users: map[int]map[string]any{}, tokens: map[string]int{},
		fails: map[string]int{}}
	got := examine(t, api, scan.Target{Profile: scan.Full, Checks: []string{"authorization"},
		Descriptions: []scan.Description{{Name: "guild.yaml", Text: guild}}})
	if want := []string{"personal-data-of-others GET /users", "personal-data-of-others GET " +
		"/users/{id}"}; !slices.Equal(got, want) {
		t.Errorf("found:\n\t%s", strings.Join(got, "\n\t"))
	}
}
