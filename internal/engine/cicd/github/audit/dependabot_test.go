package audit

import (
	"errors"
	"fmt"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/document"
	"merlon/internal/finding"
)

func TestIsDependabot(t *testing.T) {
	for path, want := range map[string]bool{
		".github/dependabot.yml":           true,
		".github/dependabot.yaml":          true,
		"vendor/.github/dependabot.yml":    true,
		"dependabot.yml":                   false,
		"x.github/dependabot.yml":          false,
		".github/workflows/dependabot.yml": false,
	} {
		if got := IsDependabot(path); got != want {
			t.Errorf("IsDependabot(%q) = %v", path, got)
		}
	}
}

func TestDependabot(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"no delay", `version: 2
updates:
  - package-ecosystem: npm
    directory: /
`, []string{"3 dependabot-cooldown"}},
		{"a short delay", `version: 2
updates:
  - package-ecosystem: npm
    cooldown:
      default-days: 3
`, []string{"5 dependabot-cooldown"}},
		{"a delay for some versions", `version: 2
updates:
  - package-ecosystem: npm
    cooldown:
      semver-major-days: 30
`, []string{"4 dependabot-cooldown"}},
		{"a delay of the group", `version: 2
multi-ecosystem-groups:
  all:
    cooldown: {default-days: 7}
updates:
  - package-ecosystem: npm
    multi-ecosystem-group: all
  - package-ecosystem: pip
    multi-ecosystem-group: other
`, []string{"8 dependabot-cooldown"}},
		{"code of the dependencies", `version: 2
updates:
  - package-ecosystem: bundler
    insecure-external-code-execution: allow
    cooldown: {default-days: 14}
  - package-ecosystem: bundler
    insecure-external-code-execution: deny
    cooldown: {default-days: 14}
  - directory: /
`, []string{"4 dependabot-execution"}},
	} {
		var got []string
		err := Dependabot(".github/dependabot.yml", []byte(c.text), func(r *finding.Rule, f finding.Finding) {
			got = append(got, fmt.Sprintf("%d %s", f.Location.StartLine, path.Base(r.ID)))
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestDependabotMalformed(t *testing.T) {
	for _, text := range []string{"", "a text\n", "version: 2\n", "updates: {a: b}\n", "updates: [\n"} {
		err := Dependabot(".github/dependabot.yml", []byte(text), func(*finding.Rule, finding.Finding) {})
		var malformed *document.Error
		if !errors.As(err, &malformed) || malformed.Line == 0 || malformed.Message == "" {
			t.Errorf("the error of %q is %v", text, err)
		}
	}
}
