package score

import (
	"slices"
	"strconv"
	"strings"
)

// classes are sets of weaknesses that advisories use for one and the same kind of
// flaw. The numbers and their relations are from the CWE list, version 4.16.
var classes = map[string][]int{
	"path": {22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 59, 61, 73, 180, 548,
		552},
	"command":       {77, 78, 88},
	"code":          {94, 95, 96, 265, 470, 693, 913, 1336},
	"script":        {79, 80, 83, 85, 86, 87, 116, 725},
	"query":         {89, 90, 91, 564, 643, 652, 943},
	"exhaustion":    {185, 400, 407, 730, 770, 1333},
	"prototype":     {471, 915, 1321},
	"transport":     {295, 297, 300, 311, 319, 345, 494, 818, 829},
	"redirect":      {601},
	"request":       {441, 918},
	"serialization": {502},
	"entities":      {611, 776, 827},
	"headers":       {93, 113, 444},
	"random":        {330, 331, 338, 340},
	"cryptography":  {326, 327, 328, 329, 347, 759, 760, 916, 934},
	"secrets":       {259, 321, 522, 798},
	"origin":        {346, 352, 942, 1385},
	"exposure":      {200, 201, 209, 532, 538},
	"access":        {284, 285, 287, 290, 306, 862, 863},
}

// general are weaknesses that stand for several classes: improper validation of
// input, and injection.
var general = map[int][]string{
	20: {"path", "command", "code", "script", "query", "exhaustion", "prototype", "redirect", "request", "headers",
		"serialization"},
	74: {"command", "code", "script", "query", "headers", "prototype"},
}

// SameClass reports whether a finding of weakness got is of the class of the
// labelled weakness want.
func SameClass(want, got int) bool {
	if want == got {
		return true
	}
	for name, class := range classes {
		if slices.Contains(class, got) && (slices.Contains(class, want) || slices.Contains(general[want], name)) {
			return true
		}
	}
	return false
}

// parseCWEs reads weaknesses as truths write them: "CWE-022", " CWE-23", "79".
// What is no number is left out.
func parseCWEs(names []string) []int {
	var out []int
	for _, name := range names {
		if n, err := Number(name); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Number reads one weakness: "CWE-22" or "22", with spaces and zeros around it.
func Number(name string) (int, error) {
	return strconv.Atoi(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "CWE-"))
}
