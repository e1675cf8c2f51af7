package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// writeCases writes what each case got, and the groups of a measure with the most
// wrong cases first.
// The groups are categories, queries or rules, as the measure has set them in its cases. The TSV
// file is read by people: the first lines show where work pays most.
func (b *bench) writeCases(name string, cases []score.Case) error {
	if err := table.Keep(filepath.Join(b.out, name+".jsonl"), cases); err != nil {
		return err
	}
	_, groups := score.Tally(cases)
	slices.SortStableFunc(groups, func(x, y score.Group) int { return y.Wrong() - x.Wrong() })
	var text strings.Builder
	text.WriteString("wrong\tTP\tFN\tTN\tFP\tgroup\n")
	for _, g := range groups {
		fmt.Fprintf(&text, "%d\t%d\t%d\t%d\t%d\t%s\n", g.Wrong(), g.TP, g.FN, g.TN, g.FP, g.Name)
	}
	return os.WriteFile(filepath.Join(b.out, name+".groups.tsv"), []byte(text.String()), 0o644)
}

// saveReport keeps the report of a scan as name.json, and says in a note
// what it cost and what could not be looked at whole.
// Only the first gap is in the note: the report file contains all of them.
func (b *bench) saveReport(name string, scan *tool.Scan) (string, error) {
	note := table.Spent(scan.Cost)
	if n := len(scan.Degraded); n > 0 {
		note += fmt.Sprintf("; %d degraded: %s", n, scan.Degraded[0])
	}
	return note, os.WriteFile(filepath.Join(b.out, name+".json"), scan.Raw, 0o644)
}
