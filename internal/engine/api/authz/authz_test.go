package authz_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/api/operations"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

const description = `openapi: 3.0.3
info: {title: Notes, version: "1"}
security: [{bearer: []}]
paths:
  /register:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, email, password], properties: {username: {type: string, example: ann}, email: {type: string, format: email}, password: {type: string}}}}}}
      responses: {"201": {description: OK}, "400": {description: bad}}
  /login:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [username, password], properties: {username: {type: string}, password: {type: string}}}}}}
      responses: {"200": {description: OK}, "401": {description: no}, "404": {description: no}, "429": {description: slow}}
  /me: {get: {responses: {"200": {description: OK}}}}
  /users/{username}/password:
    put:
      parameters: [{in: path, name: username, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [password], properties: {password: {type: string}}}}}}
      responses: {"204": {description: OK}, "403": {description: no}}
  /notes:
    get: {responses: {"200": {description: OK}}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}, text: {type: string}}}}}}
      responses: {"201": {description: OK}}
    delete:
      parameters: [{in: query, name: noteId, required: true, schema: {type: integer}}]
      responses: {"204": {description: gone}, "404": {description: none}}
  /notes/rename:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [noteId, title], properties: {noteId: {type: integer}, title: {type: string}}}}}}
      responses: {"200": {description: OK}, "404": {description: none}}
  /notes/{noteId}:
    parameters: [{in: path, name: noteId, required: true, schema: {type: integer}}]
    get: {responses: {"200": {description: OK}, "404": {description: none}}}
    put:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}, text: {type: string}}}}}}
      responses: {"200": {description: OK}, "404": {description: none}}
    delete: {responses: {"204": {description: gone}, "404": {description: none}}}
  /admin/report: {get: {responses: {"200": {description: OK}, "403": {description: no}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
`

// notes is an API that keeps users apart, or has every vulnerability, or shares its notes among
// all users on purpose.
type notes struct {
	flawed, shared bool

	mu    sync.Mutex
	users map[string]map[string]any
	fails map[string]int
	notes map[int]map[string]any
	next  int
	asked []string
}

func newNotes() *notes {
	n := &notes{users: map[string]map[string]any{}, fails: map[string]int{}, notes: map[int]map[string]any{}}
	for name, role := range map[string]string{"ann": "user", "bob": "user", "eve": "admin"} {
		n.users[name] = map[string]any{"username": name, "email": name + "@example.org", "password": "pass-" + name,
			"role": role}
		n.next++
		n.notes[n.next] = map[string]any{"id": n.next, "title": "of " + name, "owner": name, "approved": false}
	}
	return n
}

