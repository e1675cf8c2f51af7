package methods

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/scan"
)

func TestMethods(t *testing.T) {
	files := map[string]string{}
	open := func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodTrace:
			w.Header().Set("Content-Type", "message/http")
			dump, _ := httputil.DumpRequest(r, false)
			fmt.Fprintf(w, "%s", dump)
		case http.MethodPut:
			b, _ := io.ReadAll(r.Body)
			files[r.URL.Path] = string(b)
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			delete(files, r.URL.Path)
		default:
			if text, ok := files[r.URL.Path]; ok {
				fmt.Fprint(w, text)
				return
			}
			http.NotFound(w, r)
		}
	}
	checks := []*activescan.Rule{Rule, Write}
	activescantest.Expect(t, activescantest.Attack(t, http.HandlerFunc(open), checks, nil),
		"dast/methods/trace TRACE /",
		"dast/methods/put PUT /")
	if len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	activescantest.Expect(t, activescantest.Attack(t, http.HandlerFunc(open), checks, nil,
		activescantest.Profile(scan.Standard)),
		"dast/methods/trace TRACE /")
	polite := func(w http.ResponseWriter, r *http.Request) { // takes every method, and keeps nothing
		fmt.Fprintf(w, "<html>%s</html>", r.Header.Get("X-Other"))
	}
	activescantest.Expect(t, activescantest.Attack(t, http.HandlerFunc(polite), checks, nil))
}
