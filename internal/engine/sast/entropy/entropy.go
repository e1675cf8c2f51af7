// Package entropy tells texts that look random, as keys and passwords do, from
// words.
//
// A text is scored by how surprising it is to a reader of English: each group of
// three letters has the information, in bits, that its frequency gives it (Shannon,
// "Prediction and Entropy of Printed English", 1951). Digits and other characters
// count as drawn from 62. What the text has just said is hardly news (Ziv and Lempel,
// "A Universal Algorithm for Sequential Data Compression", 1977): so filler such as
// "abababab" has little. The frequencies are those of the comments in the standard
// library of Go: go generate counts them anew.
package entropy

import (
	_ "embed" // the table
	"math"
)

//go:generate go run ./generate trigrams.bin

// trigrams holds the information of each group of three letters, AAA first, then AAB,
// in eighths of a bit; then that of each single letter.
//
//go:embed trigrams.bin
var trigrams string

const (
	letters    = 26
	groups     = letters * letters * letters
	resolution = 8 // parts of a bit

	repeated = 0.5 // bits of a character that begins a group which was there just before
	window   = 8   // characters that are just before
)

// other is the information of a character that is no letter.
var other = math.Log2(62)

// Bits returns the information of a text in bits. Case does not count.
func Bits(text string) float64 {
	total := 0.0
	seen := map[string]int{} // where last, from 1
	for i := range len(text) {
		n := min(3, len(text)-i)
		g := text[i : i+n]
		last := seen[g]
		if seen[g] = i + 1; last > 0 && i+1-last <= window {
			total += repeated
			continue
		}
		total += groupBits(g) / float64(n)
	}
	return total
}

// groupBits returns the information of one to three characters. Two or one are scored letter by
// letter.
func groupBits(s string) float64 {
	index, sum := 0, 0.0
	for i := range len(s) {
		l := letterIndex(s[i])
		if l < 0 {
			index = -1
			sum += other
			continue
		}
		if index >= 0 {
			index = index*letters + l
		}
		sum += tableBits(groups + l)
	}
	if len(s) == 3 && index >= 0 {
		return tableBits(index)
	}
	return sum
}

// tableBits returns the information of an entry of the table.
func tableBits(i int) float64 { return float64(trigrams[i]) / resolution }

// letterIndex returns 0 for a and A, 25 for z and Z, and -1 for anything else.
func letterIndex(c byte) int {
	if c |= 0x20; c >= 'a' && c <= 'z' {
		return int(c - 'a')
	}
	return -1
}

// modes are how much a secret has at least: bits, and the share of them in eight bits
// for each character.
var modes = map[string]struct{ bits, density float64 }{
	"lax":     {40, 0.5},
	"default": {64, 0.6},
	"strict":  {80, 0.65},
}

// Secret says whether a text looks random enough to be a secret. The mode is lax,
// default or strict; any other is default.
func Secret(text, mode string) bool {
	m, ok := modes[mode]
	if !ok {
		m = modes["default"]
	}
	b := Bits(text)
	return b > m.bits && b/float64(8*len(text)) > m.density
}
