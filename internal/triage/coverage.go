package triage

import (
	"slices"
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
	root     string            // what the paths begin with that it speaks of
	nothing  bool              // no claim can be made
	not      places            // that it skipped
	untried  map[string]places // by rule: where it did not look for what the rule finds
	absent   []scan.PathKind   // kinds of paths that what was scanned shows none of
	only     places            // where alone it looked, as far as is known; nil: everywhere else
}

// places are files, and folders with a trailing slash; the empty one is everywhere.
type places map[string]bool

// hold reports whether the path is one of the places, or in one.
func (p places) hold(path string) bool {
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

// covers returns what the statuses say of a scan that has told of the operations, with identifiers of the rules of
// reasons as
// the function makes them. An analyzer without a status is not in it: it looked at
// nothing.
func covers(statuses []scan.Status, operations []finding.Operation, rule func(name string) string) coverage {
	c, reached := coverage{}, places{}
	for _, o := range operations {
		if o.Place != "" {
			reached[o.Place] = true
		}
	}
	for _, s := range statuses {
		l := looked{analysis: s.Analysis, root: s.Root, nothing: s.State == scan.Failed || s.Omitted > 0}
		if s.State == scan.Degraded {
			l.nothing = l.nothing || len(s.Reasons) == 0
		}
		l.not, l.untried = make(places, len(s.Reasons)), map[string]places{}
		for _, r := range s.Reasons {
			path := strings.TrimPrefix(r.Path, "./")
			if path == "/" || path == "." {
				path = ""
			}
			for _, name := range r.Rules {
				if l.untried[rule(name)] == nil {
					l.untried[rule(name)] = places{}
				}
				l.untried[rule(name)][path] = true
			}
			if r.Beyond {
				l.only = reached
			}
			if len(r.Rules) == 0 && (path != "" || !r.Beyond) {
				l.not[path] = true
			}
		}
		c[s.Analyzer] = l
	}
	return c
}

// saw reports whether the analyzer looked at the path for what the rule finds; a
// rule without a name is none of those that reasons name.
func (c coverage) saw(analyzer, path, rule string) bool {
	l, ran := c[analyzer]
	return ran && l.saw(path, rule)
}

// without marks kinds of paths as absent from the scanned source.
func (c coverage) without(kinds []scan.PathKind) {
	for analyzer, l := range c {
		l.absent = kinds
		c[analyzer] = l
	}
}

// leftOut reports whether the path is of a kind that what was scanned shows none of.
func (l looked) leftOut(path string) bool {
	kind, _ := scan.KindOfPath(path)
	return kind != "" && l.root == "" && slices.Contains(l.absent, kind)
}

// sawAll reports whether analyzers of the analysis ran, and all of them looked at
// the path.
func (c coverage) sawAll(a finding.Analysis, path string) bool {
	ran := false
	for _, l := range c {
		if l.analysis == a {
			ran = true
			if !l.saw(path, "") {
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

func (l looked) saw(path, rule string) bool {
	return !l.leftOut(path) && !l.nothing && below(path, l.root) && !l.not.hold(path) && !l.untried[rule].hold(path) &&
		(l.only == nil || l.only[path])
}
