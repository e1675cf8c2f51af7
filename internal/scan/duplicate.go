package scan

import (
	"cmp"
	"fmt"
	"slices"

	"merlon/internal/finding"
)

// This file merges the findings of a running application that have one cause, such as a missing
// header on every page, into one finding with several locations.

// maxAlso bounds the further locations of a finding.
const maxAlso = 200

// foldByCause merges the findings of one rule and cause. The first location in order represents
// all, so that the finding keeps the fingerprint, and with it the history and triage decisions,
// of that location; the others become further locations.
func (o *outcome) foldByCause() {
	first := map[string]*hit{}
	places := map[string]int{} // findings of each cause
	slices.SortStableFunc(o.hits, func(a, b hit) int {
		return cmp.Or(compareLocations(a.Location, b.Location), cmp.Compare(a.Identity, b.Identity))
	})
	kept := make([]hit, 0, len(o.hits)) // pointers into it stay
	for _, h := range o.hits {
		key := h.rule.ID + "\x00" + h.Cause
		one := first[key]
		if h.Cause == "" || one == nil {
			kept = append(kept, h)
			if h.Cause != "" {
				first[key], places[key] = &kept[len(kept)-1], 1
			}
			continue
		}
		places[key]++
		if h.Severity.Rank() > one.Severity.Rank() {
			one.Severity = h.Severity
		}
		at := finding.Location{Path: h.Location.Path}
		if at.Path != one.Location.Path && len(one.Also) < maxAlso && !slices.Contains(one.Also, at) {
			one.Also = append(one.Also, at)
		}
	}
	for key, one := range first {
		if n := places[key]; n > 1 && one.Live != nil {
			live := *one.Live
			live.Proof = append(slices.Clone(live.Proof), fmt.Sprintf("The same flaw showed in %d operations of the "+
				"target.", n))
			one.Live = &live
		}
	}
	o.hits = kept
}

// The rest of this file deduplicates findings that two analyzers report. A finding may name an equivalent
// rule of another analyzer; the other finding at that location is dropped. Findings in files
// are emitted before those of project analyzers, so a file analyzer must name the other rule.

// ruleLocation is a rule at a line of a file.
type ruleLocation struct {
	rule, path string
	line       int
}

// maxReportedRules bounds the recorded locations.
const maxReportedRules = 200_000

// dropEquivalents removes findings that another analyzer has reported by an equivalent rule, and
// records the equivalent rules of the remaining findings.
func (d *driver) dropEquivalents(j *job, o *outcome) {
	o.hits = slices.DeleteFunc(o.hits, func(h hit) bool {
		by := d.reportedRules[ruleLocation{h.RuleID, h.Location.Path, h.Location.StartLine}]
		return by != "" && by != j.ID
	})
	for _, h := range o.hits {
		for _, id := range h.EquivalentRules {
			if len(d.reportedRules) < maxReportedRules {
				d.reportedRules[ruleLocation{id, h.Location.Path, h.Location.StartLine}] = j.ID
			}
		}
	}
}
