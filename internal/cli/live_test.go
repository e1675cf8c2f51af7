package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merlon/internal/scan"
)

// merlon runs a command with a password in the environment.
func merlon(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr strings.Builder
	code = Run(ctx, append(args, "--browser", "none", "--oast", "none", "--rate", "10000"),
		Host{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
			Getenv: func(name string) string { return map[string]string{"PASSWORD": `pass"word`}[name] }})
	return code, stdout.String(), stderr.String()
}

// temporary writes a file.
func temporary(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// An interrupted scan writes its report: what was found, that it was interrupted, and what was
// left, by name.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			fmt.Fprint(w, `<html><a href="/go?to=/">go</a>`)
			for i := range 20 {
				fmt.Fprintf(w, `<a href="/page%c?q=1">page</a>`, 'a'+i)
			}
		case r.URL.Path == "/go":
			http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
		case r.URL.Path == "/paget" && len(r.FormValue("q")) > 1: // an attack
			interrupt()
		}
	}))
	defer server.Close()
	code, out, errs := merlon(ctx, "dast", server.URL, "--fail-on", "medium", "--check", "redirect", "--check",
		"sqlinjection")
	if code != ExitFindings || !strings.Contains(out, "dast/redirect/open-redirect") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	for _, want := range []string{"the scan was interrupted", "the scan ended before", "GET /page",
		"operations reached"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not have %q: %s", want, out)
		}
	}
	if strings.Contains(out, "file to look at") || strings.Contains(out, "0 files") {
		t.Errorf("the report is about files: %s", out)
	}
}

// A sign-in that fails ends the scan with exit code 2 before anything is examined, unless the
// user asks for a scan as a guest.
func TestFailedSignIn(t *testing.T) {
	var others atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/login" && r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), "right") {
				fmt.Fprint(w, `{"token": "t0ken"}`)
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/go":
			others.Add(1)
			http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
		case r.URL.Path == "/items":
			others.Add(1)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[]`)
		default:
			fmt.Fprint(w, `<html><a href="/go?to=/">go</a>`)
		}
	}))
	defer server.Close()
	wrong := temporary(t, `{"name": "jane", "json": {"url": "/login", "body": {"user": "jane", "password": "wrong"}}}`)
	both := temporary(t, `[{"name": "joe", "json": {"url": "/login", "body": "{\"user\": \"joe\", \"password\": \"right\"}"}},
		{"name": "jane", "json": {"url": "/login", "body": {"user": "jane", "password": "wrong"}}}]`)
	spec := temporary(t, "openapi: 3.0.0\npaths: {/items: {get: {responses: {\"200\": {description: OK}}}}}\n")
	for _, args := range [][]string{{"dast", server.URL, "--auth", wrong}, {"dast", server.URL, "--auth", both},
		{"api", server.URL, "--openapi", spec, "--auth", wrong}, {"api", server.URL, "--openapi", spec, "--auth",
			both}} {
		others.Store(0)
		code, out, errs := merlon(t.Context(), args...)
		if code != ExitFailed || others.Load() > 0 ||
			!strings.Contains(errs, `sign-in failed, nothing was examined: signing in as "jane" failed: `) {
			t.Errorf("%v: exit %d, %d requests to other pages: %s%s", args, code, others.Load(), out, errs)
		}
		if _, out, errs = merlon(t.Context(), append(args, "--guest", "--check", "redirect")...); others.Load() == 0 ||
			!strings.Contains(out, "the scan continues without this session") {
			t.Errorf("%v --guest: %s%s", args, out, errs)
		}
	}
}

// The body of a sign-in may be written as the object that it is.
func TestSignInWithObject(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path != "/login":
			fmt.Fprint(w, "<html>home")
		case string(body) == `{"user": "jane", "password": "pass\"word"}`:
			fmt.Fprint(w, `{"data": {"token": "t0ken"}}`)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	auth := temporary(t, `{"name": "jane", "json": {"url": "/login", "body": {"user": "jane", "password": "{{env:PASSWORD}}"}, "token": "/data/token"}}`)
	if code, out, errs := merlon(t.Context(), "dast", server.URL, "--auth", auth, "--check", "redirect", "--fail-on",
		"none"); code != ExitOK {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// Without a terminal, each tick writes one line about the scan.
func TestHeartbeat(t *testing.T) {
	var m scan.Monitor
	ticks, done := make(chan time.Time), make(chan struct{})
	read, write := io.Pipe()
	go writeHeartbeats(write, &m, ticks, done)
	defer close(done)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	line := func() string {
		ticks <- at
		var b [200]byte
		n, err := read.Read(b[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	if got, want := line(), "2026-03-01T12:00:00Z preparing\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m.Watch(func() scan.Snapshot {
		return scan.Snapshot{Phase: "attacking", Requests: 1234, Done: 5, Left: 6, Findings: 7}
	})
	if got, want := line(), "2026-03-01T12:00:00Z attacking; 1234 requests, 5 operations attacked, 6 left, 7 "+
		"findings\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
