// Command supply measures the analyses of dependencies, images, infrastructure
// code, secrets and pipelines of the built program, as a user runs it, side by
// side with public scanners on the same input, and prints the table of
// docs/benchmarks.md. It is run by make bench-supply and never by tests.
//
// The corpora and the other scanners are not part of the project:
// CORPORA/README tells their layout. A measure whose corpus or scanner is not
// there says so. What each case got is written into a folder, one file of JSON
// lines for each measure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"merlon/test/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runMeasures(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

// A bench is what the measures share. All paths are absolute.
type bench struct {
	corpora    string // folder of the corpora
	peers      string // folder of the other scanners' programs
	advisories string // folder of vulnerability records, as OSV's export lays them out
	out        string // folder of results by case
	merlon     string // the program to measure
	kics       string // folder of the KICS module
	timeout    time.Duration
}

// measures lists them in the order of the table.
// A new measure needs a line here and a function that returns its rows; its cases go to
// writeCases.
var measures = []table.Measure[*bench]{
	{Name: "goats", Run: measureGoats},
	{Name: "packages", Run: measurePackages},
	{Name: "pipelines", Run: measurePipelines},
	{Name: "secrets", Run: measureSecrets},
	{Name: "checkov", Run: measureCheckov},
	{Name: "kics", Run: kicsTests},
	{Name: "images", Run: measureImages},
	{Name: "whole", Run: measureWhole},
}

// runMeasures runs the selected measures and prints the table.
func runMeasures(ctx context.Context, args []string, stdout io.Writer) error {
	b, chosen, err := parseArguments(args)
	if err != nil {
		return err
	}
	return table.Run(ctx, chosen, b, b.out, stdout)
}

// parseArguments reads the options, checks the folders and makes paths absolute, because
// programs are run in other folders.
func parseArguments(args []string) (*bench, []table.Measure[*bench], error) {
	flags := flag.NewFlagSet("supply", flag.ContinueOnError)
	b := &bench{}
	var only string
	flags.StringVar(&b.corpora, "corpora", "", "folder of the corpora")
	flags.StringVar(&b.peers, "peers", "", "folder of the other scanners' programs; CORPORA/peers if empty")
	flags.StringVar(&b.advisories, "advisories", "../shared/advisories", "folder of vulnerability records")
	flags.StringVar(&b.out, "out", "", "folder for the results by case; a temporary one if empty")
	flags.StringVar(&b.merlon, "merlon", "bin/merlon", "the program to measure")
	flags.StringVar(&b.kics, "kics", kicsModule(), "folder of the module github.com/Checkmarx/kics/v2, with its "+
		"queries and their tests")
	flags.StringVar(&only, "only", "", "measures to run, with commas between: "+table.Names(measures))
	flags.DurationVar(&b.timeout, "timeout", 20*time.Minute, "for one run of a program")
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	if b.corpora == "" {
		return nil, nil, errors.New("-corpora names the folder of the corpora")
	}
	if _, err := os.Stat(b.corpora); err != nil {
		return nil, nil, err
	}
	if b.peers == "" {
		// The folder has the programs under their own names: trivy, syft, gitleaks, and so on.
		b.peers = filepath.Join(b.corpora, "peers")
	}
	if b.out == "" {
		var err error
		if b.out, err = os.MkdirTemp("", "merlon-supply"); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range []*string{&b.corpora, &b.peers, &b.advisories, &b.out, &b.merlon, &b.kics} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, nil, err
		}
	}
	// Unknown names are an error before anything runs.
	chosen, err := table.Choose(measures, only)
	if err != nil {
		return nil, nil, err
	}
	return b, chosen, os.MkdirAll(b.out, 0o755)
}

// kicsModule is where the module cache holds the module once it was downloaded.
// An upper case letter in a module path is written as "!" and the lower case one in the cache.
func kicsModule() string {
	return filepath.Join(build.Default.GOPATH, "pkg", "mod", "github.com", "!checkmarx", "kics", "v2@v2.2.0")
}

// writeCases writes the cases of a measure as name.jsonl, one JSON value a line.
// The file is made also without cases, so that an old one is not taken for the result.
func writeCases[T any](b *bench, name string, cases []T) error {
	return table.Keep(filepath.Join(b.out, name+".jsonl"), cases)
}
