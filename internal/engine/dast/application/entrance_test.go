package application_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"merlon/internal/scan"
)

// The form that the scan signs in by, and what only its page leads to, are attacked by a
// guest: who is signed in is sent on to the home page. The session lasts.
func TestEntrance(t *testing.T) {
	for _, bad := range []bool{true, false} {
		var mu sync.Mutex
		var signed int
		show := func(text string) string {
			if bad {
				return text
			}
			return html.EscapeString(text)
		}
		inside := func(r *http.Request) bool {
			c, err := r.Cookie("sid")
			return err == nil && c.Value == "jane"
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome") })
		mux.HandleFunc("/home", func(w http.ResponseWriter, r *http.Request) {
			if !inside(r) {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			fmt.Fprint(w, "<html>hello Jane, <a href=/logout>sign out</a>")
		})
		mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
			if inside(r) {
				http.Redirect(w, r, "/home", http.StatusFound)
				return
			}
			if r.FormValue("name") == "jane" && r.FormValue("password") == "right" {
				mu.Lock()
				signed++
				mu.Unlock()
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "jane", Path: "/"})
				http.Redirect(w, r, "/home", http.StatusFound)
				return
			}
			if r.Method == http.MethodPost {
				fmt.Fprintf(w, "<html>nobody is called %s", show(r.FormValue("name")))
			}
			fmt.Fprint(w, "<html><form method=post><input name=name><input type=password name=password><input "+
				"type=submit></form><a href=/help?about=x>help</a>")
		})
		mux.HandleFunc("/help", func(w http.ResponseWriter, r *http.Request) {
			if inside(r) {
				http.Redirect(w, r, "/home", http.StatusFound)
				return
			}
			fmt.Fprintf(w, "<html>nothing is known of %s", show(r.FormValue("about")))
		})
		got := examine(t, mux, func(o *scan.Options) {
			o.Live.Target.Identities = []scan.Identity{{Name: "jane", Form: &scan.FormLogin{URL: "/login", User: "jane",
				Password: "right"}, Marker: scan.Marker{URL: "/home", In: "hello Jane"}}}
			o.Live.Target.Checks = []string{"xss"}
			o.Live.Target.Profile = scan.Full // the others send a sign-in form too little
		})
		var found []string
		for _, f := range got.Findings {
			if f.RuleID == "dast/xss/reflected" {
				found = append(found, f.Live.Method+" "+f.Location.Path[strings.IndexByte(f.Location.Path, '/'):]+" "+
					f.Live.Parameter)
			}
		}
		slices.Sort(found)
		var want []string
		if bad {
			want = []string{"GET /help about", "POST /login name"}
		}
		if !slices.Equal(found, want) {
			t.Errorf("bad %v: found %q, want %q; %+v", bad, found, want, got.Operations)
		}
		if signed != 1 {
			t.Errorf("bad %v: signed in %d times", bad, signed)
		}
	}
}
