package triage

import (
	"maps"
	"slices"
)

// This file says what a person's decision does.

// A Decision is what a person decides about a finding. Empty fields are left as
// they are.
type Decision struct {
	Finding  ID
	Status   Status
	Priority Priority
	Comment  string
	// IncludeLinked decides the same about the findings of the same flaw on the other side:
	// for a finding of the source those of live scans on its branch that show it, for one
	// of a live scan the finding of the source. Without it they are left as they are.
	IncludeLinked bool
}

// A CurrentState is a finding of the flaw that is decided about, on one branch.
type CurrentState struct {
	ID     ID
	Branch string
	Bucket Bucket
	Risk   int64
	Pinned bool
	Gone   bool
}

// A Transition is what a decision makes of a finding.
type Transition struct {
	CurrentState
	Before Bucket
}

// Transitions returns the findings of a flaw that a decision changes: the one
// that it names, and those of the same flaw on other branches, but for the
// status of those that are gone there. The result is ordered as the findings are.
func (d Decision) Transitions(all []CurrentState) []Transition {
	var out []Transition
	for _, s := range all {
		c := Transition{CurrentState: s, Before: s.Bucket}
		if d.Status != "" && (s.ID == d.Finding || !s.Gone) {
			c.Bucket.Status = d.Status
		}
		if d.Priority != "" {
			c.Bucket.Priority, c.Pinned = d.Priority, true
		}
		if c.CurrentState != s {
			out = append(out, c)
		}
	}
	return out
}

// CountChanges returns the difference in the numbers of each branch.
func CountChanges(changes []Transition) map[string]Counts {
	out := map[string]Counts{}
	for _, c := range changes {
		if out[c.Branch] == nil {
			out[c.Branch] = Counts{}
		}
		out[c.Branch].addCount(c.Before, -1, c.Risk)
		out[c.Branch].addCount(c.Bucket, 1, c.Risk)
	}
	return out
}

// CountResolved returns how many findings became resolved on each branch, by sort.
func CountResolved(changes []Transition) map[string]map[AnalysisSeverity]int {
	out := map[string]map[AnalysisSeverity]int{}
	for _, c := range changes {
		if c.Bucket.Status == Resolved && c.Before.Status != Resolved {
			if out[c.Branch] == nil {
				out[c.Branch] = map[AnalysisSeverity]int{}
			}
			out[c.Branch][c.Bucket.AnalysisSeverity()]++
		}
	}
	return out
}

// Branches returns the branches of a tally in a fixed order.
func Branches(t map[string]Counts) []string { return slices.Sorted(maps.Keys(t)) }
