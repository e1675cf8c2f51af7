package authz_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

const diarySchema = `
type Query { me: User, notes: [Note!]!, note(id: ID!): Note, user(id: ID!): User, members: [User!]! }
type User { id: ID! name: String! email: String }
type Note { id: ID! text: String! owner: User }
input NoteInput { id: ID!, text: String! }
type Mutation {
  createNote(text: String!): Note
  updateNote(input: NoteInput!): Note
  pinNote(noteId: ID!): Note
  deleteNote(id: ID!): Boolean
}
`

// diary is a service of GraphQL, in which each vulnerability stands for itself.
type diary struct {
	flaw string

	mu     sync.Mutex
	notes  map[string]map[string]any
	number int
}

// root is the field that a query asks for.
func root(query string) string {
	_, rest, _ := strings.Cut(query, "{")
	return append(strings.FieldsFunc(rest, func(c rune) bool { return c < 'A' || c > 'z' }), "")[0]
}

func (d *diary) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var in struct {
		Query     string
		Variables map[string]any
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	if r.URL.Path != "/graphql" || in.Query == "" {
		http.NotFound(w, r)
		return
	}
	field, who := root(in.Query), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.Header().Set("Content-Type", "application/json")
	fail := func(text string) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{field: nil},
			"errors": []any{map[string]any{"message": text}}})
	}
	if (who != "ann" && who != "bob") && field != "__typename" && (d.flaw != "nobody" || field != "note") {
		fail("sign in")
		return
	}
	v, is := d.resolve(field, who, in.Variables)
	if !is {
		fail("not found")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{field: v}})
}

// person is a user as another one is shown him.
func (d *diary) person(name, to string) map[string]any {
	out := map[string]any{"id": "u-" + name, "name": name, "email": nil}
	if name == to || d.flaw == "field" {
		out["email"] = name + "@diary.example"
	}
	return out
}

func (d *diary) resolve(field, who string, args map[string]any) (any, bool) {
	if in, is := args["input"].(map[string]any); is {
		args = in
	}
	id, _ := args["id"].(string)
	if id == "" {
		id, _ = args["noteId"].(string)
	}
	note := d.notes[id]
	own := note != nil && note["owner"] == who
	show := func(n map[string]any) map[string]any {
		return map[string]any{"id": n["id"], "text": n["text"], "owner": d.person(n["owner"].(string), who)}
	}
	switch field {
	case "__typename":
		return "Query", true
	case "me":
		return d.person(who, who), true
	case "members":
		return []any{d.person("ann", who), d.person("bob", who)}, true
	case "user":
		name := strings.TrimPrefix(id, "u-")
		return d.person(name, who), name == "ann" || name == "bob"
	case "notes":
		list := []any{}
		for _, n := range d.notes {
			if n["owner"] == who {
				list = append(list, show(n))
			}
		}
		return list, true
	case "createNote":
		d.number++
		n := map[string]any{"id": fmt.Sprint(d.number), "text": args["text"], "owner": who}
		d.notes[fmt.Sprint(d.number)] = n
		return show(n), true
	case "note":
		if note != nil && (own || d.flaw == "read" || d.flaw == "nobody" && who == "") {
			return show(note), true
		}
	case "updateNote":
		if note != nil && (own || d.flaw == "write") {
			note["text"] = args["text"]
			return show(note), true
		}
	case "pinNote":
		if note != nil && (own || d.flaw == "leak") {
			return show(note), true
		}
	case "deleteNote":
		if note != nil && (own || d.flaw == "delete") {
			delete(d.notes, id)
			return true, true
		}
	}
	return nil, false
}

// Each vulnerability is told by itself, and none of a service that has none.
func TestGraph(t *testing.T) {
	for flaw, want := range map[string]string{"": "", "read": "object-level-authorization",
		"nobody": "object-level-authorization", "leak": "object-level-authorization",
		"write":  "object-level-authorization-write",
		"delete": "object-level-authorization-write", "field": "personal-data-of-others"} {
		api := &diary{flaw: flaw,
			notes: map[string]map[string]any{"0": {"id": "0", "text": "dear diary", "owner": "ann"}}}
		got := examine(t, api, scan.Target{Profile: scan.Standard, Checks: []string{"authorization"},
			Descriptions: []scan.Description{{Name: "schema.graphql", Text: diarySchema}},
			Identities:   []scan.Identity{{Name: "ann", Bearer: "ann"}, {Name: "bob", Bearer: "bob"}}})
		var rules []string
		for _, line := range got {
			if rule := strings.Fields(line)[0]; !slices.Contains(rules, rule) {
				rules = append(rules, rule)
			}
		}
		if strings.Join(rules, " ") != want {
			t.Errorf("flaw %q: found:\n\t%s", flaw, strings.Join(got, "\n\t"))
		}
		if n := api.notes["0"]; n == nil || n["text"] != "dear diary" {
			t.Errorf("flaw %q: what was there has become %v", flaw, n)
		}
		if flaw == "" && len(api.notes) > 2 { // the exploration's is that of who was asked to make one
			t.Errorf("%d objects stay", len(api.notes))
		}
	}
}
