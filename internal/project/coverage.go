package project

import (
	"cmp"
	"slices"
	"time"

	"merlon/internal/finding"
	"merlon/internal/tenant"
)

// This file names how much an analysis has looked at. No findings means something only
// where it looked.

// A CoverageState says how much of a branch an analysis has looked at, by its name on
// the wire.
type CoverageState string

// The coverage states, the worst first.
const (
	NeverAnalysed CoverageState = "never" // no scan has looked
	// the newest scan could not look; the findings are those of an older one
	FailedAnalysis    CoverageState = "failed"
	StaleAnalysis     CoverageState = "stale"    // the newest scan that looked is too old to count
	PartiallyAnalysed CoverageState = "partial"  // something was not looked at
	FullyAnalysed     CoverageState = "complete" // the newest scan looked at everything
)

// CoverageStates lists every state, the worst first.
var CoverageStates = []CoverageState{NeverAnalysed, FailedAnalysis, StaleAnalysis, PartiallyAnalysed, FullyAnalysed}

// Worse reports whether the state is worse than the other.
func (s CoverageState) Worse(than CoverageState) bool {
	return slices.Index(CoverageStates, s) < slices.Index(CoverageStates, than)
}

// A CoverageCount is in how many projects an analysis has a state on the reference
// branch.
type CoverageCount struct {
	Team     tenant.TeamID // whose projects; empty where they are not told apart
	Analysis finding.Analysis
	State    CoverageState
	Projects int
	Oldest   time.Time // of the newest look in each of them; zero for none
}

// SumCoverage adds up counts by analysis and state, with the projects of total that
// none of them counts as never analysed. The result has every analysis and, of the
// states, those with projects.
func SumCoverage(counts []CoverageCount, total int) []CoverageCount {
	type key struct {
		analysis finding.Analysis
		state    CoverageState
	}
	sum, known := map[key]CoverageCount{}, map[finding.Analysis]int{}
	for _, c := range counts {
		k := key{c.Analysis, c.State}
		s := sum[k]
		s.Analysis, s.State, s.Projects = c.Analysis, c.State, s.Projects+c.Projects
		if !c.Oldest.IsZero() && (s.Oldest.IsZero() || c.Oldest.Before(s.Oldest)) {
			s.Oldest = c.Oldest
		}
		sum[k] = s
		known[c.Analysis] += c.Projects
	}
	for _, a := range finding.Analyses {
		if rest := total - known[a]; rest > 0 {
			k := key{a, NeverAnalysed}
			s := sum[k]
			s.Analysis, s.State, s.Projects = a, NeverAnalysed, s.Projects+rest
			sum[k] = s
		}
	}
	out := []CoverageCount{}
	for _, c := range sum {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b CoverageCount) int {
		return cmp.Or(cmp.Compare(slices.Index(finding.Analyses, a.Analysis),
			slices.Index(finding.Analyses, b.Analysis)),
			cmp.Compare(slices.Index(CoverageStates, a.State), slices.Index(CoverageStates, b.State)))
	})
	return out
}
