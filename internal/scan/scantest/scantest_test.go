package scantest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// evil reports the word "evil", and every file called evil.
var evil = &scan.Analyzer{
	ID: "sast/evil", Version: 1, Analysis: finding.SAST, Doc: "# Evil",
	Match: func(path string) bool { return !strings.HasSuffix(path, ".bin") },
	File: func(p *scan.FilePass) error {
		b, err := p.ReadFile()
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(b), "\n") {
			if strings.Contains(line, "evil") {
				p.Report(&finding.Rule{ID: "sast/evil/word", Name: "Evil"},
					finding.Finding{Message: line, Location: finding.Location{StartLine: n + 1}})
			}
		}
		if p.Path == "evil.json" {
			p.Report(&finding.Rule{ID: "sast/evil/file", Name: "Evil file"}, finding.Finding{})
		}
		return nil
	},
}

func TestRun(t *testing.T) { Run(t, evil) }

// The kit fails what it should fail.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // part of the only fault; empty: none
	}{
		{"right", map[string]string{"a.py": "evil # want \"evil\"\n", "b.py": "good"}, ""},
		{"two on a line", map[string]string{"a.py": "evil # want \"evil\" `word`\n", "b.py": "good"},
			"a.py:1: no finding matches"},
		{"offset", map[string]string{"a.py": "# want+2 \"e\"\n\nevil\n# want-1 `l`", "b.py": "good"},
			"a.py:3: no finding matches"},
		{"missed", map[string]string{"a.py": "x # want \"vil\"\nevil # want \"evil\"", "b.py": "good"},
			"a.py:1: no finding matches"},
		{"unexpected", map[string]string{"a.py": "evil # want \"evil\"\nevil", "b.py": "good"}, "a.py:2: unexpected " +
			"finding: evil [sast/evil/word]"},
		{"wrong text", map[string]string{"a.py": "ev{-}il # want \"^good\"\n", "b.py": "good",
			"c.py": "evil # want `evil`"}, "a.py:1"},
		{"rule id", map[string]string{"a.py": "evil # want \"\\\\[sast/evil/word\\\\]$\"\n", "b.py": "good"}, ""},
		{"sidecar", map[string]string{"evil.json": "{}", "evil.json.want": "0 \"evil/file\"\n", "b.py": "good"}, ""},
		{"sidecar of nothing", map[string]string{"x.json.want": "0 \"x\"", "b.py": "good"}, "x.json"},
		{"no positive", map[string]string{"b.py": "good"}, "no file in which something is to be found"},
		{"no silent", map[string]string{"a.py": "evil # want \"evil\"", "b.bin": "not looked at"},
			"without expected findings"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s, err := loadSuite(dir)
			if err != nil {
				t.Fatal(err)
			}
			faults := s.compareFindings(evil,
				scan.Options{Root: s.writeFiles(t, nil), Analyzers: []*scan.Analyzer{evil}})
			if c.want == "" && len(faults) > 0 || c.want != "" && !slices.ContainsFunc(faults, func(f string) bool {
				return strings.Contains(f, c.want)
			}) {
				t.Errorf("got %q, want %q", faults, c.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, text := range map[string]string{"a.py": `x # want "("`, "a.json.want": "no line"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadSuite(dir); err == nil {
			t.Errorf("%s with %q is accepted", name, text)
		}
	}
}

// A crash on damaged input is found even when the good input is handled.
func TestSurvive(t *testing.T) {
	brittle := &scan.Analyzer{ID: "sast/brittle", Version: 1, Analysis: finding.SAST, Doc: "# B",
		Match: func(string) bool {
			return true
		},
		File: func(p *scan.FilePass) error {
			b, err := p.ReadFile()
			_ = b[3]
			return err
		}}
	s := &suite{files: map[string][]byte{"a": []byte("good enough")}}
	if faults := s.runDamaged(t, scan.Options{Analyzers: []*scan.Analyzer{brittle}}); len(faults) != 1 ||
		!strings.Contains(faults[0], "files empty: a: panic") {
		t.Errorf("got %q, want a panic on the empty file", faults)
	}
}
