package sast_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	build "merlon/internal/engine/sast/rules"
)

// testdata returns the testdata of the rules of the build, and the rules.
func testdata(t *testing.T) ([]*rule.Rule, []sast.Source) {
	t.Helper()
	all, err := build.Default()
	if err != nil {
		t.Fatal(err)
	}
	var rules []*rule.Rule
	for _, r := range all {
		rules = append(rules, r.Rule)
	}
	paths, err := filepath.Glob("rules/*/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var files []sast.Source
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, sast.Source{Path: filepath.ToSlash(p), Text: text})
	}
	return rules, files
}

// shared saves the checks of these tests, which all have the rules of the build, a third of their time.
var shared sast.Programs

// says returns what a check says, as text. Regular expressions that backtrack are bounded by
// the clock: a check that a busy machine has held up there is made again.
func says(ctx context.Context, rules []*rule.Rule, files []sast.Source, o sast.Options) []string {
	o.Programs = &shared
	matches, problems := sast.Check(ctx, rules, files, o)
	for range 4 {
		if !slices.ContainsFunc(problems, func(p sast.Problem) bool { return errors.Is(p.Err, pattern.ErrBudget) }) {
			break
		}
		matches, problems = sast.Check(ctx, rules, files, o)
	}
	var out []string
	for _, m := range matches {
		out = append(out, fmt.Sprintf("%s %+v %+v %s %v %v %+v", m.Path, m.Start, m.End, m.Rule.ID, m.Bound, m.Fix,
			m.Steps))
	}
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%+v", p))
	}
	return out
}

func TestWhatEndedEarlyIsNotKept(t *testing.T) {
	rules, files := testdata(t)
	want := says(t.Context(), rules, files, sast.Options{})
	for _, phase := range []sast.Phase{sast.Matching, sast.Joining, sast.Following} {
		folder := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		kept := cache.Open(folder, "", cache.Key{})
		says(ctx, rules, files, sast.Options{Cache: kept, Progress: func(p sast.Progress) {
			if p.Phase == phase {
				cancel()
			}
		}})
		cancel()
		if err := kept.Save(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want,
			says(t.Context(), rules, files, sast.Options{Cache: cache.Open(folder, "", cache.Key{})})); diff != "" {
			t.Errorf("ended in phase %d (-want +got):\n%s", phase, diff)
		}
	}
}

func TestOptionsMatterToTheCache(t *testing.T) {
	rules, files := testdata(t)
	folder := t.TempDir()
	for _, o := range []sast.Options{{}, {Local: true}, {LeaveTests: true}, {Properties: map[string]string{"a": "b"}},
		{Workers: 1}} {
		want := says(t.Context(), rules, files, o)
		for range 2 {
			o.Cache = cache.Open(folder, "", cache.Key{})
			if diff := cmp.Diff(want, says(t.Context(), rules, files, o)); diff != "" {
				t.Errorf("options %+v (-full +cached):\n%s", o, diff)
			}
			if err := o.Cache.Save(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// FuzzDamagedEntries checks with a cache whose entries are something else, though
// their checksums are right: it may forget what it kept, and never crash.
func FuzzDamagedEntries(f *testing.F) {
	text := "rules:\n- {id: r, languages: [python], severity: ERROR, message: m $X, pattern: f($X)}\n"
	rules, err := rule.Parse("rules.yaml", []byte(text))
	if err != nil {
		f.Fatal(err)
	}
	files := []sast.Source{{Path: "a.py", Text: []byte("f(1)\nx = f(y)\n")}}
	key := cache.NewKey([]byte("file"), []byte("a.py"), []byte("python"), fmt.Append(nil, sast.Options{}.Limits),
		files[0].Text)
	folder := f.TempDir()
	kept := cache.Open(folder, "", cache.Key{})
	sast.Check(context.Background(), rules, files, sast.Options{Cache: kept})
	if err := kept.Save(); err != nil {
		f.Fatal(err)
	}
	whole := cache.Open(folder, "", cache.Key{}).Get(key)
	if whole == nil {
		f.Fatal("the file was not kept under the key")
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{0, 1, 0, 4, 'a', '.', 'p', 'y', 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, entry []byte) {
		folder := t.TempDir()
		c := cache.Open(folder, "", cache.Key{})
		c.Put(key, entry)
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
		sast.Check(context.Background(), rules, files, sast.Options{Cache: cache.Open(folder, "", cache.Key{})})
	})
}
