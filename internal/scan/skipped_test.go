package scan_test

import (
	"fmt"
	"testing"

	"merlon/internal/scan"
)

// A missing file of the project beyond the reasons that are kept makes the analyzer
// degraded, although all reasons that are kept are of skipped files.
func TestSkippedFilesHideNoMissingOne(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   bool // whether the last reason is of a skipped file
		state  scan.State
		others int
	}{
		{"only skipped files", true, scan.Succeeded, scan.MaxReasons},
		{"a missing file at the end", false, scan.Degraded, scan.MaxReasons},
	} {
		a := project("sca/x", func(p *scan.ProjectPass) error {
			for i := range c.others {
				p.Degrade(scan.Reason{Code: "minified", Path: fmt.Sprintf("%d.js", i), Skipped: true})
			}
			p.Degrade(scan.Reason{Code: "x", Path: "last", Skipped: c.last})
			return nil
		})
		var s scan.Summary
		root := write(t, map[string]string{"a.txt": ""})
		err := scan.Run(t.Context(), scan.Options{Root: root, Analyzers: []*scan.Analyzer{a}}, &s)
		if err != nil {
			t.Fatal(err)
		}
		if st := s.Statuses[0]; st.State != c.state || st.Omitted != 1 {
			t.Errorf("%s: %s with %d omitted, want %s with 1", c.name, st.State, st.Omitted, c.state)
		}
	}
}
