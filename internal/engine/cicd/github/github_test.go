package github

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
	f.Add("on: issues\njobs:\n  a:\n    steps:\n    - run: echo ${{ github.event.issue.title }}\n")
	f.Add("on: workflow_call\njobs:\n  a:\n    uses: ./.github/workflows/a.yml\n    with: {x: \"${{ inputs.x }}\"}\n")
	f.Add("on: push\njobs:\n  a:\n    env: {A: \"${{ env.A }}\"}\n    strategy: {matrix: {a: [\"${{ env.A }}\"]}}\n    steps:\n    - id: s\n      env: {A: \"${{ steps.s.outputs.a }}\"}\n      run: echo \"a=$A ${{ matrix.a }}\" >> $GITHUB_OUTPUT\n")
	f.Fuzz(func(t *testing.T, text string) {
		const name = ".github/workflows/a.yml"
		pass := &scan.ProjectPass{Context: context.Background(), FS: fstest.MapFS{name: {Data: []byte(text)}},
			Files: []scan.File{{Path: name, Size: int64(len(text))}},
			Reporter: scan.Reporter{
				Report: func(r *finding.Rule, got finding.Finding) {
					if r == nil || got.Message == "" || got.Location.StartLine < 1 || got.Location.EndLine < got.Location.StartLine {
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
