package helm

import (
	"fmt"
	"path"
	"strings"
)

// This file follows .helmignore: files of a chart's folder that are not part of it. See
// https://helm.sh/docs/chart_template_guide/helm_ignore_file/. A pattern with "**" and
// one that cannot be read stop Helm; here they are told and the others hold.

// maxIgnores bounds the patterns of a file.
const maxIgnores = 500

// ignores are the patterns of a chart.
type ignores []ignore

// An ignore is one pattern.
type ignore struct {
	pattern string
	whole   bool // of the whole path, not of the last name
	folder  bool // only of folders
	negated bool // leaves out what does not match
}

// defaultIgnores apply without a file.
var defaultIgnores = ignores{{pattern: "templates/.?*", whole: true}}

// parseIgnores reads the patterns of a file; a problem has the line of its pattern.
func parseIgnores(at string, text []byte) (ignores, []Problem) {
	out := defaultIgnores[:len(defaultIgnores):len(defaultIgnores)]
	var problems []Problem
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		pattern := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		one := ignore{pattern: pattern}
		one.pattern, one.negated = strings.CutPrefix(one.pattern, "!")
		one.pattern, one.folder = strings.CutSuffix(one.pattern, "/")
		_, err := path.Match(one.pattern, "x")
		switch {
		case strings.Contains(pattern, "**"):
			problems = append(problems, Problem{Path: at, Line: n, Message: "Helm does not support \"**\" in " +
				"patterns, and rejects the chart"})
			continue
		case err != nil:
			problems = append(problems, Problem{Path: at, Line: n, Message: fmt.Sprintf("the pattern cannot be read, "+
				"and Helm refuses the chart: %v", err)})
			continue
		case len(out) >= maxIgnores:
			return out, append(problems, Problem{Path: at, Line: n, Message: fmt.Sprintf("only the first %d patterns "+
				"are followed", maxIgnores)})
		}
		one.whole = strings.Contains(one.pattern, "/")
		one.pattern = strings.TrimPrefix(one.pattern, "/")
		out = append(out, one)
	}
	return out, problems
}

// ignoresFile reports whether a file of the chart, or a folder in which it is, is left
// out.
func (list ignores) ignoresFile(name string) bool {
	for i := range name {
		if name[i] == '/' && list.matchesAny(name[:i], true) {
			return true
		}
	}
	return list.matchesAny(name, false)
}

// matchesAny reports whether one of the patterns leaves the path out. A negated pattern
// leaves out what it does not match.
func (list ignores) matchesAny(name string, folder bool) bool {
	for _, one := range list {
		if one.folder && !folder {
			if one.negated {
				return true
			}
			continue
		}
		if one.matchesPath(name) != one.negated {
			return true
		}
	}
	return false
}

// matchesPath compares a path, or its last name, with the pattern.
func (one ignore) matchesPath(name string) bool {
	if !one.whole {
		name = path.Base(name)
	}
	ok, err := path.Match(one.pattern, name)
	return ok && err == nil
}
