package codefix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file scans the copy, and judges fixes by the findings before and after.

// A treeState is what a scan says of the copy.
type treeState struct {
	scan.Summary
	found  []*finding.Finding
	counts map[place]int     // findings and their further locations
	gaps   map[string]string // why a file was not analyzed, by path
	failed map[string]bool   // analyzers
}

// A place counts findings of a rule in a file, of a severity and above. Findings are counted and
// not compared one by one, because an edit moves the lines of all that follow it.
type place struct {
	rule, path string
	least      finding.Severity
}

// Finding keeps a finding.
func (s *treeState) Finding(f *finding.Finding) error {
	kept := *f
	kept.Snippet, kept.Steps = nil, nil // the largest parts, which fixes do not need
	s.found = append(s.found, &kept)
	s.count(f.RuleID, f.Location.Path, f.Severity)
	for _, at := range f.Also {
		s.count(f.RuleID, at.Path, f.Severity)
	}
	return s.Summary.Finding(f)
}

// count counts a finding at its severity and those below.
func (s *treeState) count(rule, path string, severity finding.Severity) {
	for _, least := range finding.Severities {
		if severity.Rank() >= least.Rank() {
			s.counts[place{rule, path, least}]++
		}
	}
}

// Status keeps coverage gaps.
func (s *treeState) Status(m *scan.Status) error {
	if m.State == scan.Failed {
		s.failed[m.Analyzer] = true
	}
	for _, r := range m.Reasons {
		if r.Path != "" && !r.Skipped {
			s.gaps[r.Path] = r.Message
		}
	}
	return s.Summary.Status(m)
}

// scanCopy scans the copy.
func (p *planner) scanCopy(ctx context.Context) (*treeState, error) {
	s := &treeState{counts: map[place]int{}, gaps: map[string]string{}, failed: map[string]bool{}}
	var h scan.Handler = s
	if p.Watch != nil {
		h = scan.Tee(s, p.Watch)
	}
	err := scan.Run(ctx, scan.Options{Root: p.overlay.dir, Analyzers: p.Analyzers, Analyses: p.Analyses,
		Profile: p.Profile,
		Version: p.Version}, h)
	if err != nil {
		return nil, fmt.Errorf("scan the copy of %s: %w", p.Root, err)
	}
	return s, nil
}

// newPlaces returns where there are more findings than before, in a fixed order and the highest
// severity first.
func newPlaces(before, after *treeState) []place {
	var out []place
	for at, n := range after.counts {
		if n > before.counts[at] {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.least.Rank(), a.least.Rank()), cmp.Compare(a.path, b.path),
			cmp.Compare(a.rule, b.rule))
	})
	return out
}

// judgeChanges returns for each fix why it is refused. What cannot be attributed to a single one is
// a reason against all that may be the cause; the caller then tries them alone.
func judgeChanges(before, after *treeState, changes []Change) []string {
	reasons := make([]string, len(changes))
	blame := func(i int, text string) {
		if reasons[i] == "" {
			reasons[i] = text
		}
	}
	// Of each rule and file, as many findings have to be gone as fixes were applied.
	expected := map[place]int{}
	for _, c := range changes {
		for _, f := range c.Findings {
			expected[place{f.RuleID, f.Location.Path, finding.Low}]++
		}
	}
	for i, c := range changes {
		if why, ok := after.gaps[c.Path]; ok && before.gaps[c.Path] != why {
			blame(i, "the file cannot be analyzed after it: "+why)
		}
		for _, f := range c.Findings {
			at := place{f.RuleID, f.Location.Path, finding.Low}
			if before.counts[at]-after.counts[at] < expected[at] {
				blame(i, f.RuleID+" still reports it")
			}
		}
		for name := range after.failed {
			if !before.failed[name] {
				blame(i, name+" fails after it")
			}
		}
	}
	for _, at := range newPlaces(before, after) {
		changesFile := false
		for _, c := range changes {
			changesFile = changesFile || c.Path == at.path
		}
		for i, c := range changes {
			// Without a changed file at the place, each change may be the cause.
			if (c.Path == at.path || !changesFile) && at.least.Rank() >= c.Findings[0].Severity.Rank() {
				blame(i, fmt.Sprintf("%s of severity %s is new in %s", at.rule, at.least, at.path))
			}
		}
	}
	return reasons
}
