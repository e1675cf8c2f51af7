package application_test

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// What a user stored is looked for in the pages that only the administrator is shown links to.
func TestPagesForAdministrators(t *testing.T) {
	for _, flawed := range []bool{true, false} {
		var mu sync.Mutex
		var messages, removed []string
		strangers := 0
		got := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			who := ""
			if c, err := r.Cookie("who"); err == nil {
				who = c.Value
			}
			w.Header().Set("Content-Type", "text/html")
			switch {
			case r.URL.Path == "/" && who == "admin-1":
				fmt.Fprint(w, `<a href="/office">Office</a>`)
			case r.URL.Path == "/" && who == "jane-1":
				fmt.Fprint(w, `<form action="/notes" method="post"><input name="text"> <button>Add</button></form>`)
			case r.URL.Path == "/notes" && r.Method == http.MethodPost && who == "jane-1":
				messages = append(messages, r.FormValue("text"))
				fmt.Fprint(w, "<p>Thank you.</p>")
			case strings.HasPrefix(r.URL.Path, "/office") && who != "admin-1":
				strangers++
				w.WriteHeader(http.StatusForbidden)
			case r.URL.Path == "/office":
				fmt.Fprint(w, `<a href="/office/notes">Notes</a> <a href="/office/notes/delete?id=1">Delete</a> <a href="/office/purge">Purge</a> <a href="/logout">Sign out</a>`)
			case r.URL.Path == "/office/notes":
				for _, m := range messages {
					if !flawed {
						m = html.EscapeString(m)
					}
					fmt.Fprintf(w, "<li>%s</li>", m)
				}
			case strings.HasPrefix(r.URL.Path, "/office/"), r.URL.Path == "/logout":
				removed = append(removed, r.URL.String())
			default:
				http.NotFound(w, r)
			}
		}), func(o *scan.Options) {
			o.Live.Target.Profile = scan.Standard
			o.Live.Target.Identities = []scan.Identity{{Name: "jane", Cookie: "who=jane-1", Role: 1},
				{Name: "anna", Cookie: "who=admin-1", Role: 2}}
		})
		found := false
		for _, f := range got.Findings {
			found = found || f.RuleID == "dast/xss/stored" && strings.Contains(strings.Join(f.Live.Proof, " "), "anna")
		}
		if found != flawed {
			t.Errorf("flawed %v: found %v: %+v", flawed, found, got.Findings)
		}
		if len(removed) > 0 {
			t.Errorf("asked as the administrator: %q", removed)
		}
	}
}
