package scan

import "slices"

// This file tells a flaw once that two analyzers see: a finding that names another
// analyzer's rule as saying the same of its place stands for that one's. Files are
// told before what was seen of the whole tree, so the analyzer of files is the one
// that names the other.

// ruleLocation is a rule at a place.
type ruleLocation struct {
	rule, path string
	line       int
}

// maxReportedRules bounds what is remembered.
const maxReportedRules = 200_000

// dropEquivalents removes what another analyzer has told already, and remembers what these
// findings say for others.
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
