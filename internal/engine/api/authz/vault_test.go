package authz_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// The second API of these tests has nothing in common with the first one but what it
// is about: a header of its own with opaque keys, UUIDs, objects within objects,
// envelopes, problems (RFC 9457) and lists that go on behind a cursor.
const vaultDescription = `openapi: 3.1.0
info: {title: Vault, version: "2"}
security: [{key: []}]
paths:
  /v2/members:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [login, passphrase], properties: {login: {type: string}, passphrase: {type: string, minLength: 8}}}}}}
      responses: {"201": {description: OK}}
  /v2/door:
    post:
      security: []
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [login, passphrase], properties: {login: {type: string}, passphrase: {type: string}}}}}}
      responses: {"200": {description: OK, content: {application/json: {schema: {type: object, properties: {data: {type: object, properties: {key: {type: string}}}}}}}}}
  /v2/profile:
    get: {responses: {"200": {description: OK}}}
    patch:
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {city: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /v2/workspaces:
    get:
      parameters: [{in: query, name: cursor, schema: {type: string}}]
      responses: {"200": {description: OK}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [title], properties: {title: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /v2/workspaces/{workspaceId}:
    parameters: [{in: path, name: workspaceId, required: true, schema: {type: string, format: uuid}}]
    get: {responses: {"200": {description: OK}}}
    patch:
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {title: {type: string}}}}}}
      responses: {"200": {description: OK}}
    delete: {responses: {"204": {description: gone}}}
  /v2/workspaces/{workspaceId}/documents:
    parameters: [{in: path, name: workspaceId, required: true, schema: {type: string, format: uuid}}]
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}, content: {type: string}}}}}}
      responses: {"201": {description: OK}}
  /v2/workspaces/{workspaceId}/documents/{documentId}:
    parameters:
    - {in: path, name: workspaceId, required: true, schema: {type: string, format: uuid}}
    - {in: path, name: documentId, required: true, schema: {type: string, format: uuid}}
    get: {responses: {"200": {description: OK}}}
    delete: {responses: {"204": {description: gone}}}
  /v2/exports:
    get:
      parameters: [{in: query, name: document_id, required: true, schema: {type: string, format: uuid}}]
      responses: {"200": {description: OK}}
  /v2/previews:
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [documentId], properties: {documentId: {type: string, format: uuid}}}}}}
      responses: {"200": {description: OK}}
  /v2/statements: {get: {responses: {"200": {description: OK}}}}
  /v2/statements/{statementId}:
    get:
      parameters: [{in: path, name: statementId, required: true, schema: {type: string, format: uuid}}]
      responses: {"200": {description: OK}}
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Access-Key}}}
`

// A vault keeps its members apart, or not.
type vault struct {
	flawed bool

	mu      sync.Mutex
	next    int
	members map[string]map[string]any // by login
	objects map[string]map[string]any // by identifier
	kinds   map[string]string
}

func newVault() *vault {
	v := &vault{members: map[string]map[string]any{}, objects: map[string]map[string]any{}, kinds: map[string]string{}}
	for _, login := range []string{"ida", "max"} {
		m := v.join(login, "phrase-of-"+login)
		v.add("statement", m, map[string]any{"total": 100 * v.next})
		v.add("workspace", m, map[string]any{"title": "home of " + login, "verified": false})
		v.add("workspace", m, map[string]any{"title": "work of " + login, "verified": false})
	}
	v.join("zoe", "phrase-of-zoe")["plan"] = "gold"
	return v
}

func (v *vault) join(login, phrase string) map[string]any {
	m := map[string]any{"login": login, "phrase": phrase, "plan": "free", "city": "Ulm",
		"key": fmt.Sprintf("k%032x", len(v.members)+1)}
	v.members[login] = m
	m["id"] = v.uuid()
	return m
}

