package headerinjection

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

// raw writes an answer as it is: net/http takes no line ends in headers.
func raw(w http.ResponseWriter, text string) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = rw.WriteString("HTTP/1.1 200 OK\r\n" + text + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
	_ = rw.Flush()
}

func TestCheck(t *testing.T) {
	mux := http.NewServeMux()
	var operations []string
	page := func(path string, f http.HandlerFunc) {
		mux.HandleFunc(path, f)
		operations = append(operations, "GET "+path+"?q=en")
	}
	page("/bad/plain", func(w http.ResponseWriter, r *http.Request) { raw(w, "X-Language: "+r.FormValue("q")) })
	page("/bad/newline", func(w http.ResponseWriter, r *http.Request) {
		raw(w, "X-Language: "+strings.ReplaceAll(r.FormValue("q"), "\r", ""))
	})
	page("/bad/decoded", func(w http.ResponseWriter, r *http.Request) {
		v, _ := url.QueryUnescape(strings.NewReplacer("\r", "", "\n", "").Replace(r.FormValue("q")))
		raw(w, "X-Language: "+v)
	})
	page("/good/removed", func(w http.ResponseWriter, r *http.Request) {
		raw(w, "X-Language: "+strings.NewReplacer("\r", "", "\n", " ").Replace(r.FormValue("q")))
	})
	page("/good/library", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Language", r.FormValue("q"))
	})
	page("/good/encoded", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/x?q="+url.QueryEscape(r.FormValue("q")), http.StatusFound)
	})
	page("/good/body", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.FormValue("q")) })
	page("/good/fixed", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Language", "en") })
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations)
	activescantest.Expect(t, got, "dast/headerinjection/response GET /bad/plain "+
		"query:q", "dast/headerinjection/response "+
		"GET /bad/newline query:q", "dast/headerinjection/response GET /bad/decoded query:q")
	if got.Requests > 9*len(operations) {
		t.Errorf("%d requests for %d operations", got.Requests, len(operations))
	}
}
