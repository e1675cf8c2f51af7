package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/finding"
)

func TestDast(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			if r.Header.Get("Authorization") != "Bearer t0ken" || r.Header.Get("X-Team") != "blue" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `<html><a href="/go?to=/">go</a>`)
		case "/go":
			http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	auth := filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(auth, []byte(`{"name": "me", "bearer": "{{env:TOKEN}}"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string, string) {
		var out, errs strings.Builder
		code := Run(t.Context(), append([]string{"dast", "--browser", "none", "--oast", "none"}, args...),
			Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
				Getenv: func(name string) string { return map[string]string{"TOKEN": "t0ken"}[name] }})
		return code, out.String(), errs.String()
	}
	code, out, errs := run(server.URL, "--auth", auth, "--header", "X-Team: blue", "--format", "json", "--fail-on",
		"medium")
	if code != ExitFindings {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	var report struct {
		Findings   []finding.Finding
		Operations []finding.Operation
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range report.Findings {
		found = found || f.RuleID == "dast/redirect/open-redirect" && f.Live != nil && f.Live.Identity == "me"
	}
	if !found || len(report.Operations) < 2 || strings.Contains(out, "t0ken") {
		t.Errorf("report %s", out)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "id: gone\ninfo: {name: Gone, severity: high}\nhttp:\n  - " +
		"path: [\"{{BaseURL}}/{{word}}\"]\n    payloads: {word: list.txt}\n    matchers:\n      - {type: status, " +
		"status: [404]}\n",
		"list.txt": "x\n", "README.md": "no template"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := run(server.URL, "--template", folder, "--check", "template", "--format", "json", "--fail-on",
		"high"); code != ExitFindings || !strings.Contains(out, "template/gone") || strings.Contains(out, "README") {
		t.Errorf("templates: exit %d: %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"ftp://a"}, {server.URL, "--template", filepath.Join(folder, "none")},
		{server.URL, "--auth", filepath.Join(t.TempDir(), "none")}, {server.URL, "--header", "x"},
		{server.URL, "--include", " "}} {
		if code, out, _ := run(args...); code != ExitUsage && code != ExitFailed {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
	}
	server.Close()
	if code, out, _ := run(server.URL); code != ExitFailed {
		t.Errorf("a dead target: exit %d, %s", code, out)
	}
}