func (v *vault) uuid() string {
	v.next++
	return fmt.Sprintf("%08x-1111-4222-a333-%012x", v.next*7919, v.next)
}

func (v *vault) add(kind string, of, fields map[string]any) map[string]any {
	o := maps.Clone(fields)
	o["id"], o["ownerId"] = v.uuid(), of["id"]
	id, _ := o["id"].(string)
	v.objects[id], v.kinds[id] = o, kind
	return o
}

// mine returns an object of the kind that the member may see; nil: there is none.
func (v *vault) mine(kind, id string, m map[string]any) map[string]any {
	if o := v.objects[id]; o != nil && v.kinds[id] == kind && (v.flawed || o["ownerId"] == m["id"]) {
		return o
	}
	return nil
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	answer := func(status int, data any, next string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		out := map[string]any{"data": data}
		if next != "" {
			out["nextCursor"] = next
		}
		_ = json.NewEncoder(w).Encode(out)
	}
	problem := func(status int) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status),
			"status": status})
	}
	in := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&in)
	text := func(name string) string { s, _ := in[name].(string); return s }
	var me map[string]any
	for _, m := range v.members {
		if m["key"] == r.Header.Get("X-Access-Key") {
			me = m
		}
	}
	steps := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
	open := steps[0] == "members" || steps[0] == "door"
	switch {
	case me == nil && !open:
		problem(401)
	case steps[0] == "members":
		if len(text("login")) < 3 || len(text("passphrase")) < 8 || v.members[text("login")] != nil {
			problem(422)
			return
		}
		answer(201, map[string]any{"login": v.join(text("login"), text("passphrase"))["login"]}, "")
	case steps[0] == "door":
		if m := v.members[text("login")]; m != nil && m["phrase"] == text("passphrase") {
			answer(200, map[string]any{"key": m["key"]}, "")
			return
		}
		if !v.flawed {
			w.Header().Set("RateLimit-Remaining", "3")
		}
		problem(401)
	case steps[0] == "profile":
		if r.Method == http.MethodPatch {
			if v.flawed && in["plan"] != nil {
				if in["plan"] != "free" && in["plan"] != "gold" {
					problem(400) // nobody can guess what there is
					return
				}
				me["plan"] = in["plan"]
			}
			me["city"] = in["city"]
		}
		answer(200, map[string]any{"id": me["id"], "login": me["login"], "plan": me["plan"], "city": me["city"]}, "")
	case steps[0] == "exports", steps[0] == "previews":
		id := r.URL.Query().Get("document_id")
		if steps[0] == "previews" {
			id = text("documentId")
		}
		if o := v.mine("document", id, me); o != nil {
			answer(200, map[string]any{"rendered": o}, "")
			return
		}
		problem(404)
	default:
		v.object(r, steps, me, in, answer, problem)
	}
}

// object serves workspaces, what they hold, and statements.
func (v *vault) object(r *http.Request, steps []string, me, in map[string]any, answer func(int, any, string),
	problem func(int)) {
	kind := strings.TrimSuffix(steps[len(steps)-1-(len(steps)+1)%2], "s")
	if len(steps) > 2 && (v.objects[steps[1]] == nil || v.mine("workspace", steps[1], me) == nil) {
		problem(404)
		return
	}
	if len(steps)%2 == 1 {
		if r.Method == http.MethodPost {
			fields := map[string]any{"title": in["title"], "name": in["name"], "content": in["content"]}
			if kind == "workspace" {
				fields = map[string]any{"title": in["title"], "verified": false}
			}
			answer(201, map[string]any{"id": v.add(kind, me, fields)["id"]}, "")
			return
		}
		v.list(r, kind, me, answer)
		return
	}
	o := v.mine(kind, steps[len(steps)-1], me)
	if o == nil {
		problem(404)
		return
	}
	switch r.Method {
	case http.MethodDelete:
		delete(v.objects, steps[len(steps)-1])
	case http.MethodPatch:
		if v.flawed && in["verified"] != nil {
			o["verified"] = in["verified"]
		}
		if in["title"] != nil {
			o["title"] = in["title"]
		}
	}
	answer(200, o, "")
}

