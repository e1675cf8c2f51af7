package nosqlinjection

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

var people = []string{"alice", "bob", "carol"}

// find does what a database does with a condition on a name: a text or operators.
func find(condition any) (found []string, err error) {
	for _, name := range people {
		ok := true
		switch c := condition.(type) {
		case string:
			ok = c == name
		case map[string]any:
			for operator, operand := range c {
				text, _ := operand.(string)
				switch operator {
				case "$ne":
					ok = ok && name != text
				case "$eq":
					ok = ok && name == text
				case "$gt":
					ok = ok && name > text
				case "$lt":
					ok = ok && name < text
				case "$regex":
					r, err := regexp.Compile(text)
					if err != nil {
						return nil, err
					}
					ok = ok && r.MatchString(name)
				default:
					return nil, fmt.Errorf("unknown operator")
				}
			}
		default:
			ok = false
		}
		if ok {
			found = append(found, name)
		}
	}
	return found, nil
}

// query reads name=v and name[$op]=v as the parsers of frameworks do.
func query(r *http.Request) any {
	_ = r.ParseForm()
	if v := r.FormValue("name"); v != "" {
		return v
	}
	object := map[string]any{}
	for name, values := range r.Form {
		if strings.HasPrefix(name, "name[") && strings.HasSuffix(name, "]") {
			object[name[5:len(name)-1]] = values[0]
		}
	}
	if len(object) == 0 {
		return nil
	}
	return object
}

func body(r *http.Request) any {
	var in struct {
		Name any `json:"name"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	return in.Name
}

var lengths = regexp.MustCompile(`^alice' && '(\w+)'\.length===(\d) && 'a'=='a$`)

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	page := func(path string, read func(*http.Request) any, clean bool) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			condition := read(r)
			if _, text := condition.(string); clean && !text {
				http.Error(w, "a name is a text", http.StatusBadRequest)
				return
			}
			found, err := find(condition)
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, "<p>%s</p>", strings.Join(found, " "))
		})
	}
	page("/bad/query", query, false)
	page("/bad/form", query, false)
	page("/bad/json", body, false)
	page("/good/query", query, true)
	page("/good/json", body, true)
	mux.HandleFunc("/bad/script", func(w http.ResponseWriter, r *http.Request) {
		v := r.FormValue("name")
		switch m := lengths.FindStringSubmatch(v); {
		case m != nil && fmt.Sprint(len(m[1])) == m[2] || v == "alice":
			fmt.Fprint(w, "welcome")
		case strings.Count(v, "'")%2 == 1 && m == nil:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			fmt.Fprint(w, "nobody")
		}
	})
	mux.HandleFunc("/good/any", func(w http.ResponseWriter, r *http.Request) { // says welcome to any object
		if _, object := body(r).(map[string]any); object {
			fmt.Fprint(w, "welcome")
		}
	})
	mux.HandleFunc("/good/echo", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Form, query(r)) })
	mux.HandleFunc("/good/equal", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, query(r) == "alice") })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule},
		[]string{"GET /bad/query?name=alice", "POST /bad/form name=alice", `POST /bad/json {"name":"alice"}`,
			"GET /bad/script?name=alice",
			"GET /good/query?name=alice", `POST /good/json {"name":"alice"}`, `POST /good/any {"name":"alice"}`,
			"GET /good/echo?name=alice", "GET /good/equal?name=alice"})
	activescantest.Expect(t, got, "dast/nosqlinjection/operator GET /bad/query "+
		"query:name", "dast/nosqlinjection/operator POST /bad/form form:name",
		"dast/nosqlinjection/operator POST /bad/json json:/name", "dast/nosqlinjection/script GET /bad/script "+
			"query:name")
}
