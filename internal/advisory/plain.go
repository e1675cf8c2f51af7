package advisory

import "cmp"

// This file compares versions that are nothing but numbers, which most are. The
// library's comparison takes about a microsecond for each; in the ecosystems below
// it comes to the same as comparing the numbers, those that are missing being zero.
// TestPlainOrder holds that against the library.

// plainOrder names these ecosystems, and how many numbers a version may have:
// the fourth of a semantic version is no number to the library.
var plainOrder = map[string]int{
	"npm": 3, "Go": 3, "crates.io": 3, "Hex": 3, "Pub": 3, "SwiftURL": 3, "GitHub Actions": 3, "Bitnami": 3,
	"PyPI": 4, "RubyGems": 4, "NuGet": 4, "Maven": 4,
}

// A plainVersion is up to four numbers; n is 0 when a version is something else.
type plainVersion struct {
	n       int
	numbers [4]uint64
}

// plainNumbers reads "1.20.3".
func plainNumbers(s string) plainVersion {
	var v plainVersion
	if len(s) > 40 {
		return v
	}
	empty, width := true, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' && width < 15:
			v.numbers[v.n] = v.numbers[v.n]*10 + uint64(c-'0')
			empty = false
			width++
		case c == '.' && !empty && v.n < len(v.numbers)-1:
			v.n++
			empty, width = true, 0
		default:
			return plainVersion{}
		}
	}
	if empty {
		return plainVersion{}
	}
	v.n++
	return v
}

// compareNumbers orders two versions by their numbers; those that are missing are zero.
func (v plainVersion) compareNumbers(w plainVersion) int {
	for i := range v.numbers {
		if n := cmp.Compare(v.numbers[i], w.numbers[i]); n != 0 {
			return n
		}
	}
	return 0
}
