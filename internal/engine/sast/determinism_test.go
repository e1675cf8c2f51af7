package sast_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
)

// TestSameForAnyOrder checks the testdata of every rule together, with one worker
// and with two, in order and shuffled, with rules compiled for the check and before:
// the result must not change.
func TestSameForAnyOrder(t *testing.T) {
	every, files := testdata(t)
	want := told(t, every, files, sast.Options{Workers: 1})
	if len(want) < len(every)/2 {
		t.Errorf("%d matches of %d rules in their own testdata", len(want), len(every))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 2 {
		shuffled := slices.Clone(files)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, told(t, every, shuffled,
			sast.Options{Workers: n + 1, Programs: &shared})); diff != "" {
			t.Errorf("%d workers, shuffled (-want +got):\n%s", n+1, diff)
		}
	}
}

func told(t *testing.T, every []*rule.Rule, files []sast.Source, o sast.Options) []string {
	t.Helper()
	matches, _ := sast.Check(t.Context(), every, files, o)
	out := make([]string, len(matches))
	for i, m := range matches {
		out[i] = fmt.Sprintf("%s:%d-%d %s %v", m.Path, m.Start.Offset, m.End.Offset, m.Rule.ID, m.Steps)
	}
	return out
}
