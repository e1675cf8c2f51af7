package jenkins

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
	f.Add("@Library('a@b') _\nnode { sh \"a ${params.X} $Y\" }\n")
	f.Add("x = /a\\/b/ + $/c/$ + '''d'''\n/* e")
	f.Add("def a = \"${\"{\" + b}\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		pass := &scan.FilePass{Context: context.Background(), Path: "Jenkinsfile", Size: int64(len(text)),
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
