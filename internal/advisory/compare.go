package advisory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// This file decides whether a version lies in the ranges of a record, by the
// evaluation algorithm of the OSV schema
// (https://ossf.github.io/osv-schema/#evaluation). Where it cannot decide, it
// returns an error.

// errNoOrder says that there is no known order of an ecosystem's versions.
var errNoOrder = errors.New("versions of this ecosystem cannot be compared")

// A comparer orders the versions of one ecosystem. It remembers what it parsed,
// because the records of a package name the same versions again and again. It is
// not safe for concurrent use.
type comparer struct {
	base   string
	plain  int // versions of at most so many numbers have the plain order
	parsed map[string]parsedVersion
}

// parsedVersion is a version that was parsed, or the error of it.
type parsedVersion struct {
	version semantic.Version
	err     error
}

// newComparer returns the comparer of an ecosystem, with or without a release.
func newComparer(ecosystem string) *comparer {
	base, _ := splitEcosystem(ecosystem)
	return &comparer{base: base, plain: plainOrder[base]}
}

// checkVersion returns an error when the text is not a version of the ecosystem.
func (c *comparer) checkVersion(s string) error {
	if n := plainNumbers(s).n; n > 0 && n <= c.plain {
		return nil
	}
	_, err := c.parseCached(s)
	return err
}

// parseCached parses a version, or returns what it parsed before.
func (c *comparer) parseCached(s string) (semantic.Version, error) {
	p, ok := c.parsed[s]
	if !ok {
		p.version, p.err = parseVersion(s, c.base)
		if c.parsed == nil {
			c.parsed = map[string]parsedVersion{}
		}
		c.parsed[s] = p
	}
	return p.version, p.err
}

// parseVersion reads a version. The library takes any text for a version in
// many ecosystems; what is none ("latest", "file:../x", "^1.2") is an error here.
func parseVersion(s, base string) (semantic.Version, error) {
	order := base
	if base == "GitHub Actions" { // tags, semantic by convention of the ecosystem
		order = "npm"
	}
	if s == "" || len(s) > maxVersion || strings.ContainsAny(s, " \t\r\n<>=^*${}[](),|/\\\"'") ||
		!looksLikeVersion(s, base) || isCommit(s) {
		return nil, fmt.Errorf("%q is not a version", truncate(s, 60))
	}
	v, err := semantic.Parse(s, order)
	switch {
	case errors.Is(err, semantic.ErrUnsupportedEcosystem):
		return nil, errNoOrder
	case err != nil:
		return nil, fmt.Errorf("%q is not a version", truncate(s, 60))
	}
	return v, nil
}

// looksLikeVersion reports whether a version of the ecosystem can begin so.
func looksLikeVersion(s, base string) bool {
	if base == "Maven" { // "Finchley.SR1" is one
		return true
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "v"), "V")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// isCommit reports whether s is the full hash of a commit.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// compareVersions orders two versions that parseCached accepted.
func (c *comparer) compareVersions(a, b string) (int, error) {
	if x, y := plainNumbers(a), plainNumbers(b); x.n > 0 && y.n > 0 && max(x.n, y.n) <= c.plain {
		return x.compareNumbers(y), nil
	}
	va, err := c.parseCached(a)
	if err != nil {
		return 0, err
	}
	vb, err := c.parseCached(b)
	if err != nil {
		return 0, err
	}
	return va.Compare(vb)
}

// rangeHit is where in a record a version is.
type rangeHit struct {
	affected   bool
	introduced string // the start of the range that holds it
	open       bool   // that range ends nowhere
}

// isAffected evaluates what a record says of a package for one version.
func (c *comparer) isAffected(a *affected, version string) (rangeHit, error) {
	if slices.Contains(a.versions, version) {
		return c.listedHit(a, version), nil
	}
	var undecided error
	for _, events := range a.ranges {
		h, err := c.inRange(events, version)
		if h.affected {
			return h, nil
		}
		if err != nil {
			undecided = err
		}
	}
	equal, err := c.equalsListed(a.versions, version)
	switch {
	case equal:
		return rangeHit{affected: true}, nil
	case undecided != nil:
		return rangeHit{}, undecided
	case err != nil:
		return rangeHit{}, err
	case a.problem != "":
		return rangeHit{}, errors.New(a.problem)
	}
	return rangeHit{}, nil
}

// listedHit is a hit in the list of versions, with the start of the range that contains
// the version too, if one does.
func (c *comparer) listedHit(a *affected, version string) rangeHit {
	for _, events := range a.ranges {
		if h, err := c.inRange(events, version); err == nil && h.affected {
			h.open = false // the record lists the version
			return h
		}
	}
	return rangeHit{affected: true}
}

// equalsListed reports whether the version is another spelling of one of the list.
// Versions whose first numbers differ are not compared: equal ones have the same.
func (c *comparer) equalsListed(list []string, version string) (bool, error) {
	if len(list) == 0 {
		return false, nil
	}
	if err := c.checkVersion(version); err != nil {
		return false, err
	}
	lead := leadingNumber(version)
	for _, other := range list {
		if leadingNumber(other) != lead {
			continue
		}
		if c.checkVersion(other) != nil {
			continue // an odd spelling equals itself only, and that was looked at
		}
		if n, err := c.compareVersions(version, other); err == nil && n == 0 {
			return true, nil
		}
	}
	return false, nil
}

