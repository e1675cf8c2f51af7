package check_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/check"
)

// harmful are texts in payloads by which a program reads standard input, waits without an end,
// or writes a file. docs/dast-safety.md, "Payloads that run programs", lists what waits.
var harmful = map[string]*regexp.Regexp{
	"reads standard input": regexp.MustCompile(`(?:^|\s)-(?:\s|$)|/dev/(?:std(?:in|out)|fd/|tty|zero|random|urandom)|php://(?:stdin|input|filter/write)|\bSTDIN\b|System\.in\b|\b(?:raw_)?input\(|\bgets\b`),
	"has no end":           regexp.MustCompile(`\bsleep(?:\t| |\$\{IFS\})(?:inf|\d{2,})|\bping -n \d+ 1|\btail -f|\byes\b\s*\||while\s*\(\s*(?:1|true)|for\s*\(;;\)|(?i)WAITFOR DELAY '0:[1-9]|\bSLEEP\(\d{2,}|pg_sleep\(\d{2,}`),
	"writes a file":        regexp.MustCompile(`(?i)\bINTO\s+(?:OUT|DUMP)FILE|\bCOPY\b.*\bTO\b|\bxp_cmdshell|file_put_contents|\bfopen\(|\bopen\([^)]*['"]w|writeFile|FileWriter|FileOutputStream|\|\s*tee\b|\btouch\b|\bmkdir\b|\s>{1,2}\s*/`),
}

// Every value that any check sends to pages that repeat it, fail at it, or show nothing of it is
// free of them.
func TestPayloadsDoNoHarm(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]bool{}
	keep := func(r *http.Request) string {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if plain, err := url.QueryUnescape(string(body)); err == nil {
			sent[plain] = true
		}
		for _, values := range r.URL.Query() {
			for _, v := range values {
				sent[v] = true
			}
		}
		return r.URL.Query().Get("q")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><p>", html.EscapeString(keep(r)), "</p>")
	})
	mux.HandleFunc("/fail", func(w http.ResponseWriter, r *http.Request) {
		if v := keep(r); strings.ContainsAny(v, `'"`) {
			http.Error(w, "You have an error in your SQL syntax", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "well")
	})
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) { keep(r); fmt.Fprint(w, "well") })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		if v := keep(r); v != "a.txt" {
			http.Error(w, "failed to open stream", http.StatusNotFound)
			return
		}
		fmt.Fprint(w, "a file")
	})
	activescantest.Timed(t, mux, check.All, []string{"GET /echo?q=abc", "GET /fail?q=2", "GET /silent?q=abc",
		"GET /file?q=a.txt", `POST /echo?q=1 {"a": "abc"}`, "POST /silent a=abc", "POST /silent?x=1 <a>abc</a>"},
		func(r *activescan.Engine) { r.Parallel = 1 })
	if len(sent) < 100 {
		t.Fatalf("only %d values were sent", len(sent))
	}
	for value := range sent {
		for what, pattern := range harmful {
			if m := pattern.FindString(value); m != "" {
				t.Errorf("%q %s: %q", value, what, m)
			}
		}
	}
}
