package analyzer

import (
	"slices"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/scan"
)

// decided leaves out what queries say about values that nobody knows before they are
// deployed, and degrades the analysis at their places: neither is there a flaw, nor
// is there none.
func decided(flaws []kics.Flaw, degrade func(scan.Reason)) []kics.Flaw {
	type place struct {
		path string
		line int
	}
	told := map[place]bool{}
	return slices.DeleteFunc(flaws, func(f kics.Flaw) bool {
		if at := (place{f.Path, f.Line}); f.Unknown && !told[at] {
			told[at] = true
			degrade(scan.Reason{Code: scan.UnknownValue, Skipped: true, Path: f.Path, Line: f.Line,
				Message: "the value is unknown " +
					"before deployment, and a rule depends on it: " + f.Rule.Name})
		}
		return f.Unknown
	})
}
