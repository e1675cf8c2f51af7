package hostile

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"time"
)

// This file holds traps that lie in chance: what a scan compares, counts and times means
// nothing there, and it has to tell no flaw.

// randomBelow is a number below n that the number of the request decides.
// It is a hash of the number of the request: random for the scanner, the same in every run.
func (s *Site) randomBelow(of string, n int) int {
	text := numberedWord(of, s.Requests())
	value := 0
	// The eight letters are read as a number in base 26, modulo n at each step so that it does not
	// overflow.
	for i := range len(text) {
		value = (value*26 + int(text[i]-'a')) % n
	}
	return value
}

// complaints are what libraries say of what they cannot read.
// Each is a text that error-based injection checks search for: SQL (MySQL, PostgreSQL, Oracle),
// LDAP, path traversal, command injection, templates and XPath. A finding needs more than such a
// text: it has to appear with the attack and not without it.
var complaints = []string{
	"You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the " +
		"right syntax to use near ''1'' at line 1",
	`ERROR: syntax error at or near "1"`, "ORA-01756: quoted string not properly terminated",
	"javax.naming.NameNotFoundException: bad search filter",
	"open /srv/data/1: No such file or directory", "sh: 1: Syntax error: end of file unexpected",
	"TemplateSyntaxError: unexpected '}'", "XPathException: expected token",
}

// serveNoise serves an application whose pages with values are what the function makes of them.
func serveNoise(answer func(s *Site, w http.ResponseWriter, r *http.Request)) func(*Site) http.Handler {
	return func(s *Site) http.Handler {
		return withPrefix("/x", links, func(w http.ResponseWriter, r *http.Request) {
			setSecurityHeaders(w)
			answer(s, w, r)
		})
	}
}

// chances are targets with random responses: a scanner that compares single responses reports
// false positives.
var chances = []Trap{
	// Boolean-based injection compares a true with a false condition; here they differ by chance.
	{Name: "answers that change at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader([]int{200, 200, 200, 404, 500, 302}[s.randomBelow("status", 6)])
			writePage(w, strings.Repeat("<p>"+numberedWord("text", s.Requests())+"</p>", s.randomBelow("length", 20)))
		})},
	// Two responses that look like "condition true" and "condition false": with n comparisons by
	// chance all agree with probability 2^-n, so confirmation needs enough of them.
	{Name: "two answers that take turns at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			writePage(w, []string{"<p>There is one result.</p>", "<p>There are no results.</p>"}[s.randomBelow("turn",
				2)])
		})},
	// Two of three responses are normal, so an error may follow an attack and not the control
	// request.
	{Name: "errors of libraries at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			if s.randomBelow("error", 3) > 0 {
				writePage(w, "<p>There is one result.</p>")
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
			writePage(w, "<p>"+html.EscapeString(complaints[s.randomBelow("complaint", len(complaints))])+"</p>")
		})},
	// Up to 1.75 s in steps of 250 ms, as if sleep(1) worked: time-based injection needs delays
	// that follow the requested duration.
	{Name: "delays at random", Whole: true, build: serveNoise(func(s *Site, w http.ResponseWriter, r *http.Request) {
		if sleepContext(r.Context(), time.Duration(s.randomBelow("delay", 8))*250*time.Millisecond) {
			writePage(w, "<p>There is one result.</p>")
		}
	})},
	// An echo contains every payload unchanged. It is text/plain with nosniff and a policy that
	// forbids script, so no browser runs it: this is not cross-site scripting.
	{Name: "an echo of the whole request, as text", Whole: true,
		build: serveNoise(func(_ *Site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			writeText(w, r.Method+" "+r.URL.String()+"\n")
			_ = r.Header.Write(w)                                    // somebody may be gone
			_, _ = io.Copy(w, http.MaxBytesReader(w, r.Body, 1<<20)) // likewise
		})},
	// The same as HTML with escaping, which is the correct defence.
	{Name: "an echo of the whole request, encoded", Whole: true,
		build: serveNoise(func(_ *Site, w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
			if err != nil {
				return // it is gone
			}
			writePage(w, "<pre>"+html.EscapeString(fmt.Sprint(r.Method, " ", r.URL, r.Header, string(body)))+"</pre>")
		})},
}
