package bitbucket

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
	f.Add("image: x\npipelines:\n  default:\n  - step: {script: [{pipe: a/b:1}]}\n")
	f.Add("pipelines: [[[[]]]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		pass := &scan.FilePass{Context: context.Background(), Path: "bitbucket-pipelines.yml", Size: int64(len(text)),
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
