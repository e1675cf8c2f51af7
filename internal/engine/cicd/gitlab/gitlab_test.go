package gitlab

import (
	"context"
	"testing"
	"testing/fstest"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

func Test(t *testing.T) { scantest.Run(t, Analyzer) }

// Whatever the file holds, the analyzer ends, and what it reports has a place.
func FuzzAnalyzer(f *testing.F) {
	f.Add("include: [{remote: https://x}]\na:\n  extends: [b]\n  script: [eval $CI_COMMIT_TITLE]\nb:\n  extends: a\n")
	f.Add("a: &a\n  variables: {X: $X}\n  <<: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		const name = ".gitlab-ci.yml"
		pass := &scan.ProjectPass{Context: context.Background(), FS: fstest.MapFS{name: {Data: []byte(text)}},
			Files: []scan.File{{Path: name, Size: int64(len(text))}},
			Reporter: scan.Reporter{
				Report: func(r *finding.Rule, got finding.Finding) {
					if r == nil || got.Message == "" || got.Location.StartLine < 1 ||
						got.Location.EndLine < got.Location.StartLine {
						t.Errorf("rule %v, finding %+v", r, got)
					}
				},
				Degrade: func(scan.Reason) {},
			}}
		if err := Analyzer.Project(pass); err != nil {
			t.Error(err)
		}
	})
}
