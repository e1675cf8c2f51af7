package ldapinjection

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"path"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

var errFilter = errors.New("bad search filter")

// match evaluates a filter (RFC 4515: and, or, not, equality with wildcards) for an
// entry, and returns what follows it.
func match(filter string, entry map[string]string) (ok bool, rest string, err error) {
	if !strings.HasPrefix(filter, "(") || len(filter) < 3 {
		return false, "", errFilter
	}
	switch filter[1] {
	case '&', '|', '!':
		op, rest := filter[1], filter[2:]
		ok = op == '&'
		for strings.HasPrefix(rest, "(") {
			var one bool
			if one, rest, err = match(rest, entry); err != nil {
				return false, "", err
			}
			switch op {
			case '&':
				ok = ok && one
			case '|':
				ok = ok || one
			default:
				ok = !one
			}
		}
		if !strings.HasPrefix(rest, ")") {
			return false, "", errFilter
		}
		return ok, rest[1:], nil
	}
	end := strings.IndexByte(filter, ')')
	if end < 0 {
		return false, "", errFilter
	}
	name, value, found := strings.Cut(filter[1:end], "=")
	if !found || strings.ContainsAny(name, `("'`) || strings.Contains(value, "(") {
		return false, "", errFilter
	}
	var pattern strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+2 < len(value) {
			c, err := strconv.ParseUint(value[i+1:i+3], 16, 8)
			if err != nil {
				return false, "", errFilter
			}
			pattern.WriteString("\\" + string(rune(c)))
			i += 2
			continue
		}
		pattern.WriteByte(value[i])
	}
	ok, err = path.Match(pattern.String(), entry[strings.ToLower(name)])
	return ok && entry[strings.ToLower(name)] != "", filter[end+1:], err
}

var entries = []map[string]string{
	{"uid": "alice", "cn": "Alice Archer", "objectclass": "person"},
	{"uid": "bob", "cn": "Bob Baker", "objectclass": "person"},
	{"uid": "carol", "cn": "Carol Cook", "objectclass": "person"},
}

func search(filter string) (names []string, err error) {
	for _, e := range entries {
		ok, rest, err := match(filter, e)
		if err != nil || rest != "" {
			return nil, errFilter
		}
		if ok {
			names = append(names, e["cn"])
		}
	}
	return names, nil
}

var escape = strings.NewReplacer(`\`, `\5c`, "*", `\2a`, "(", `\28`, ")", `\29`, "\x00", `\00`)

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	var operations, want []string
	for name, filter := range map[string]string{"alone": "(uid=%s)", "and": "(&(objectclass=person)(uid=%s))",
		"or": "(|(uid=%s)(cn=nobody))", "not": "(&(objectclass=person)(!(uid=%s)))"} {
		for _, good := range []bool{false, true} {
			for _, errors := range []bool{false, true} {
				p := fmt.Sprintf("/%s/%v/%v", name, good, errors)
				mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) {
					v := r.FormValue("q")
					if good {
						v = escape.Replace(v)
					}
					names, err := search(fmt.Sprintf(filter, v))
					if err != nil && errors {
						http.Error(w, err.Error(), http.StatusInternalServerError)
						return
					}
					fmt.Fprintf(w, "<p>You searched %s and found: %s</p>", html.EscapeString(r.FormValue("q")),
						strings.Join(names, "; "))
				})
				for _, v := range []string{"alice", "nobody"} {
					if name == "alone" && v == "nobody" || name == "not" && v == "nobody" {
						continue // a filter that is one comparison shows nothing without an entry
					}
					operations = append(operations, "GET "+p+"?q="+v+"&x"+v+"=1")
				}
				if !good {
					want = append(want, p)
				}
			}
		}
	}
	silent := map[string]func(string) string{
		"/glob": func(v string) string { ok, _ := path.Match(v, "alice"); return fmt.Sprint(ok) },
		"/echo": html.EscapeString,
		"/parens": func(v string) string {
			if strings.Count(v, "(") != strings.Count(v, ")") {
				return "syntax error"
			}
			return "ok"
		},
		"/firewall": func(v string) string {
			if strings.ContainsAny(v, "*()\\") {
				return "javax.naming.NamingException? blocked"
			}
			return v
		},
		"/length": func(v string) string { return strings.Repeat("x", len(v)%7) },
		"/last": func(v string) string { // a pattern that wants a letter at the end
			if c := v[len(v)-1]; c >= 'a' && c <= 'z' {
				return "asked"
			}
			return "not an address"
		},
		"/equal": func(v string) string { return fmt.Sprint(v == "alice") },
	}
	for p, f := range silent {
		mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, f(r.FormValue("q"))) })
		operations = append(operations, "GET "+p+"?q=alice")
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	found := map[string]bool{}
	for _, f := range got.Findings {
		line := activescantest.Line(f)
		p := strings.TrimSuffix(strings.TrimPrefix(line, "dast/ldapinjection/filter GET "), " query:q")
		if found[p] = true; strings.Contains(p, "/true/") || silent[p] != nil {
			t.Errorf("found: %s with %s", line, f.Live.Payload)
		}
	}
	for _, p := range want {
		if !found[p] {
			t.Errorf("%s: not found", p)
		}
	}
	if got.Requests > 20*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}

// A search over what an earlier attack has left finds its payloads, and evaluates none.
func TestTraces(t *testing.T) {
	stored := []string{"hello", "*)(objectClass=*", "hello)(objectClass=*"}
	find := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range stored {
			if strings.Contains(strings.ToLower(s), strings.ToLower(r.FormValue("q"))) {
				fmt.Fprintln(w, "<p>an entry</p>")
			}
		}
	})
	activescantest.Expect(t, activescantest.Attack(t, find, []*activescan.Rule{Rule},
		[]string{"GET /find?q=hello", "GET /find?q=x"}))
}

// An editor repeats what it is given, with its own ends of lines.
func TestEditor(t *testing.T) {
	edit := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := strings.ReplaceAll(strings.ReplaceAll(r.FormValue("text"), "\r\n", "\n"), "\n", "\r\n")
		fmt.Fprintf(w, "<textarea>%s</textarea>", html.EscapeString(text))
	})
	activescantest.Expect(t, activescantest.Attack(t, edit, []*activescan.Rule{Rule}, []string{"POST /edit " +
		"text=%3D%3D%3D+a+%3D%3D%3D%0Atext"}))
}
