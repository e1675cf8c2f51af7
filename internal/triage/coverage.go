package triage

import (
	"strings"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file answers what a scan looked at. Only there does the absence of a
// finding mean anything.

// coverage is what the analyzers of a scan looked at, by analyzer.
type coverage map[string]looked

// looked is what one analyzer looked at.
type looked struct {
	analysis finding.Analysis
	root     string          // what the paths begin with that it speaks of
	nothing  bool            // no claim can be made
	not      map[string]bool // files, and folders with a trailing slash, that it skipped
}

// covers returns what the statuses say. An analyzer without a status is not in
// it: it looked at nothing.
func covers(statuses []scan.Status) coverage {
	c := coverage{}
	for _, s := range statuses {
		l := looked{analysis: s.Analysis, root: s.Root, nothing: s.State == scan.Failed || s.Omitted > 0}
		if s.State == scan.Degraded {
			l.nothing = l.nothing || len(s.Reasons) == 0
			l.not = make(map[string]bool, len(s.Reasons))
		}
		for _, r := range s.Reasons {
			path := strings.TrimPrefix(r.Path, "./")
			if path == "" || path == "/" || path == "." {
				l.nothing = true
			}
			if l.not != nil {
				l.not[path] = true
			}
		}
		c[s.Analyzer] = l
	}
	return c
}

// saw reports whether the analyzer looked at the path.
func (c coverage) saw(analyzer, path string) bool {
	l, ran := c[analyzer]
	return ran && l.saw(path)
}

// sawAll reports whether analyzers of the analysis ran, and all of them looked at
// the path.
func (c coverage) sawAll(a finding.Analysis, path string) bool {
	ran := false
	for _, l := range c {
		if l.analysis == a {
			ran = true
			if !l.saw(path) {
				return false
			}
		}
	}
	return ran
}

// below reports whether the path is the root or below it: "shop.org/a" is not below
// "shop.org/admin", nor "shop.org.net".
func below(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || root == "" || strings.HasSuffix(root, "/") || rest[0] == '/')
}

func (l looked) saw(path string) bool {
	if l.nothing || l.not[path] || !below(path, l.root) {
		return false
	}
	for i, r := range path {
		if r == '/' && l.not[path[:i+1]] {
			return false
		}
	}
	return true
}
