package credentials

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func Test(t *testing.T) { scantest.Run(t, Analyzer) }

// These match rules and open nothing. They are put together here so that other
// people's scanners stay silent.
const (
	github = "gh" + "p_8Jk2mQpZ4vR7tX1nB6yC9wL3sD5fG0hAaEbU"
	stripe = "sk" + "_live_51Hq8Zx2KpVt7mWn3RbY6cLd9"
	awsID  = "AKI" + "AQYLPMN5HHHFPZAM2"
	awsKey = "1tUm636uS1yOEAHq1ESP" + "Fh7LqAyaJlcJMMrTRtfV"
	keyTop = "-----BEGIN EC PRIV" + "ATE KEY-----"
	keyEnd = "-----END EC PRIV" + "ATE KEY-----"
	key1   = "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY"
	key2   = "XZnoAoGCCqGSM49AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q"
)

// scanText scans one file and returns its findings and the stream.
func scanText(t *testing.T, name, text string) ([]finding.Finding, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	k := &keep{}
	o := scan.Options{Root: dir, Analyzers: []*scan.Analyzer{Analyzer}}
	if err := scan.Run(context.Background(), o, scan.Tee(k, scan.Encode(&b))); err != nil {
		t.Fatal(err)
	}
	if !k.Complete() {
		t.Fatalf("%+v", k.Incomplete())
	}
	return k.findings, b.String()
}

type keep struct {
	scan.Summary
	findings []finding.Finding
}

func (k *keep) Finding(m *finding.Finding) error {
	k.findings = append(k.findings, *m)
	return nil
}

// The secret is in nothing that leaves the process: not where it was found, not
// in the lines around another finding, not where it stands a second time.
func TestNothingTellsTheSecret(t *testing.T) {
	text := fmt.Sprintf("a = %q\nb = %q\n# old: %s\nkey = `%s\n%s\n%s\n%s`\nid = %q\nsecret_access_key = %q\n",
		github, stripe, github, keyTop, key1, key2, keyEnd, awsID, awsKey)
	findings, stream := scanText(t, "x.py", text)
	if len(findings) != 4 {
		t.Errorf("got %d findings, want 4 (the token at two places, the payment key, the private key, the "+
			"cloud key)", len(findings))
	}
	for _, secret := range []string{github, stripe, awsID, awsKey, key1, key2} {
		for at := 4; at+8 <= len(secret); at++ {
			if piece := secret[at : at+8]; strings.Contains(stream, piece) {
				t.Errorf("the stream holds %q of a secret:\n%s", piece, stream)
				break
			}
		}
	}
	for _, f := range findings {
		if f.Snippet == nil || !strings.Contains(strings.Join(f.Snippet.Lines, "\n"), finding.Redacted) {
			t.Errorf("%s: no snippet with a redaction: %+v", f.RuleID, f.Snippet)
		}
		if want := max(1, f.Location.StartLine-3); f.Snippet.StartLine != want {
			t.Errorf("%s: the snippet begins at line %d, want %d", f.RuleID, f.Snippet.StartLine, want)
		}
	}
}

