package scan

import "slices"

// This file deduplicates findings that two analyzers report. A finding may name an equivalent
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
