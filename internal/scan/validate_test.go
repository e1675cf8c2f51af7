package scan

import (
	"strings"
	"testing"

	"merlon/internal/finding"
)

func TestValidate(t *testing.T) {
	good := func() *Analyzer {
		return &Analyzer{ID: "secrets/x-y", Version: 1, Analysis: finding.Secret, Doc: "# X\n",
			Match: func(string) bool {
				return true
			}, File: func(*FilePass) error { return nil }}
	}
	if err := Validate([]*Analyzer{good()}); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for _, c := range []struct {
		change func(*Analyzer)
		want   string
	}{
		{func(a *Analyzer) { a.ID = "x" }, "not a path"},
		{func(a *Analyzer) { a.ID = "Secrets/x" }, "not a path"},
		{func(a *Analyzer) { a.Version = 0 }, "version"},
		{func(a *Analyzer) { a.Analysis = "magic" }, `"magic" is not an analysis`},
		{func(a *Analyzer) { a.Doc = "# \n\ntext" }, "title"},
		{func(a *Analyzer) { a.Match = nil }, "Match"},
		{func(a *Analyzer) { a.File = nil }, "0 of File"},
		{func(a *Analyzer) { a.Project = func(*ProjectPass) error { return nil } }, "2 of File"},
	} {
		a := good()
		c.change(a)
		if err := Validate([]*Analyzer{a}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := Validate([]*Analyzer{good(), good()}); err == nil {
		t.Error("two of one id are accepted")
	}
}
