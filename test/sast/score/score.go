// Package score compares what a scan found with what is known to be there. Each
// public corpus counts in its own way; this package knows the ways and does no
// input or output beyond decoding truths.
//
// Every scorer returns cases, one for each labelled flaw or non-flaw, so that a
// reader sees which were right; Tally counts them.
package score

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Finding is one result of a tool.
type Finding struct {
	File       string // below the scanned root, forward slashes
	Line       int    // first line, from 1
	CWE        []int  // every weakness that the rule names
	Rule       string
	Confidence string // "high", "medium" or "low"; empty if the tool has none
}

// A Case is one labelled place and what the tool said of it.
// Group is what the corpus counts by: a category, a query, a class or the name of an application.
type Case struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Real  bool   `json:"real"`  // there is a flaw
	Found bool   `json:"found"` // the tool says that there is one
	// Rules are those whose findings made it Found, or what came close.
	Rules []string `json:"rules,omitempty"`
	// Line is the labelled line; 0 when the label is a whole file.
	Line int `json:"line,omitempty"`
}

// Right reports whether the tool was right.
func (c Case) Right() bool { return c.Real == c.Found }

// Counts are the four cells of a confusion matrix.
// TP are flaws found, FN flaws missed, TN safe cases without a finding, FP safe cases with one.
type Counts struct{ TP, FN, TN, FP int }

// Add counts a case.
func (n *Counts) Add(c Case) {
	switch {
	case c.Real && c.Found:
		n.TP++
	case c.Real:
		n.FN++
	case c.Found:
		n.FP++
	default:
		n.TN++
	}
}

// Recall is the share of the flaws that were found; 0 without flaws.
func (n Counts) Recall() float64 { return ratioOf(n.TP, n.TP+n.FN) }

// Precision is the share of what was found that are flaws; 0 if nothing was.
func (n Counts) Precision() float64 { return ratioOf(n.TP, n.TP+n.FP) }

// FPR is the share of the non-flaws that were called flaws; 0 without any.
func (n Counts) FPR() float64 { return ratioOf(n.FP, n.FP+n.TN) }

// Accuracy is the share of cases that were right.
func (n Counts) Accuracy() float64 { return ratioOf(n.TP+n.TN, n.TP+n.FN+n.TN+n.FP) }

// A corpus without such cases has no rate; 0 keeps it out of the sums.
func ratioOf(a, b int) float64 {
	// No case of this kind: there is no rate.
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// A Group is the counts of the cases of one group.
type Group struct {
	Name string
	Counts
}

// Wrong is the number of cases that were not right.
func (g Group) Wrong() int { return g.FN + g.FP }

// Tally counts all cases, and those of each group, in the order of their names.
func Tally(cases []Case) (Counts, []Group) {
	var all Counts
	groups := map[string]*Counts{}
	for _, c := range cases {
		if groups[c.Group] == nil {
			groups[c.Group] = &Counts{}
		}
		all.Add(c)
		groups[c.Group].Add(c)
	}
	out := make([]Group, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, Group{name, *groups[name]})
	}
	return all, out
}

// Means returns the mean over groups of the true and the false positive rate:
// the OWASP Benchmark's score is their difference.
// Each group has the same weight, however many cases it has.
func Means(groups []Group) (tpr, fpr float64) {
	for _, g := range groups {
		tpr += g.Recall()
		fpr += g.FPR()
	}
	n := float64(max(1, len(groups)))
	return tpr / n, fpr / n
}

// byFile indexes findings by their file.
func byFile(findings []Finding) map[string][]Finding {
	out := map[string][]Finding{}
	for _, f := range findings {
		name := cleanPath(f.File)
		out[name] = append(out[name], f)
	}
	return out
}

// cleanPath normalises a path of a truth or of a report: no leading slash, dot or space.
// Truths were written on different systems: " /src/a.js" and "./src/a.js" are the same file.
func cleanPath(name string) string {
	return strings.TrimPrefix(path.Clean(strings.TrimSpace(name)), "/")
}

// ruleNames returns the names of the findings' rules, each once.
func ruleNames(findings []Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Rule)
	}
	slices.SortFunc(out, cmp.Compare)
	return slices.Compact(out)
}
