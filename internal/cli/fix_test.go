package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plantShop writes a project with a direct and a transitive vulnerable package, and
// the records about them.
func plantShop(t *testing.T) {
	t.Helper()
	plant(t)
	record := func(id, name, fixed string) string {
		event := ""
		if fixed != "" {
			event = fmt.Sprintf(`,{"fixed":%q}`, fixed)
		}
		return fmt.Sprintf(`{"schema_version":"1.6.0","id":%q,"modified":"2026-01-01T00:00:00Z","summary":"a flaw","affected":[{"package":{"ecosystem":"npm","name":%q},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}%s]}]}]}`, id, name, event)
	}
	for name, text := range map[string]string{
		"shop/web/package.json": "{\n  \"dependencies\": {\n    \"left-pad\":  \"^1.3.0\"\n  }\n}\n",
		"shop/web/package-lock.json": `{"name":"shop","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"shop","version":"1.0.0",
			"dependencies":{"left-pad":"^1.3.0"}},"node_modules/left-pad":{"version":"1.3.0","dependencies":{"deep":"1"}},"node_modules/deep":{"version":"1.0.0"}}}`,
		"osv/1.json": record("CVE-2026-1", "left-pad", "1.3.2"), "osv/2.json": record("CVE-2026-2", "left-pad",
			"2.0.0"), "osv/3.json": record("CVE-2026-3", "deep", "1.0.1"),
		"bad/1.json": record("CVE-2026-4", "deep", ""),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFix(t *testing.T) {
	plantShop(t)
	manifest := func() string {
		text, err := os.ReadFile("shop/web/package.json")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := manifest()
	for _, tt := range []struct {
		options string
		exit    int
		says    []string
	}{
		{"", ExitOK, []string{"web/package.json:3\n-    \"left-pad\":  \"^1.3.0\"\n+    \"left-pad\":  " +
			"\"^2.0.0\"\n", "cd web && npm install left-pad@2.0.0",
			"cd web && npm pkg set 'overrides[deep@1.0.0]=1.0.1' && npm install", "known for 3 of 3",
			"left-pad 1.3.0 -> 2.0.0 (web/package-lock.json:2, direct), major upgrade: clears CVE-2026-2, " +
				"CVE-2026-1\n"}},
		{"--level patch", ExitFindings, []string{"+    \"left-pad\":  \"^1.3.2\"\n", "web/package-lock.json: " +
			"left-pad 1.3.0 (CVE-2026-2): 2.0.0 clears it, but that is a major upgrade", "known for 2 of 3"}},
		{"--only cve-2026-1 --single", ExitOK, []string{"+    \"left-pad\":  \"^1.3.2\"\n", "known for 1 of 1"}},
		{"--only deep", ExitOK, []string{"known for 1 of 1"}},
		{"--only nothing", ExitOK, []string{"known for 0 of 0"}},
	} {
		code, out, errOut := transcript(t, nil, append([]string{"fix", "shop", "--advisories", "osv"},
			strings.Fields(tt.options)...)...)
		for _, says := range tt.says {
			if code != tt.exit || !strings.Contains(out, says) {
				t.Errorf("%s: exit %d, want %d, and %q in\n%s%s", tt.options, code, tt.exit, says, out, errOut)
			}
		}
	}
	if manifest() != before {
		t.Errorf("the manifest was changed without --write: %s", manifest())
	}
	if code, _, errOut := transcript(t, nil, "fix", "shop", "--advisories", "bad"); code != ExitFindings {
		t.Errorf("nothing clears it, exit %d: %s", code, errOut)
	}
	if code, out, errOut := transcript(t, nil, "fix", "shop", "--advisories", "osv", "--write"); code != ExitOK {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	if want := strings.Replace(before, "^1.3.0", "^2.0.0", 1); manifest() != want {
		t.Errorf("got %s, want %s", manifest(), want)
	}
	if info, err := os.Stat("shop/web/package.json"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has become %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob("shop/web/*.merlon"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, args := range []string{"fix nowhere --advisories osv", "fix shop --profile most",
		"fix shop --advisories none",
		"fix shop --advisories osv --level huge"} {
		if code, _, _ := transcript(t, nil, strings.Fields(args)...); code != ExitUsage {
			t.Errorf("%s: exit %d, want %d", args, code, ExitUsage)
		}
	}
}

// The edit of a real rule is shown, and written only with --write; the next scan does not report
// the finding any more. Advisories are not needed.
func TestFixCode(t *testing.T) {
	plant(t)
	before := "apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: web\r\n  namespace: shop\r\nspec:\r\n  " +
		"containers:\r\n" +
		"    - name: web\r\n      image: registry.example.com/web:1.2.3"
	if err := os.MkdirAll("deploy/k8s", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("deploy/k8s/web.yaml", []byte(before), 0o640); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		text, err := os.ReadFile("deploy/k8s/web.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	rule := "iac/kubernetes/pod-security-restricted"
	for _, tt := range []struct {
		only    string
		changes bool
	}{{"", true}, {"--only k8s/", true}, {"--only k8s/web.yaml", true}, {"--only " + rule, true}, {"--only k8", false},
		{"--only left-pad", false}} {
		code, out, errOut := transcript(t, nil, append([]string{"fix", "deploy"}, strings.Fields(tt.only)...)...)
		if code != ExitOK || !strings.HasPrefix(out, "Without --advisories, only changes of infrastructure code and "+
			"workflows are proposed.\n") {
			t.Errorf("%s: exit %d: %s%s", tt.only, code, out, errOut)
		}
		for _, want := range []string{"--- a/k8s/web.yaml\n+++ b/k8s/web.yaml\n@@ ", "\n+    runAsNonRoot: true\n",
			"Cleared:\n  k8s/web.yaml:4 " + rule + " (medium): ", "Edits clear 1 of 1 findings of code.\n"} {
			if strings.Contains(out, want) != tt.changes {
				t.Errorf("%s: %q is in the output: %v, want %v\n%s", tt.only, want, !tt.changes, tt.changes, out)
			}
		}
	}
	if read() != before {
		t.Errorf("the file was changed without --write: %s", read())
	}
	if code, out, errOut := transcript(t, nil, "fix", "deploy", "--write"); code != ExitOK {
		t.Fatalf("exit %d: %s%s", code, out, errOut)
	}
	after := read()
	if strings.Count(after, "\r\n") != strings.Count(after, "\n") || strings.HasSuffix(after, "\n") ||
		!strings.Contains(after, "\r\n    runAsNonRoot: true\r\n") {
		t.Errorf("the line ends or the final newline are others: %q", after)
	}
	if info, err := os.Stat("deploy/k8s/web.yaml"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has become %v, %v", info.Mode(), err)
	}
	if code, out, _ := transcript(t, nil, "fix", "deploy"); code != ExitOK ||
		!strings.Contains(out, "0 of 0 findings") {
		t.Errorf("after the fix: exit %d: %s", code, out)
	}
}

// A file that was changed or replaced by a link after the analysis is not written.
func TestWriteFilesRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][]changedText{
		"is not a regular file": {{"a", "text", "new"}, {"link", "text", "new"}},
		"has changed since":     {{"a", "text", "new"}, {"a", "other", "new"}},
		"cannot read none":      {{"a", "text", "new"}, {"none", "text", "new"}},
		"cannot read ../x":      {{"a", "text", "new"}, {"../x", "text", "new"}},
	} {
		if err := writeFiles(dir, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "text" {
		t.Errorf("the file was changed to %q, %v", text, err)
	}
}
