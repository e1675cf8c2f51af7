// Package entropy tells texts that look random, as keys and passwords do, from
// words.
//
// A text is scored by how surprising it is to a reader of English: each group of
// three letters has the information, in bits, that its frequency gives it (Shannon,
// "Prediction and Entropy of Printed English", 1951). Digits and other characters
// count as drawn from 62. The frequencies are those of the comments in the standard
// library of Go: go generate counts them anew.
package entropy

import (
	_ "embed" // the table
	"math"
	"strings"
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
)

// other is the information of a character that is no letter.
var other = math.Log2(62)

// Bits returns the information of a text in bits. Case does not count. A text of one
// character many times has one bit.
func Bits(text string) float64 {
	if text == "" || strings.Trim(text, text[:1]) == "" {
		return 1
	}
	total := 0.0
	for i := range len(text) {
		n := min(3, len(text)-i)
		total += group(text[i:i+n]) / float64(n)
	}
	return total
}

// group returns the information of one to three characters.
func group(s string) float64 {
	index, sum := 0, 0.0
	for i := range len(s) {
		l := letter(s[i])
		if l < 0 {
			index = -1
			sum += other
			continue
		}
		if index >= 0 {
			index = index*letters + l
		}
		sum += bits(groups + l)
	}
	if len(s) == 3 && index >= 0 {
		return bits(index)
	}
	return sum
}

func bits(i int) float64 { return float64(trigrams[i]) / resolution }

// letter returns 0 for a and A, 25 for z and Z, and -1 for anything else.
func letter(c byte) int {
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