func TestPlace(t *testing.T) {
	findings, _ := scanText(t, "x.py", "\n\n  ä = \""+github+"\"\n")
	if len(findings) != 1 {
		t.Fatalf("got %d findings, want 1", len(findings))
	}
	want := finding.Location{Path: "x.py", StartLine: 3, EndLine: 3, StartColumn: 8, EndColumn: 48}
	if diff := cmp.Diff(want, findings[0].Location); diff != "" {
		t.Errorf("place (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&finding.SecretMatch{Kind: "GitHub personal access token", Redacted: "ghp_…(40)"},
		findings[0].Secret, cmpopts.IgnoreFields(finding.SecretMatch{}, "Key")); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

// A long random secret is the same flaw wherever it stands; a password that
// somebody made up is known by its line, never by its hash.
func TestIdentity(t *testing.T) {
	flaw := func(text string) string {
		findings, _ := scanText(t, "x.env", text)
		if len(findings) != 1 {
			t.Fatalf("%q: got %d findings, want 1", text, len(findings))
		}
		return findings[0].Fingerprint.Flaw
	}
	if flaw("A="+github+"\n") != flaw("\n\nother: '"+github+"'\n") {
		t.Error("the same token in another line is another flaw")
	}
	if flaw("A="+github+"\n") == flaw("A="+github[:39]+"V\n") {
		t.Error("two tokens are one flaw")
	}
	one, two := flaw("db_password = \"xK9mZ2pQ7wLs\"\n"), flaw("db_password = \"vL3nB8rT5yHd\"\n")
	if one != two {
		t.Error("the fingerprint of a password depends on the password")
	}
}

// A file is searched in windows; what stands across their borders is found once.
func TestWindows(t *testing.T) {
	line := strings.Repeat("x", 78) + " y\n"
	for _, at := range []int{0, window - 100, window - 80, window, window + 80, 2*window - 40, 2 * window} {
		n := at / len(line)
		text := strings.Repeat(line, n) + "t = '" + github + "'\nk = '''" + keyTop + "\n" + key1 + "\n" + key2 + "\n" +
			keyEnd + "'''\n" +
			strings.Repeat(line, 3*window/len(line)-n)
		findings, _ := scanText(t, "x.py", text)
		var got []string
		for _, f := range findings {
			got = append(got, fmt.Sprintf("%s:%d-%d", f.RuleID, f.Location.StartLine, f.Location.EndLine))
		}
		want := []string{fmt.Sprintf("secrets/credentials/github-pat:%d-%d", n+1, n+1),
			fmt.Sprintf("secrets/credentials/private-key:%d-%d", n+2, n+5)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at byte %d (-want +got):\n%s", at, diff)
		}
	}
}

// One line larger than several windows is searched too.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("x ", window) + github + strings.Repeat(" x", window)
	if findings, _ := scanText(t, "x.js", text); len(findings) != 1 {
		t.Errorf("got %d findings, want 1", len(findings))
	}
}

// The form of a token comes up in Base64 by chance; a token in a URL does not.
func TestEmbedded(t *testing.T) {
	for text, want := range map[string]int{
		"iVwkWEiJfCRASIlMJDhJOcsPgscAAABJwe8jDx+" + stripe[8:] + github + "+AAABJwe8j\n": 0,
		"fetch('https://x.example/abc/" + github + "/def')":                              1,
		"a = '" + github + "'": 1,
		"iVwkWEiJfCRASIlMJDhJOcsPgscAAABJwe8jDx+AAA/" + awsID + "+SIlMJDhJOcsPgscAAABJwe": 0,
	} {
		if findings, _ := scanText(t, "x.txt", text); len(findings) != want {
			t.Errorf("%q: got %d findings, want %d", text, len(findings), want)
		}
	}
}

// Every rule of the rule set is fit to be shown.
func TestRules(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.rules) < 350 {
		t.Errorf("%d rules, want some 380", len(e.rules))
	}
	counts := map[finding.Severity]int{}
	for id, r := range e.rules {
		counts[r.Severity]++
		if r.Name == "" || r.Description == "" || r.HowToPrevent == "" || len(r.CWE) != 1 || len(r.OWASP) == 0 ||
			len(r.ID) > 200 || r.Severity.Rank() == 0 {
			t.Errorf("rule %s is not whole: %+v", id, r)
		}
	}
	t.Logf("rules by severity: %v", counts)
	for id, want := range map[string]finding.Severity{"private-key": finding.Critical,
		"aws-access-token": finding.Critical, "gitlab-ptt": finding.Critical,
		"generic-api-key": finding.Medium, "slack-bot-token": finding.High, "discord-client-id": finding.Low,
		"jwt": finding.Medium} {
		if got := e.rules[id].Severity; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	for id, want := range map[string]string{"aws-access-token": "AWS access key",
		"okta-access-token": "Okta access token", "gitlab-ptt": "GitLab pipeline trigger token",
		"rootly-api-key.1": "Rootly API key"} {
		if got := e.rules[id].Name; got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
}

func TestRedactKeepsLines(t *testing.T) {
	text := "a secret1\nb\nsecret2\nsecret2b c secret1\n"
	got := redactSecrets(text, []secret{{at: span{2, 9}, others: []span{{12, 28}}}})
	want := "a [redacted]\nb\n[redacted]\n[redacted] c [redacted]\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzAnalyzer(f *testing.F) {
	f.Add("x.py", "t = '"+github+"'\n"+keyTop+"\n"+key1+key2+"\n"+keyEnd)
	f.Add("a.env", "KEY="+awsID+"\r\nSECRET_ACCESS_KEY="+awsKey)
	f.Add("b", "\xff\xfeg\x00h\x00p\x00")
	f.Fuzz(func(t *testing.T, name, text string) {
		pass := &scan.FilePass{Context: context.Background(), Path: name, Size: int64(len(text)),
			ReadFile: func() ([]byte, error) { return []byte(text), nil },
			Reporter: scan.Reporter{Report: func(_ *finding.Rule, got finding.Finding) {
				if got.Identity == "" || got.Location.EndLine < got.Location.StartLine {
					t.Errorf("a finding without identity or with an impossible place: %+v", got)
				}
			}}}
		if err := analyzeFile(pass); err != nil {
			t.Error(err)
		}
	})
}
