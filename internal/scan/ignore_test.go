package scan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var ignoreCases = []struct {
	text string
	hit  string // paths, separated by spaces
	miss string
}{
	{"foo", "foo a/foo foo/b a/foo/b", "food a/xfoo"},
	{"/foo", "foo foo/b", "a/foo"},
	{"foo/", "foo/b a/foo/b", "a/b/c"},
	{"a/b", "a/b a/b/c", "x/a/b"},
	{"*.go", "x.go a/x.go", "x.gox"},
	{"a/*.go", "a/x.go", "a/b/x.go x.go"},
	{"**/x", "x a/x a/b/x x/y", "ax"},
	{"a/**/x", "a/x a/b/x a/b/c/x", "a/bx b/a/x"},
	{"a/**", "a/x a/b/x", "b/a/x"},
	{"a**b", "ab axxb c/axb", "a/b"},
	{"a?c", "abc", "a/c ac"},
	{"[a-c]x", "ax bx", "dx -x"},
	{"[!a-c]x", "dx", "ax"},
	{"[]x]y", "]y xy", "zy"},
	{"[[:digit:]]x", "1x", "ax"},
	{"# x\n\\#x", "#x", "x"},
	{"\\!x", "!x", "x"},
	{"x  \n", "x", "y"},
	{"x\\ ", "x\\040", "x"},
	{"*.txt\n!keep.txt", "a.txt d/b.txt", "keep.txt d/keep.txt"},
	{"d/\n!d/keep.txt", "d/keep.txt d/x", "e/x"},
	{"d/*\n!d/keep.txt", "d/x", "d/keep.txt"},
	{"*\n!*/\n!*.md", "x a/x", "x.md a/b/x.md"},
	{"a.b", "a.b", "aXb"},
	{"[", "", "[ x"},
	{"a\\*", "a*", "ab"},
}

func names(s string) []string {
	out := strings.Fields(s)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "\\040", " ")
	}
	return out
}

func TestIgnore(t *testing.T) {
	for _, c := range ignoreCases {
		ig, err := parseIgnore(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, name := range names(c.hit) {
			if !ig.ignoresFile(name) {
				t.Errorf("%q does not name %q", c.text, name)
			}
		}
		for _, name := range names(c.miss) {
			if ig.ignoresFile(name) {
				t.Errorf("%q names %q", c.text, name)
			}
		}
	}
}

// Git itself agrees with the table.
func TestIgnoreCasesAreGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, c := range ignoreCases {
		dir := t.TempDir()
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v: %s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		check := func(name string, want bool) {
			cmd := exec.Command("git", "-C", dir, "check-ignore", "-q", "--no-index", "--", name)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			if got := cmd.Run() == nil; got != want {
				t.Errorf("git: %q, %q: ignored is %v, want %v", c.text, name, got, want)
			}
		}
		for _, name := range names(c.hit) {
			check(name, true)
		}
		for _, name := range names(c.miss) {
			check(name, false)
		}
	}
}

func FuzzIgnore(f *testing.F) {
	for _, c := range ignoreCases {
		f.Add(c.text, c.hit)
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		ig, err := parseIgnore(text)
		if err == nil {
			ig.ignoresFile(path)
		}
	})
}
