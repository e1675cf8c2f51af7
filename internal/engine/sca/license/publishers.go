package license

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// This file knows the licences of publishers that put all their packages under one.

//go:embed publishers.txt
var publishersText string

// A publisher is packages of an ecosystem whose names begin alike.
type publisher struct {
	prefix, license string
	since           int // the first major version under the licence
}

// publishers gives them by ecosystem.
var publishers = sync.OnceValue(func() map[string][]publisher {
	out := map[string][]publisher{}
	for line := range strings.Lines(publishersText) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) == 3 && !strings.HasPrefix(line, "#") {
			one := publisher{prefix: words[1], license: words[2]}
			if expression, major, ok := strings.Cut(words[2], " >="); ok {
				one.license = expression
				one.since, _ = strconv.Atoi(major) // a test reads every row
			}
			out[words[0]] = append(out[words[0]], one)
		}
	}
	return out
})

// OfPublisher returns the licence of a version of a package by who publishes it, or "".
func OfPublisher(ecosystem, name, version string) string {
	for _, p := range publishers()[ecosystem] {
		major, _, _ := strings.Cut(version, ".")
		n, err := strconv.Atoi(major)
		if p.matches(ecosystem, name) && (p.since == 0 || err == nil && n >= p.since) {
			return p.license
		}
	}
	return ""
}

// matches reports whether the package is the publisher's: its name is the prefix, or goes on
// behind a separator.
func (p publisher) matches(ecosystem, name string) bool {
	if ecosystem == "NuGet" || ecosystem == "PyPI" { // whose names know no case
		if len(name) < len(p.prefix) || !strings.EqualFold(name[:len(p.prefix)], p.prefix) {
			return false
		}
		name = p.prefix + name[len(p.prefix):]
	}
	rest, ok := strings.CutPrefix(name, p.prefix)
	return ok && (rest == "" || strings.ContainsAny(p.prefix[len(p.prefix)-1:], "./:-") ||
		strings.ContainsAny(rest[:1], "./:-"))
}
