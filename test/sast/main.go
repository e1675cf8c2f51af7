// Command sast measures the static analysis of the built program on public
// corpora, as a user runs it, and prints the table of docs/benchmarks.md. It is
// run by make bench-sast and never by tests.
//
// The corpora are not part of the project: CORPORA/README tells their layout.
// A measure whose corpus is not there says so. What each case got is written into
// a folder, one file of JSON lines for each measure, so that a developer sees
// which cases fail, and one of groups, worst first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"merlon/test/sast/tool"
	"merlon/test/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runMeasures(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sast:", err)
		os.Exit(1)
	}
}

// A bench is what the measures share.
// A bench is passed to each measure; nothing in it changes after prepareFolders.
type bench struct {
	corpora string
	// Files of results by case, named after the measure. They are for developers: the table has
	// only sums.
	out string // folder of results by case
	// Measures of time ignore jobs and run one scan alone.
	jobs int // scans at once, where time is not measured
	// Binary and Timeout of the tools are filled by the flags; the same Timeout holds for all of
	// them.
	merlon tool.Merlon
	gosec  tool.Gosec
	bearer tool.Bearer
}

// measures are all measures by name, in the order of the table.
// A name is what -only selects. The order is that of docs/benchmarks.md, accuracy first; a new
// measure needs a line here and a function that returns its rows.
var measures = []table.Measure[*bench]{
	{Name: "benchjava", Run: benchJava},
	{Name: "benchpython", Run: benchPython},
	{Name: "securibench", Run: measureSecuribench},
	{Name: "xast", Run: measureXAST},
	{Name: "vulcan", Run: measureVulcan},
	{Name: "realvuln", Run: realVuln},
	{Name: "rules", Run: ruleConformance},
	{Name: "patterns", Run: measurePatterns},
	{Name: "noise", Run: measureNoise},
	{Name: "cost", Run: measureCost},
	{Name: "growth", Run: measureGrowth},
	{Name: "rescan", Run: measureRescan},
	{Name: "peers", Run: measurePeers},
	{Name: "tpatterns", Run: measureTPatterns},
	{Name: "queries", Run: measureQueries},
	{Name: "juiceshop", Run: juiceShop},
}

// runMeasures runs the selected measures and prints the table.
func runMeasures(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("sast", flag.ContinueOnError)
	b := &bench{}
	var only string
	// There is no default folder: a wrong one would measure nothing and still print a table.
	flags.StringVar(&b.corpora, "corpora", "", "folder of the corpora")
	flags.StringVar(&b.out, "out", "", "folder for the results by case; a temporary one if empty")
	flags.StringVar(&b.merlon.Binary, "merlon", "bin/merlon", "the program to measure")
	flags.StringVar(&b.gosec.Binary, "gosec", "gosec", "gosec, to compare with")
	flags.StringVar(&b.bearer.Binary, "bearer", "bearer", "the Bearer CLI, to compare with")
	flags.StringVar(&b.bearer.Rules, "bearer-rules", "", "folder of the Bearer CLI's rules")
	flags.StringVar(&only, "only", "", "measures to run, with commas between: "+table.Names(measures))
	flags.IntVar(&b.jobs, "jobs", 2, "scans at once where time is not measured")
	flags.DurationVar(&b.merlon.Timeout, "timeout", 20*time.Minute, "for one run of a program")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b.gosec.Timeout, b.bearer.Timeout = b.merlon.Timeout, b.merlon.Timeout
	// Unknown names are an error before the first scan, which may take minutes.
	chosen, err := table.Choose(measures, only)
	if err != nil {
		return err
	}
	if err := b.prepareFolders(); err != nil {
		return err
	}
	return table.Run(ctx, chosen, b, b.out, stdout)
}

// prepareFolders checks the folders and makes paths absolute, because programs are run
// in other folders.
func (b *bench) prepareFolders() (err error) {
	if b.corpora == "" {
		return errors.New("-corpora names the folder of the corpora")
	}
	if _, err := os.Stat(b.corpora); err != nil {
		return err
	}
	// A temporary folder is kept after the run, so that the results by case can be read.
	if b.out == "" {
		if b.out, err = os.MkdirTemp("", "merlon-sast"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	for _, path := range []*string{&b.corpora, &b.out, &b.merlon.Binary} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	// A missing program would otherwise fail once for each scan of each measure.
	_, err = os.Stat(b.merlon.Binary)
	return err
}

// corpusPath returns the path of a corpus, and an error if it is not there.
// The error wraps fs.ErrNotExist, which the table shows as "not measured" and not as a failure.
func (b *bench) corpusPath(elements ...string) (string, error) {
	path := filepath.Join(append([]string{b.corpora}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return path, nil
}
