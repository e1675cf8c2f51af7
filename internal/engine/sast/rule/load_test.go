package rule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	one := head + "  pattern: x\n"
	for name, text := range map[string]string{
		"r/a.yaml": one, "r/sub/b.yml": one + "- id: broken\n", "r/a.test.yaml": one, "r/a.fixed.yaml": one,
		"r/.hidden/c.yaml": one,
		"r/roles.yaml":     "rules:\n- verbs: [get]\n", "r/list.yaml": "- rules\n", "r/broken.yaml": "rules: [",
		"r/a.py":    one,
		"alone.txt": one,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := Parser{}.Load("r", "alone.txt")
	var got []string
	for _, r := range rules {
		got = append(got, r.Path)
	}
	if diff := cmp.Diff([]string{"r/a.yaml", "r/sub/b.yml", "alone.txt"}, got); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "r/sub/b.yml:7: rule broken: a rule needs the key message") {
		t.Errorf("faults %v", err)
	}
	if _, err := (Parser{}).Load("nowhere"); err == nil {
		t.Error("a path that is not there has rules")
	}
}
