package circleci

import (
	"context"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func Test(t *testing.T) { scantest.Run(t, Analyzer) }

// Whatever the file holds, the analyzer ends, and what it reports has a place.
func FuzzAnalyzer(f *testing.F) {
	f.Add("version: 2.1\norbs:\n  a: b/c@volatile\njobs:\n  a:\n    docker: [{image: x}]\n    steps:\n    - run: " +
		"echo << pipeline.git.branch >>\n")
	f.Add("jobs: &a\n  x: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		pass := &scan.FilePass{Context: context.Background(), Path: ".circleci/config.yml", Size: int64(len(text)),
			ReadFile: func() ([]byte, error) { return []byte(text), nil },
			Reporter: scan.Reporter{
				Report: func(r *finding.Rule, got finding.Finding) {
					if r == nil || got.Message == "" || got.Location.StartLine < 1 ||
						got.Location.EndLine < got.Location.StartLine {
						t.Errorf("rule %v, finding %+v", r, got)
					}
				},
				Degrade: func(scan.Reason) {},
			}}
		if err := Analyzer.File(pass); err != nil {
			t.Error(err)
		}
	})
}