// list shows two objects of the member at a time.
func (v *vault) list(r *http.Request, kind string, me map[string]any, answer func(int, any, string)) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	var all []any
	for _, id := range slices.SortedFunc(maps.Keys(v.objects), func(a, b string) int {
		return strings.Compare(a[24:], b[24:])
	}) {
		if v.kinds[id] == kind && v.objects[id]["ownerId"] == me["id"] {
			all = append(all, v.objects[id])
		}
	}
	next := ""
	if from+2 < len(all) {
		next = strconv.Itoa(from + 2)
	}
	answer(200, append([]any{}, all[min(from, len(all)):min(from+2, len(all))]...), next)
}

func vaultTarget(profile scan.Profile) scan.Target {
	target := scan.Target{Profile: profile,
		Descriptions: []scan.Description{{Name: "vault.yaml", Text: vaultDescription}}}
	for _, login := range []string{"ida", "max"} {
		target.Identities = append(target.Identities, scan.Identity{Name: login, Role: 1,
			JSON: &scan.JSONLogin{URL: "/v2/door",
				Body:  scan.LoginBody(fmt.Sprintf(`{"login":%q,"passphrase":"phrase-of-%s"}`, login, login)),
				Token: "/data/key", Header: "X-Access-Key"}})
	}
	target.Identities = append(target.Identities, scan.Identity{Name: "zoe", Role: 2,
		JSON: &scan.JSONLogin{URL: "/v2/door", Body: `{"login":"zoe","passphrase":"phrase-of-zoe"}`, Token: "/data/key",
			Header: "X-Access-Key"}})
	return target
}

func TestVault(t *testing.T) {
	for _, c := range []struct {
		flawed  bool
		profile scan.Profile
		want    []string
	}{
		{false, scan.Standard, nil},
		{true, scan.Safe, []string{"object-level-authorization GET " +
			"/v2/statements/{statementId}", "object-level-authorization GET /v2/workspaces/{workspaceId}"}},
		{true, scan.Full, []string{
			"mass-assignment PATCH /v2/profile /plan",
			"mass-assignment PATCH /v2/workspaces/{workspaceId} /verified",
			"object-level-authorization GET /v2/exports document_id",
			"object-level-authorization GET /v2/statements/{statementId}",
			"object-level-authorization GET /v2/workspaces/{workspaceId}",
			"object-level-authorization GET /v2/workspaces/{workspaceId}/documents/{documentId}",
			"object-level-authorization POST /v2/previews /documentId",
			"object-level-authorization-write DELETE /v2/workspaces/{workspaceId}",
			"object-level-authorization-write DELETE /v2/workspaces/{workspaceId}/documents/{documentId}",
			"object-level-authorization-write PATCH /v2/workspaces/{workspaceId}",
			"sign-in-without-limit POST /v2/door",
		}},
	} {
		api := newVault()
		api.flawed = c.flawed
		if got := examine(t, api, vaultTarget(c.profile)); !slices.Equal(got, c.want) {
			t.Errorf("flawed %v, %s: found:\n\t%s\nwant:\n\t%s", c.flawed, c.profile, strings.Join(got, "\n\t"),
				strings.Join(c.want, "\n\t"))
		}
		for _, login := range []string{"ida", "max"} {
			if m := api.members[login]; m["plan"] != "free" {
				t.Errorf("the plan of %s is %v", login, m["plan"])
			}
		}
		for id, o := range api.objects {
			if s, _ := o["title"].(string); o["verified"] == true || api.kinds[id] == "workspace" &&
				c.profile == scan.Safe && !strings.Contains(s, " of ") {
				t.Errorf("%s is now %v", id, o)
			}
		}
	}
}
