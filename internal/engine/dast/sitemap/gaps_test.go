package sitemap

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/scan"
)

// A place is told once, with how often it failed and for whom; where there are too many,
// how many more there are.
func TestGaps(t *testing.T) {
	var g CoverageGaps
	for i := range 12 {
		g.Add("h/slow", []string{"xss", "sqlinjection"}[i%2], fmt.Sprintf("no answer %d", i))
	}
	g.Add("h/other", "", "no answer")
	want := []scan.Reason{{Code: "unreadable", Path: "h/slow", Beyond: true, Message: "sqlinjection, xss: no answer " +
		"0 (and 11 times more)"},
		{Code: "unreadable", Path: "h/other", Beyond: true, Message: "no answer"}}
	if diff := cmp.Diff(want, g.Take("unreadable", true)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := g.Take("unreadable", true); len(got) != 0 {
		t.Errorf("told again: %v", got)
	}
	for i := range maxGaps + 5 {
		g.Add(fmt.Sprint("h/", i), "", "no answer")
	}
	got := g.Take("unreadable", false)
	if last := got[len(got)-1]; len(got) != maxGaps+1 || last.Path != "" || last.Message != "so it was at 5 more "+
		"addresses" {
		t.Errorf("%d reasons, the last %+v", len(got), last)
	}
}
