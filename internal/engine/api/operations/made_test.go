package operations_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

const depot = `openapi: 3.0.3
info: {title: Depot, version: "1"}
paths:
  /session/login:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {pin: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /crates:
    get: {responses: {"200": {description: OK}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}, shelfId: {type: integer, example: 1}}}}}}
      responses: {"201": {description: OK}}
  /crates/{crateId}:
    parameters: [{in: path, name: crateId, required: true, example: 1, schema: {type: integer, default: 1}}]
    get: {responses: {"200": {description: OK}}}
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"200": {description: OK}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /crates/rename:
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {crateId: {type: integer, example: 1}, label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /shelves/{shelfId}:
    parameters: [{in: path, name: shelfId, required: true, schema: {type: integer, example: 1}}]
    patch:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /users/{userId}:
    parameters: [{in: path, name: userId, required: true, schema: {type: integer}}]
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /shelf:
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {id: {type: integer, example: 1}, label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /settings:
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {label: {type: string}}}}}}
      responses: {"200": {description: OK}}
  /notes/{name}:
    parameters: [{in: path, name: name, required: true, schema: {type: string}}]
    put:
      requestBody: {content: {application/json: {schema: {type: object, properties: {text: {type: string}}}}}}
      responses: {"201": {description: OK}}
`

// store is an API in which the crate, the shelf and the user 1 were there before.
type store struct {
	mu      sync.Mutex
	crates  int
	changed []string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	body, _ := io.ReadAll(r.Body)
	switch r.Method + " " + r.URL.Path {
	case "POST /session/login":
		answer(200, map[string]any{"token": "x", "user": map[string]any{"id": 1, "name": "ann"}})
		return
	case "GET /crates":
		answer(200, []any{map[string]any{"id": 1, "label": "old"}})
		return
	case "POST /crates":
		s.crates++
		answer(201, map[string]any{"id": 100 + s.crates, "shelfId": 1, "shelf": map[string]any{"id": 1},
			"owner": map[string]any{"userId": 1}})
		return
	}
	if r.Method != http.MethodGet {
		var in struct{ ID, CrateID int }
		_ = json.Unmarshal(body, &in)
		s.changed = append(s.changed, fmt.Sprint(r.Method, " ", r.URL.Path, " ", in.ID+in.CrateID))
	}
	answer(200, map[string]any{"ok": true})
}

// Up to the profile standard nothing is changed that was there before the scan, whatever
// the description gives as an example and whatever answers name beside what was made.
func TestOthersAreLeftAlone(t *testing.T) {
	for _, profile := range []scan.Profile{scan.Standard, scan.Full} {
		api := &store{}
		got, _ := scanTarget(t, api, func(o *scan.Target) {
			o.Profile, o.Descriptions = profile, []scan.Description{{Name: "depot.yaml", Text: depot}}
		})
		there := []string{"PUT /crates/1 ", "POST /crates/1 ", "POST /crates/rename 1", "PATCH /shelves/",
			"PUT /users/", "PUT /shelf ", "PUT /settings "}
		old := slices.DeleteFunc(slices.Clone(api.changed), func(c string) bool {
			return !slices.ContainsFunc(there, func(one string) bool { return strings.HasPrefix(c, one) }) ||
				strings.HasPrefix(c, "POST /crates/rename 10")
		})
		if (len(old) > 0) != (profile == scan.Full) {
			t.Errorf("%s: changed %q", profile, old)
		}
		for op, want := range map[string]finding.Outcome{"PUT /crates/{crateId}": finding.Reached,
			"POST /crates/{crateId}": finding.Reached, "POST /crates/rename": finding.NotReached,
			"PUT /notes/{name}":        finding.Reached,
			"PATCH /shelves/{shelfId}": finding.NotReached, "PUT /users/{userId}": finding.NotReached,
			"PUT /shelf": finding.NotReached, "PUT /settings": finding.NotReached} {
			if profile == scan.Full {
				want = finding.Reached
			}
			if o := got.operations[op]; o.Outcome != want || want == finding.NotReached &&
				!strings.Contains(o.Reason, "the scan has not made") && !strings.Contains(o.Reason, "changes what "+
				"was there before") {
				t.Errorf("%s: %s: %+v", profile, op, o)
			}
		}
	}
}

const library = `
type Query { books: [Book!]! me: User }
type Book { id: ID! title: String owner: User }
type User { id: ID! name: String }
type Mutation {
  createBook(title: String!): Book
  updateBook(id: ID!, title: String!): Book
  updateUser(id: ID!, name: String!): User
  setTheme(name: String!): String
}
`

// The same for mutations.
func TestMutationsLeaveOthersAlone(t *testing.T) {
	var mu sync.Mutex
	var changed []string
	made := 0
	mux := http.NewServeMux()
	mux.HandleFunc("POST /graphql", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var in struct {
			Query     string
			Variables map[string]any
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		book := func(id any) map[string]any {
			return map[string]any{"id": id, "title": in.Variables["title"],
				"owner": map[string]any{"id": "u1", "name": "ann"}}
		}
		data := map[string]any{"__typename": "Query"}
		for _, field := range []string{"createBook", "updateBook", "updateUser", "setTheme", "books", "me"} {
			if !strings.Contains(in.Query, field) {
				continue
			}
			switch field {
			case "books":
				data[field] = []any{book("b1")}
			case "me":
				data[field] = map[string]any{"id": "u1", "name": "ann"}
			case "createBook":
				made++
				data[field] = book(fmt.Sprint("made", made))
			default:
				data[field] = book(in.Variables["id"])
				changed = append(changed, fmt.Sprint(field, " ", in.Variables["id"]))
			}
			break
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	})
	got, _ := scanTarget(t, mux, func(o *scan.Target) {
		o.Descriptions = []scan.Description{{Name: "library.graphql", Text: library}}
	})
	reached := false
	for _, c := range changed {
		reached = reached || strings.HasPrefix(c, "updateBook made")
		if !strings.HasPrefix(c, "updateBook") || strings.Contains(c, " b1") || strings.Contains(c, " u1") {
			t.Errorf("changed %s", c)
		}
	}
	if !reached {
		t.Errorf("what the scan has made was not changed: %q", changed)
	}
	for _, id := range []string{"Mutation.updateUser", "Mutation.setTheme"} {
		for _, o := range got.Operations {
			if o.ID == id && (o.Outcome != finding.NotReached || !strings.Contains(o.Reason, "the scan has not made") &&
				!strings.Contains(o.Reason, "changes what was there before")) {
				t.Errorf("%s: %+v", id, o)
			}
		}
	}
}
