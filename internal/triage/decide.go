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
	// BothSides decides the same about the findings of the same flaw on the other side:
	// for a finding of the source those of live scans on its branch that show it, for one
	// of a live scan the finding of the source. Without it they are left as they are.
	BothSides bool
}

// A Standpoint is a finding of the flaw that is decided about, on one branch.
type Standpoint struct {
	ID     ID
	Branch string
	Cell   Cell
	Risk   int64
	Pinned bool
	Gone   bool
}

// A Consequence is what a decision makes of a finding.
type Consequence struct {
	Standpoint
	Before Cell
}

// Consequences returns the findings of a flaw that a decision changes: the one
// that it names, and those of the same flaw on other branches, but for the
// status of those that are gone there. The result is ordered as the findings are.
func (d Decision) Consequences(all []Standpoint) []Consequence {
	var out []Consequence
	for _, s := range all {
		c := Consequence{Standpoint: s, Before: s.Cell}
		if d.Status != "" && (s.ID == d.Finding || !s.Gone) {
			c.Cell.Status = d.Status
		}
		if d.Priority != "" {
			c.Cell.Priority, c.Pinned = d.Priority, true
		}
		if c.Standpoint != s {
			out = append(out, c)
		}
	}
	return out
}

// Tally returns the difference in the numbers of each branch.
func Tally(changes []Consequence) map[string]Counts {
	out := map[string]Counts{}
	for _, c := range changes {
		if out[c.Branch] == nil {
			out[c.Branch] = Counts{}
		}
		out[c.Branch].add(c.Before, -1, c.Risk)
		out[c.Branch].add(c.Cell, 1, c.Risk)
	}
	return out
}

// SolvedBy returns how many findings became resolved on each branch, by sort.
func SolvedBy(changes []Consequence) map[string]map[Sort]int {
	out := map[string]map[Sort]int{}
	for _, c := range changes {
		if c.Cell.Status == Resolved && c.Before.Status != Resolved {
			if out[c.Branch] == nil {
				out[c.Branch] = map[Sort]int{}
			}
			out[c.Branch][c.Cell.Sort()]++
		}
	}
	return out
}

// Branches returns the branches of a tally in a fixed order.
func Branches(t map[string]Counts) []string { return slices.Sorted(maps.Keys(t)) }
