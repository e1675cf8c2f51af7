package nullbyte

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// files are in a folder that gives away texts only.
var files = map[string]string{"plans.md": "public", "keys.bak": "secret", "old.sql": "insert"}

// folder answers for files; open makes the name that is opened out of the one that was
// asked for.
func folder(open func(string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if path.Ext(name) != ".md" {
			http.Error(w, "only .md and .doc files are permitted", http.StatusForbidden)
			return
		}
		text, ok := files[open(name)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}
}

func cut(name string) string {
	before, _, _ := strings.Cut(name, "\x00")
	return before
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	var operations []string
	add := func(at string, h http.HandlerFunc) {
		mux.HandleFunc(at, h)
		for name := range files {
			operations = append(operations, "GET "+at+name)
		}
	}
	add("/bad/once/", folder(cut))
	add("/bad/twice/", folder(func(name string) string {
		decoded, err := url.QueryUnescape(name)
		if err != nil {
			return name
		}
		return cut(decoded)
	}))
	add("/good/whole/", folder(func(name string) string { return name }))
	add("/good/first/", func(w http.ResponseWriter, r *http.Request) { folder(cut)(w, r.Clone(r.Context())) })
	mux.HandleFunc("/good/anything/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".bak") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "<html>the application")
	})
	operations = append(operations, "GET /good/anything/a.bak", "GET /good/anything/b.md")
	// The first of the good twins would open what a null byte cuts, and refuses it.
	refusing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/good/first/") && strings.ContainsRune(r.URL.Path, 0) {
			http.Error(w, "no control characters", http.StatusBadRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
	got := activescantest.Attack(t, refusing, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, "dast/nullbyte/file-type GET /bad/once/keys.bak", "dast/nullbyte/file-type GET "+
		"/bad/once/old.sql",
		"dast/nullbyte/file-type GET /bad/twice/keys.bak", "dast/nullbyte/file-type GET /bad/twice/old.sql")
	if got.Requests > 14*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}
