package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/secrets/credentials"
	"merlon/internal/engine/secrets/git/gittest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// It opens nothing, and is put together so that other scanners stay silent.
const token = "gh" + "p_8Jk2mQpZ4vR7tX1nB6yC9wL3sD5fG0hAaEbU"

type keep struct {
	scan.Summary
	findings []finding.Finding
}

func (k *keep) Finding(m *finding.Finding) error {
	k.findings = append(k.findings, *m)
	return nil
}

// look scans the folder with both analyzers of secrets.
func look(t *testing.T, dir string) (*keep, string) {
	t.Helper()
	k := &keep{}
	var b bytes.Buffer
	o := scan.Options{Root: dir, Analyzers: []*scan.Analyzer{credentials.Analyzer, Analyzer}}
	if err := scan.Run(context.Background(), o, scan.Tee(k, scan.Encode(&b))); err != nil {
		t.Fatal(err)
	}
	return k, b.String()
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func told(findings []finding.Finding) []string {
	var out []string
	for _, f := range findings {
		h := f.Secret.History
		line := fmt.Sprintf("%s:%d %s", f.Location.Path, f.Location.StartLine,
			strings.TrimPrefix(f.RuleID, "secrets/credentials/"))
		if h != nil {
			line += fmt.Sprintf(" %s-%s %s %v", h.FirstCommit[:6], h.LastCommit[:6], h.Path, h.InTree)
		}
		out = append(out, line)
	}
	return out
}

// Every secret is told once: what was deleted, what moved, what stays, what only a
// side branch has, what a merge brought.
func Test(t *testing.T) {
	for name, store := range map[string]func(*gittest.Repository){"loose": (*gittest.Repository).Loose,
		"packed": (*gittest.Repository).Pack} {
		dir := t.TempDir()
		g := gittest.New(t, dir)
		pad := strings.Repeat("plain text of a program\n", 30)
		one := g.Commit(map[string]string{"a.py": pad})
		two := g.Commit(map[string]string{"a.py": pad + "t = '" + token + "'\n" + pad,
			"home/.netrc": "machine m login l password cl0udberry\n"}, one)
		three := g.Commit(map[string]string{"a.py": pad + "# more\nt = '" + token + "'\n" + pad,
			"home/.netrc": "machine m login l password cl0udberry\nmachine n login l password bilb3rry\n"}, two)
		four := g.Commit(map[string]string{"a.py": pad, "home/.netrc": "machine n login l password bilb3rry\n"}, three)
		side := g.Commit(map[string]string{"a.py": pad, "b/.pgpass": "h:1:d:u:rowanberry5\n"}, one)
		merge := g.Commit(map[string]string{"a.py": pad, "home/.netrc": "machine n login l password " +
			"bilb3rry\n", ".npmrc": "_auth=bWVyZ2VkOm1lcmdlZA\n"}, four, side)
		g.Branch("main", merge)
		store(g)
		write(t, dir, map[string]string{"a.py": pad, "home/.netrc": "machine n login l password " +
			"bilb3rry\n", ".npmrc": "_auth=bWVyZ2VkOm1lcmdlZA\n"})
		k, stream := look(t, dir)
		if !k.Complete() {
			t.Fatalf("%s: %+v", name, k.Incomplete())
		}
		short := func(ids ...string) string { return ids[0][:6] + "-" + ids[1][:6] }
		want := []string{
			"a.py:31 github-pat " + short(two, three) + " a.py false",
			"b/.pgpass:1 pgpass " + short(side, side) + " b/.pgpass false",
			"home/.netrc:1 netrc " + short(two, three) + " home/.netrc false",
			".npmrc:1 npm-config " + short(merge, merge) + " .npmrc true",
			"home/.netrc:1 netrc " + short(three, four) + " home/.netrc true",
		}
		if diff := cmp.Diff(want, told(k.findings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, secret := range []string{token, "cl0udberry", "bilb3rry", "rowanberry5", "bWVyZ2VkOm1lcmdlZA"} {
			if strings.Contains(stream, secret) {
				t.Errorf("%s: the stream holds %s", name, secret)
			}
		}
	}
}

// A secret keeps its fingerprint when it is deleted from the tree.
func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	g := gittest.New(t, dir)
	text := "x = 1\nt = '" + token + "'\n"
	one := g.Commit(map[string]string{"a.py": text})
	g.Branch("main", one)
	g.Loose()
	write(t, dir, map[string]string{"a.py": text})
	before, _ := look(t, dir)
	write(t, dir, map[string]string{"a.py": "x = 1\n"})
	after, _ := look(t, dir)
	if len(before.findings) != 1 || len(after.findings) != 1 {
		t.Fatalf("got %d and %d findings, want one each", len(before.findings), len(after.findings))
	}
	if diff := cmp.Diff(before.findings[0].Fingerprint, after.findings[0].Fingerprint); diff != "" {
		t.Errorf("the fingerprint changes (-in the tree +deleted):\n%s", diff)
	}
	if !before.findings[0].Secret.History.InTree || after.findings[0].Secret.History.InTree {
		t.Error("inTree does not tell where the secret is")
	}
}

// What is not there, or cannot be read, is said.
func TestIncomplete(t *testing.T) {
	state := func(change func(dir string, g *gittest.Repository)) scan.Status {
		dir := t.TempDir()
		g := gittest.New(t, dir)
		one := g.Commit(map[string]string{"a.py": "x = 1\n"})
		g.Branch("main", g.Commit(map[string]string{"a.py": "t = '" + token + "'\n"}, one))
		g.Loose()
		change(dir, g)
		k, _ := look(t, dir)
		for _, s := range k.Statuses {
			if s.Analyzer == Analyzer.ID {
				return s
			}
		}
		t.Fatal("no status")
		return scan.Status{}
	}
	for name, c := range map[string]struct {
		change func(dir string, g *gittest.Repository)
		want   scan.State
	}{
		"whole": {func(string, *gittest.Repository) {}, scan.Succeeded},
		"empty": {func(dir string, g *gittest.Repository) { remove(t, g.Dir) }, scan.Degraded},
		"none": {func(dir string, g *gittest.Repository) {
			remove(t, g.Dir)
			write(t, dir, map[string]string{"a.py": "x = 1\n"})
		}, scan.Succeeded},
		"shallow": {func(_ string, g *gittest.Repository) { g.Write("shallow", strings.Repeat("ab", 20)) },
			scan.Degraded},
		"missing": {func(_ string, g *gittest.Repository) { g.Branch("x", strings.Repeat("ab", 20)) }, scan.Degraded},
		"sha256": {func(_ string, g *gittest.Repository) { g.Write("config", "objectformat = sha256") },
			scan.Degraded},
		"elsewhere": {func(dir string, g *gittest.Repository) {
			remove(t, g.Dir)
			write(t, dir, map[string]string{".git": "gitdir: /elsewhere\n"})
		}, scan.Degraded},
	} {
		if got := state(c.change); got.State != c.want {
			t.Errorf("%s: got %+v, want %s", name, got, c.want)
		}
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func TestAdded(t *testing.T) {
	for _, c := range []struct {
		before []string
		text   string
		want   string
	}{
		{nil, "one line\ntwo lines\n", "one line\ntwo lines\n"},
		{[]string{"one line\ntwo lines\n"}, "one line\nnew line\ntwo lines\n", "new line\n"},
		{[]string{"one line\ntwo lines\n"}, "two lines\none line\n", ""},
		{[]string{"one line\ntwo lines\n"}, "one line\ntwo lines\nthree lines", "three lines"},
		{[]string{"one line\n", "two lines\n"}, "one line\ntwo lines\nthird line\n", "third line\n"},
		{[]string{"one line with this\n"}, "one line with that\n", "one line with that\n"},
		{[]string{"x"}, "", ""},
	} {
		fresh, near := addedLines(c.text, c.before)
		got := ""
		for _, r := range fresh {
			got += c.text[r[0]:r[1]]
		}
		if got != c.want {
			t.Errorf("%q after %q: got %q, want %q", c.text, c.before, got, c.want)
		}
		if len(near) > 0 && (near[0][0] > fresh[0][0] || near[len(near)-1][1] < fresh[len(fresh)-1][1]) {
			t.Errorf("%q: %v is not around %v", c.text, near, fresh)
		}
	}
}
