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
func (s *Site) randomBelow(of string, n int) int {
	text := numberedWord(of, s.Requests())
	value := 0
	for i := range len(text) {
		value = (value*26 + int(text[i]-'a')) % n
	}
	return value
}

// complaints are what libraries say of what they cannot read.
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
	{Name: "answers that change at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader([]int{200, 200, 200, 404, 500, 302}[s.randomBelow("status", 6)])
			writePage(w, strings.Repeat("<p>"+numberedWord("text", s.Requests())+"</p>", s.randomBelow("length", 20)))
		})},
	{Name: "two answers that take turns at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			writePage(w, []string{"<p>There is one result.</p>", "<p>There are no results.</p>"}[s.randomBelow("turn",
				2)])
		})},
	{Name: "errors of libraries at random", Whole: true,
		build: serveNoise(func(s *Site, w http.ResponseWriter, _ *http.Request) {
			if s.randomBelow("error", 3) > 0 {
				writePage(w, "<p>There is one result.</p>")
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
			writePage(w, "<p>"+html.EscapeString(complaints[s.randomBelow("complaint", len(complaints))])+"</p>")
		})},
	{Name: "delays at random", Whole: true, build: serveNoise(func(s *Site, w http.ResponseWriter, r *http.Request) {
		if sleepContext(r.Context(), time.Duration(s.randomBelow("delay", 8))*250*time.Millisecond) {
			writePage(w, "<p>There is one result.</p>")
		}
	})},
	{Name: "an echo of the whole request, as text", Whole: true,
		build: serveNoise(func(_ *Site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Security-Policy", "default-src 'none'")
			writeText(w, r.Method+" "+r.URL.String()+"\n")
			_ = r.Header.Write(w)                                    // somebody may be gone
			_, _ = io.Copy(w, http.MaxBytesReader(w, r.Body, 1<<20)) // likewise
		})},
	{Name: "an echo of the whole request, encoded", Whole: true,
		build: serveNoise(func(_ *Site, w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
			if err != nil {
				return // it is gone
			}
			writePage(w, "<pre>"+html.EscapeString(fmt.Sprint(r.Method, " ", r.URL, r.Header, string(body)))+"</pre>")
		})},
}
