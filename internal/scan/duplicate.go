package scan

import (
	"cmp"
	"fmt"
	"slices"

	"merlon/internal/finding"
)

// This file merges the findings of one analyzer that one change fixes, such as a header that is
// missing on every page, or an object in several rendered variants, into one finding with several
// locations.

// maxAlso bounds the further locations of a finding.
const maxAlso = 200

// foldByCause merges the findings of one rule and cause. The most severe one, and among these the
// first in order of location, represents all, so that the finding keeps the fingerprint, and with
// it the history and triage decisions, of that location; the others become further locations.
func (o *outcome) foldByCause() {
	first := map[string]*hit{}
	places := map[string]int{} // findings of each cause
	slices.SortStableFunc(o.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(foldRank(&b), foldRank(&a)), compareLocations(a.Location, b.Location),
			cmp.Compare(a.Identity, b.Identity))
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
		one.absorb(&h)
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

// foldRank orders the findings of one cause. Those of running applications are ordered by location
// alone, because responses, and with them severities, may differ from scan to scan.
func foldRank(h *hit) int {
	if h.Live != nil {
		return 0
	}
	return h.points
}

// absorb adds the locations of another finding of the same cause.
func (h *hit) absorb(other *hit) {
	if other.Severity.Rank() > h.Severity.Rank() {
		h.Severity = other.Severity
	}
	h.points = max(h.points, other.points)
	for _, at := range append([]finding.Location{other.Location}, other.Also...) {
		if other.Live != nil {
			at = finding.Location{Path: at.Path}
		}
		if (at.Path != h.Location.Path || at.StartLine != h.Location.StartLine) && len(h.Also) < maxAlso &&
			!slices.Contains(h.Also, at) {
			h.Also = append(slices.Clip(h.Also), at)
		}
	}
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
	for i := range o.hits {
		h := &o.hits[i]
		if d.isOutsideProfile(h) { // it must not suppress a finding that is shown
			continue
		}
		for _, id := range h.EquivalentRules {
			for _, at := range append([]finding.Location{h.Location}, h.Also...) {
				if len(d.reportedRules) < maxReportedRules {
					d.reportedRules[ruleLocation{id, at.Path, at.StartLine}] = j.ID
				}
			}
		}
	}
}
