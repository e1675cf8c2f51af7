package upgrade

import (
	"strconv"
	"strings"

	"github.com/google/osv-scalibr/semantic"
)

// This file compares versions.

// A Step is how far one version is from another, by its name on the wire.
// It follows semantic versioning, whether the package does or not.
type Step string

// The steps, by the first number that differs.
const (
	PatchStep Step = "patch"
	MinorStep Step = "minor"
	MajorStep Step = "major"
)

// rank orders steps by risk: a patch release breaks less than a major one.
func (s Step) rank() int {
	switch s {
	case PatchStep:
		return 0
	case MinorStep:
		return 1
	}
	return 2
}

// StepOf returns the step from a version to a later one. A version that is not made of
// numbers is a major step away from all others.
func StepOf(from, to string) Step {
	a, aok := majorMinor(from)
	b, bok := majorMinor(to)
	switch {
	case !aok || !bok || a[0] != b[0]:
		return MajorStep
	case a[1] != b[1]:
		return MinorStep
	}
	return PatchStep
}

// majorMinor returns the first two numbers of a version; what is missing is zero.
func majorMinor(version string) (out [2]int, ok bool) {
	version = strings.TrimPrefix(strings.ToLower(version), "v")
	// "1!2.0" is epoch 1, version 2.0.
	if _, rest, epoch := strings.Cut(version, "!"); epoch { // of PEP 440
		version = rest
	}
	for i := range out {
		end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(version)
		}
		n, err := strconv.Atoi(version[:end])
		if err != nil {
			// "1.x" has a major version and no minor one.
			return out, i > 0
		}
		out[i] = n
		if end == len(version) || version[end] != '.' {
			return out, true
		}
		version = version[end+1:]
	}
	return out, true
}

// compareVersions orders two versions of an ecosystem; false when that cannot be done.
func compareVersions(ecosystem, a, b string) (int, bool) {
	// "Debian:12" is compared like Debian.
	base, _, _ := strings.Cut(ecosystem, ":")
	x, err := semantic.Parse(a, base)
	if err != nil {
		return 0, false
	}
	y, err := semantic.Parse(b, base)
	if err != nil {
		return 0, false
	}
	n, err := x.Compare(y)
	return n, err == nil
}

// orderVersions is compare for versions that may not be comparable: these are equal.
func orderVersions(ecosystem, a, b string) int {
	n, _ := compareVersions(ecosystem, a, b)
	return n
}

// lessVersion reports whether version a is older than b in the ecosystem.
func lessVersion(ecosystem, a, b string) bool {
	n, ok := compareVersions(ecosystem, a, b)
	return ok && n < 0
}

// yesFirst orders true before false.
func yesFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return 1
	}
	return -1
}
