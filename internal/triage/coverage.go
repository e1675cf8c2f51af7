package triage

import (
	"slices"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file answers what a scan looked at. Only there does the absence of a
// finding mean anything.

// coverageByAnalyzer is what the analyzers of a scan looked at, by analyzer.
type coverageByAnalyzer map[string]analyzerCoverage

// analyzerCoverage is what one analyzer looked at.
type analyzerCoverage struct {
	analysis finding.Analysis
	root     string             // what the paths begin with that it speaks of
	nothing  bool               // no claim can be made
	not      pathSet            // that it skipped
	untried  map[string]pathSet // by rule: where it did not look for what the rule finds
	absent   []scan.PathKind    // kinds of paths that what was scanned shows none of
	only     pathSet            // where alone it looked, as far as is known; nil: everywhere else
}

// pathSet are files, and folders with a trailing slash; the empty one is everywhere.
type pathSet map[string]bool

// contains reports whether the path is one of the places, or in one.
func (p pathSet) contains(path string) bool {
	if p[""] || p[path] {
		return true
	}
	for i, r := range path {
		if r == '/' && p[path[:i+1]] {
			return true
		}
	}
	return false
}

// collectCoverage returns what the statuses say of a scan that has told of the operations, with identifiers of the
// rules of
// reasons as
// the function makes them. An analyzer without a status is not in it: it looked at
// nothing.
func collectCoverage(statuses []scan.Status, operations []finding.Operation,
	rule func(name string) string) coverageByAnalyzer {
	c, reached := coverageByAnalyzer{}, pathSet{}
	for _, o := range operations {
		if o.FindingPath != "" {
			reached[o.FindingPath] = true
		}
	}
	for _, s := range statuses {
		l := analyzerCoverage{analysis: s.Analysis, root: s.Root, nothing: s.State == scan.Failed || s.Omitted > 0}
		if s.State == scan.Degraded {
			l.nothing = l.nothing || len(s.Reasons) == 0
		}
		l.not, l.untried = make(pathSet, len(s.Reasons)), map[string]pathSet{}
		for _, r := range s.Reasons {
			path := strings.TrimPrefix(r.Path, "./")
			if path == "/" || path == "." {
				path = ""
			}
			for _, name := range r.Rules {
				if l.untried[rule(name)] == nil {
					l.untried[rule(name)] = pathSet{}
				}
				l.untried[rule(name)][path] = true
			}
			if r.Beyond {
				l.only = reached
			}
			switch {
			case len(r.Rules) > 0:
			case len(r.Paths) > 0:
				for _, path := range r.Paths {
					l.not[strings.TrimPrefix(path, "./")] = true
				}
			case path != "" || !r.Beyond:
				l.not[path] = true
			}
		}
		c[s.Analyzer] = l
	}
	return c
}

// hasAnalyzed reports whether the analyzer looked at the path for what the rule finds; a
// rule without a name is none of those that reasons name.
func (c coverageByAnalyzer) hasAnalyzed(analyzer, path, rule string) bool {
	l, ran := c[analyzer]
	return ran && l.hasAnalyzed(path, rule)
}

// excludePaths marks kinds of paths as absent from the scanned source.
func (c coverageByAnalyzer) excludePaths(kinds []scan.PathKind) {
	for analyzer, l := range c {
		l.absent = kinds
		c[analyzer] = l
	}
}

// isExcluded reports whether the path is of a kind that what was scanned shows none of.
func (l analyzerCoverage) isExcluded(path string) bool {
	kind, _ := scan.KindOfPath(path)
	return kind != "" && l.root == "" && slices.Contains(l.absent, kind)
}

// analyzedByAll reports whether analyzers of the analysis ran, and all of them looked at
// the path.
func (c coverageByAnalyzer) analyzedByAll(a finding.Analysis, path string) bool {
	ran := false
	for _, l := range c {
		if l.analysis == a {
			ran = true
			if !l.hasAnalyzed(path, "") {
				return false
			}
		}
	}
	return ran
}

// isBelow reports whether the path is the root or below it: "shop.org/a" is not below
// "shop.org/admin", nor "shop.org.net".
func isBelow(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || root == "" || strings.HasSuffix(root, "/") || rest[0] == '/')
}

// hasAnalyzed reports whether the path was analyzed for the rule. Only then the absence of a
// finding resolves it.
func (l analyzerCoverage) hasAnalyzed(path, rule string) bool {
	return !l.isExcluded(path) && !l.nothing && isBelow(path, l.root) && !l.not.contains(path) &&
		!l.untried[rule].contains(path) &&
		(l.only == nil || l.only[path])
}
