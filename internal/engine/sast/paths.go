package sast

import (
	"regexp"
	"strings"
	"sync"

	"merlon/internal/engine/sast/rule"
)

// This file decides by the paths of a rule which files it looks at. The globs are
// those of .gitignore, as in the rules of the field: "*" within a part, "**" over
// parts, a glob without a slash fits a part anywhere, and what is below a folder that
// fits fits too.

// applies reports whether the rule looks at the file.
func applies(r *rule.Rule, path string) bool {
	if len(r.Include) == 0 && len(r.Exclude) == 0 {
		return true
	}
	for _, g := range r.Exclude {
		if glob(g).MatchString(path) {
			return false
		}
	}
	for _, g := range r.Include {
		if glob(g).MatchString(path) {
			return true
		}
	}
	return len(r.Include) == 0
}

var globs sync.Map // of *regexp.Regexp by glob

// glob compiles a glob, once.
func glob(g string) *regexp.Regexp {
	if re, ok := globs.Load(g); ok {
		return re.(*regexp.Regexp)
	}
	re := compileGlob(g)
	globs.Store(g, re)
	return re
}

func compileGlob(g string) *regexp.Regexp {
	var b strings.Builder
	rest := strings.TrimSuffix(strings.TrimPrefix(g, "./"), "/")
	if strings.HasPrefix(rest, "/") {
		rest = rest[1:]
		b.WriteString("^")
	} else {
		b.WriteString("(?:^|/)")
	}
	for len(rest) > 0 {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			b.WriteString("[^/]")
			rest = rest[1:]
		default:
			n := strings.IndexAny(rest, "*?")
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		}
	}
	b.WriteString("(?:/|$)")
	return regexp.MustCompile(b.String()) // quoted text and fixed parts
}