// leadingNumber returns the first run of digits without leading zeros.
func leadingNumber(s string) string {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return ""
	}
	s = s[i:]
	if end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		s = s[:end]
	}
	return strings.TrimLeft(s, "0")
}

// inRange reports whether the version is in the range, whose events are sorted. A version that cannot be
// read is in a range that holds everything.
func (c *comparer) inRange(events []event, version string) (rangeHit, error) {
	if coversAll(events) {
		return rangeHit{affected: true, introduced: "0", open: true}, nil
	}
	if err := c.checkVersion(version); err != nil {
		return rangeHit{}, err
	}
	before, err := c.beforeLimits(events, version)
	if err != nil || !before {
		return rangeHit{}, err
	}
	var h rangeHit
	for _, e := range events {
		if e.kind == limit {
			continue
		}
		n := 1
		if !e.isZero() {
			if n, err = c.compareVersions(version, e.version); err != nil {
				return rangeHit{}, err
			}
		}
		switch {
		case e.kind == introduced && n >= 0:
			h = rangeHit{affected: true, introduced: e.version, open: true}
		case e.kind == fixed && n >= 0, e.kind == lastAffected && n > 0:
			h = rangeHit{}
		case e.kind != introduced:
			h.open = false
		}
	}
	return h, nil
}

// coversAll reports whether a range begins before all versions and never ends.
func coversAll(events []event) bool {
	starts := false
	for _, e := range events {
		switch {
		case e.isZero():
			starts = true
		case e.kind != introduced && !(e.kind == limit && e.version == "*"):
			return false
		}
	}
	return starts
}

// beforeLimits reports whether the version is below one of the limits, if the
// range has any.
func (c *comparer) beforeLimits(events []event, version string) (bool, error) {
	none := true
	for _, e := range events {
		if e.kind != limit {
			continue
		}
		if e.version == "*" {
			return true, nil
		}
		none = false
		n, err := c.compareVersions(version, e.version)
		if err != nil || n < 0 {
			return err == nil, err
		}
	}
	return none, nil
}

// sortEvents brings events into the order of their versions, which evaluation relies on;
// those at one version stay in the order of the record, limits come last.
func (c *comparer) sortEvents(events []event) error {
	var failed error
	slices.SortStableFunc(events, func(a, b event) int {
		if n := cmp.Or(boolToInt(a.kind == limit)-boolToInt(b.kind == limit),
			boolToInt(b.isZero())-boolToInt(a.isZero())); n != 0 ||
			a.kind == limit || a.isZero() {
			return n
		}
		n, err := c.compareVersions(a.version, b.version)
		if err != nil {
			failed = err
		}
		return n
	})
	return failed
}

// isZero reports whether a range begins before all versions.
func (e event) isZero() bool { return e.kind == introduced && e.version == "0" }

// boolToInt orders false before true.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// listFixes returns the versions that end a range of the records and are in none of them,
// lowest first, and the lowest of those above the present version.
func (c *comparer) listFixes(records []*affected, present string) (fixes []string, upgrade string) {
	for _, candidate := range c.fixedVersions(records, "") {
		clear := !slices.ContainsFunc(records, func(a *affected) bool {
			h, err := c.isAffected(a, candidate)
			return h.affected || err != nil
		})
		if !clear {
			continue
		}
		fixes = append(fixes, candidate)
		if n, err := c.compareVersions(candidate, present); upgrade == "" && err == nil && n > 0 {
			upgrade = candidate
		}
	}
	return fixes, upgrade
}

// upgradeAll returns the lowest fixed version above the present one that no record
// affects, as far as that can be decided. A record that says nothing readable of
// any version is left out: it would rule out all of them.
func (c *comparer) upgradeAll(list []affected, present string) string {
	records := make([]*affected, len(list))
	for i := range list {
		records[i] = &list[i]
	}
	for _, candidate := range c.fixedVersions(records, present) {
		if !slices.ContainsFunc(records, func(a *affected) bool {
			h, err := c.isAffected(a, candidate)
			return h.affected || err != nil && a.problem == ""
		}) {
			return candidate
		}
	}
	return ""
}

// fixedVersions lists the versions of "fixed" events in their order, each once;
// only those above a version, unless that is empty.
func (c *comparer) fixedVersions(records []*affected, above string) []string {
	var out []string
	for _, a := range records {
		for _, events := range a.ranges {
			for _, e := range events {
				if e.kind != fixed || c.checkVersion(e.version) != nil || slices.Contains(out, e.version) {
					continue
				}
				if above != "" {
					if n, err := c.compareVersions(e.version, above); err != nil || n <= 0 {
						continue
					}
				}
				out = append(out, e.version)
			}
		}
	}
	return c.sortVersions(out)
}

// sortVersions sorts versions, and leaves out those that are the same as another.
func (c *comparer) sortVersions(list []string) []string {
	slices.SortFunc(list, func(a, b string) int {
		n, err := c.compareVersions(a, b)
		if err != nil || n == 0 {
			return strings.Compare(a, b)
		}
		return n
	})
	return slices.CompactFunc(list, func(a, b string) bool {
		n, err := c.compareVersions(a, b)
		return err == nil && n == 0
	})
}