func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, r.Method+" "+r.URL.Path)
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if v != nil {
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	fail := func(status int, why string) { answer(status, map[string]any{"error": why}) }
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	text := func(name string) string { s, _ := in[name].(string); return s }
	switch r.Method + " " + r.URL.Path {
	case "POST /register":
		n.register(in, answer, fail)
		return
	case "POST /login":
		n.login(text("username"), text("password"), answer, fail)
		return
	}
	me := n.users[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer token-")]
	if me == nil {
		fail(401, "sign in")
		return
	}
	name, _ := me["username"].(string)
	switch {
	case r.URL.Path == "/me":
		answer(200, map[string]any{"username": name, "email": me["email"], "role": me["role"]})
	case r.URL.Path == "/admin/report":
		if me["role"] != "admin" && !n.flawed {
			fail(403, "no")
			return
		}
		answer(200, map[string]any{"users": []any{"ann", "bob"}, "sum": 17})
	case strings.HasPrefix(r.URL.Path, "/users/"):
		whose := strings.Split(r.URL.Path, "/")[2]
		if n.users[whose] == nil || whose != name && !n.flawed {
			fail(403, "no")
			return
		}
		n.users[whose]["password"] = text("password")
		answer(204, nil)
	case r.URL.Path == "/notes" && r.Method == "POST":
		n.next++
		note := map[string]any{"approved": false}
		if n.flawed {
			maps.Copy(note, in)
		}
		note["id"], note["owner"], note["title"], note["text"] = n.next, name, in["title"], in["text"]
		n.notes[n.next] = note
		answer(201, note)
	case r.URL.Path == "/notes" && r.Method == "DELETE":
		n.note(r, r.URL.Query().Get("noteId"), name, in, answer, fail)
	case r.URL.Path == "/notes/rename":
		n.note(r, fmt.Sprint(in["noteId"]), name, in, answer, fail)
	case r.URL.Path == "/notes":
		list := []any{}
		for _, id := range slices.Sorted(maps.Keys(n.notes)) {
			if n.notes[id]["owner"] == name || n.shared {
				list = append(list, n.notes[id])
			}
		}
		answer(200, list)
	default:
		n.note(r, strings.TrimPrefix(r.URL.Path, "/notes/"), name, in, answer, fail)
	}
}

func (n *notes) register(in map[string]any, answer func(int, any), fail func(int, string)) {
	name, _ := in["username"].(string)
	if name == "" || n.users[name] != nil {
		fail(400, "taken")
		return
	}
	user := map[string]any{"role": "user"}
	if n.flawed {
		maps.Copy(user, in)
	}
	user["username"], user["email"], user["password"] = name, in["email"], in["password"]
	n.users[name] = user
	answer(201, map[string]any{"username": name})
}

func (n *notes) login(name, password string, answer func(int, any), fail func(int, string)) {
	user := n.users[name]
	switch {
	case !n.flawed && n.fails[name] > 5:
		fail(403, "too many attempts")
	case user == nil && n.flawed:
		fail(404, "no such user")
	case user == nil || user["password"] != password:
		n.fails[name]++
		fail(401, "wrong name or password")
	default:
		answer(200, map[string]any{"token": "token-" + name})
	}
}

func (n *notes) note(r *http.Request, which, name string, in map[string]any, answer func(int, any),
	fail func(int, string)) {
	id, _ := strconv.Atoi(which)
	note := n.notes[id]
	if note == nil || note["owner"] != name && !n.flawed && !n.shared {
		fail(404, "none")
		return
	}
	switch r.Method {
	case "DELETE":
		delete(n.notes, id)
		answer(204, nil)
		return
	case "PUT", "POST":
		note["title"], note["text"] = in["title"], in["text"]
	}
	answer(200, note)
}

// compare scans the API of notes and returns what is found of authorization.
func compare(t *testing.T, h http.Handler, names []string, profile scan.Profile) []string {
	t.Helper()
	return examine(t, h, notesTarget(names, profile))
}

// notesTarget is the API of notes, with users of these names.
func notesTarget(names []string, profile scan.Profile) scan.Target {
	target := scan.Target{Profile: profile, Descriptions: []scan.Description{{Name: "notes.yaml", Text: description}}}
	for _, name := range names {
		role := 1
		if name == "eve" {
			role = 2
		}
		target.Identities = append(target.Identities, scan.Identity{Name: name, Role: role,
			JSON: &scan.JSONLogin{URL: "/login",
				Body: scan.LoginBody(fmt.Sprintf(`{"username":%q,"password":"pass-%s"}`, name, name))}})
	}
	return target
}

// visit scans what the server serves.
func visit(t *testing.T, server *httptest.Server, target scan.Target) *scantest.Kept {
	t.Helper()
	target.URL, target.Rate = server.URL+"/", 1e6
	var dialer net.Dialer
	got := &scantest.Kept{}
	o := scan.Options{Live: &scan.Live{Target: target, ID: "t", Dial: dialer.DialContext,
		BrowserReason: "none in this test"}, Analyzers: []*scan.Analyzer{operations.Analyzer}}
	if err := scan.Run(t.Context(), o, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// examine scans the API and returns what is found of authorization.
func examine(t *testing.T, h http.Handler, target scan.Target) []string {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	got := visit(t, server, target)
	about := []string{"object-level-authorization", "object-level-authorization-write", "password-of-another-user",
		"function-level-authorization", "mass-assignment", "user-enumeration", "sign-in-without-limit",
		"personal-data-of-others", "own-role", "session-after-sign-out", "code-without-limit",
		"write-without-authentication", "session-after-password-change", "password-without-present-one",
		"access-control-detour", "claimed-identity"}
	var lines []string
	for _, f := range got.Findings {
		rule := strings.TrimPrefix(f.RuleID, "api/operations/")
		if !slices.Contains(about, rule) {
			continue
		}
		lines = append(lines, strings.TrimSpace(rule+" "+f.Live.Method+" "+strings.TrimPrefix(f.Live.URL, server.URL)+
			" "+f.Live.Parameter))
		if len(f.Live.Proof) == 0 || len(f.Live.Exchanges) == 0 {
			t.Errorf("%s has no proof", rule)
		}
	}
	slices.Sort(lines)
	return lines
}

var all = []string{
	"function-level-authorization GET /admin/report",
	"mass-assignment POST /notes /approved",
	"mass-assignment POST /register /role",
	"object-level-authorization GET /notes/{noteId}",
	"object-level-authorization-write DELETE /notes noteId",
	"object-level-authorization-write DELETE /notes/{noteId}",
	"object-level-authorization-write POST /notes/rename /noteId",
	"object-level-authorization-write PUT /notes/{noteId}",
	"password-of-another-user PUT /users/{username}/password",
	"sign-in-without-limit POST /login",
	"user-enumeration POST /login",
}

// Wrong passwords are sent in a row by the profile full alone.
func withoutGuesses(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(l string) bool {
		return strings.HasPrefix(l, "sign-in-") || strings.HasPrefix(l, "user-")
	})
}

func TestFlawed(t *testing.T) {
	api := newNotes()
	api.flawed = true
	if got := compare(t, api, []string{"ann", "bob", "eve"}, scan.Standard); !slices.Equal(got, withoutGuesses(all)) {
		t.Errorf("standard: found:\n\t%s", strings.Join(got, "\n\t"))
	}
	api = newNotes()
	api.flawed = true
	if got := compare(t, api, []string{"ann", "bob", "eve"}, scan.Full); !slices.Equal(got, all) {
		t.Errorf("found:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(all, "\n\t"))
	}
	for _, name := range []string{"ann", "bob", "eve"} {
		if api.users[name]["password"] != "pass-"+name {
			t.Errorf("the password of %s was changed", name)
		}
	}
	for id, name := range []string{"ann", "bob", "eve"} {
		if note := api.notes[id+1]; note == nil || !strings.HasPrefix(note["title"].(string), "of ") {
			t.Errorf("a note that the scan has not made is now %v (%s)", note, name)
		}
	}
}

// With one identity or none, accounts are registered for the comparison.
func TestAccountsAreMade(t *testing.T) {
	for _, names := range [][]string{{"ann"}, nil} {
		api := newNotes()
		api.flawed = true
		want := slices.DeleteFunc(slices.Clone(all), func(l string) bool { return strings.HasPrefix(l, "function-") })
		if got := compare(t, api, names, scan.Full); !slices.Equal(got, want) {
			t.Errorf("%v: found:\n\t%s", names, strings.Join(got, "\n\t"))
		}
	}
}

func TestSecure(t *testing.T) {
	for _, shared := range []bool{false, true} {
		api := newNotes()
		api.shared = shared
		if got := compare(t, api, []string{"ann", "bob", "eve"}, scan.Standard); len(got) > 0 {
			t.Errorf("shared %v: found:\n\t%s", shared, strings.Join(got, "\n\t"))
		}
	}
}

// The profile safe makes nothing: what it finds, it finds by reading and signing in.
func TestSafeProfile(t *testing.T) {
	api := newNotes()
	api.flawed = true
	want := []string{"function-level-authorization GET /admin/report", "object-level-authorization GET /notes/{noteId}"}
	if got := compare(t, api, []string{"ann", "bob", "eve"}, scan.Safe); !slices.Equal(got, want) {
		t.Errorf("found:\n\t%s", strings.Join(got, "\n\t"))
	}
	for _, a := range api.asked {
		if !strings.HasPrefix(a, "GET ") && !strings.HasPrefix(a, "HEAD ") && a != "POST /login" {
			t.Errorf("%s was sent", a)
		}
	}
}
