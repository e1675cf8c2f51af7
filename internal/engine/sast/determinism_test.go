package sast_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
	build "merlon/internal/engine/sast/rules"
)

// TestSameForAnyOrder checks the testdata of every rule together, with one worker
// and with two, in order and shuffled: the result must not change.
func TestSameForAnyOrder(t *testing.T) {
	all, err := build.Default()
	if err != nil {
		t.Fatal(err)
	}
	var every []*rule.Rule
	for _, r := range all {
		every = append(every, r.Rule)
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
	want := told(t, every, files, 1)
	if len(want) < len(all)/2 {
		t.Errorf("%d matches of %d rules in their own testdata", len(want), len(all))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 2 {
		shuffled := slices.Clone(files)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, told(t, every, shuffled, n+1)); diff != "" {
			t.Errorf("%d workers, shuffled (-want +got):\n%s", n+1, diff)
		}
	}
}

func told(t *testing.T, every []*rule.Rule, files []sast.Source, workers int) []string {
	t.Helper()
	matches, _ := sast.Check(t.Context(), every, files, sast.Options{Workers: workers})
	out := make([]string, len(matches))
	for i, m := range matches {
		out[i] = fmt.Sprintf("%s:%d-%d %s %v", m.Path, m.Start.Offset, m.End.Offset, m.Rule.ID, m.Steps)
	}
	return out
}
