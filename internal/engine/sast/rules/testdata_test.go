package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/rules"
)

// TestTestdata runs every rule over its own testdata. "ruleid: ID" in a comment
// expects a finding of the rule in the next line; every other line must stay
// silent. A folder needs a file with a finding for each of its rules that has the
// folder's name, and a file without any.
func TestTestdata(t *testing.T) {
	all, err := rules.Default()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string][]*rule.Rule{}
	for _, r := range all {
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(r.Path)), "rules/")
		folders[dir] = append(folders[dir], r.Rule)
	}
	for dir, of := range folders {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			checkFolder(t, dir, of)
		})
	}
}

func checkFolder(t *testing.T, dir string, of []*rule.Rule) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "testdata", "*"))
	if err != nil {
		t.Fatal(err)
	}
	bad, good := 0, 0
	for _, path := range paths {
		sources, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		want := expected(sources)
		matches, problems := sast.Check(t.Context(), of, sources, sast.Options{})
		for _, p := range problems {
			t.Errorf("%s: %s %s: %v", path, p.Rule, p.Path, p.Err)
		}
		got := []string{}
		told := map[string]bool{}
		for _, m := range matches { // at one place, the first rule of a folder counts
			if at := fmt.Sprint(m.Path, m.Start.Offset); !told[at] {
				told[at] = true
				got = append(got, place(m.Path, m.Start.Line, m.Rule.ID))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if len(want) > 0 {
			bad++
		} else {
			good++
		}
	}
	if bad == 0 || good == 0 {
		t.Errorf("%d files with findings, %d without: there must be both", bad, good)
	}
}

// read reads a file, or every file below a folder that is a program of its own.
func read(path string) ([]sast.Source, error) {
	var out []sast.Source
	err := filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		out = append(out, sast.Source{Path: filepath.ToSlash(name), Text: text})
		return err
	})
	return out, err
}

var annotation = regexp.MustCompile(`\bruleid:\s*([\w-]+(?:\s*,\s*[\w-]+)*)`)

// expected reads the annotations.
func expected(sources []sast.Source) []string {
	out := []string{}
	for _, s := range sources {
		for i, line := range strings.Split(string(s.Text), "\n") {
			if m := annotation.FindStringSubmatch(line); m != nil {
				for _, id := range strings.Split(m[1], ",") {
					out = append(out, place(s.Path, i+2, strings.TrimSpace(id)))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func place(path string, line int, id string) string { return fmt.Sprintf("%s:%d %s", path, line, id) }
