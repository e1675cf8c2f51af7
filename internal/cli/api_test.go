package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/finding"
)

// An API that does not ask for the sign-in that its description requires.
func TestAPI(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/items" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"id": 1}]`))
	}))
	defer server.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	spec := file("api.yaml", `openapi: 3.0.0
security: [{token: []}]
paths: {/items: {get: {operationId: items, responses: {"200": {description: OK}}}}, /gone: {get: {responses: {"200": {description: OK}}}}}
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
`)
	me := file("me.json", `{"name": "me", "bearer": "{{env:TOKEN}}"}`)
	run := func(args ...string) (int, string, string) {
		var out, errs strings.Builder
		code := Run(t.Context(), append([]string{"api", "--browser", "none", "--oast", "none", "--rate", "10000"},
			args...), Host{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Getenv: func(name string) string { return map[string]string{"TOKEN": "t0ken"}[name] }})
		return code, out.String(), errs.String()
	}
	code, out, errs := run("--openapi", spec, "--identity", me, "--format", "json", "--fail-on", "medium", server.URL+
		"/")
	var got struct {
		Findings   []finding.Finding
		Operations []finding.Operation
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	if code != ExitFindings || len(got.Findings) != 1 ||
		got.Findings[0].RuleID != "api/operations/missing-authentication" || got.Findings[0].Live.Identity != "me" {
		t.Errorf("code %d, findings %+v, %s", code, got.Findings, errs)
	}
	if len(got.Operations) != 2 || got.Operations[1].ID != "items" || got.Operations[1].Outcome != finding.Reached ||
		got.Operations[0].Reason == "" {
		t.Errorf("operations %+v", got.Operations)
	}
	if strings.Contains(out, "t0ken") {
		t.Error("the report holds the token")
	}
	if code, _, errs := run("--openapi", filepath.Join(dir, "none"), server.URL); code != ExitUsage {
		t.Errorf("a missing description gives %d: %s", code, errs)
	}
	if code, _, errs := run("--openapi", me, server.URL); code != ExitFailed {
		t.Errorf("a file that is no description gives %d: %s", code, errs)
	}
}
