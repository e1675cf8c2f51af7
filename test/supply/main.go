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
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/test/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
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

// A measure fills rows of the table. An error that wraps fs.ErrNotExist means
// that a corpus or a program is not there.
type measure struct {
	name string
	run  func(context.Context, *bench) ([]table.Row, error)
}

// measures lists them in the order of the table.
var measures = []measure{
	{"goats", goats},
	{"packages", packages},
	{"pipelines", pipelines},
	{"secrets", secrets},
	{"checkov", checkov},
	{"kics", kicsTests},
	{"images", images},
	{"whole", whole},
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	b, chosen, err := parse(args)
	if err != nil {
		return err
	}
	var rows []table.Row
	began := table.Machine()
	for _, m := range chosen {
		got, err := m.run(ctx, b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			got = append(got, table.Row{Measure: m.name, Measured: "not measured", Note: err.Error()})
		case err != nil:
			got = append(got, table.Row{Measure: m.name, Measured: "failed", Met: table.No, Note: err.Error()})
		}
		rows = append(rows, got...)
		fmt.Fprintf(os.Stderr, "%s %s: %d rows\n", time.Now().Format(time.TimeOnly), m.name, len(got))
	}
	if err := table.Write(filepath.Join(b.out, "table.md"), began, rows); err != nil {
		return err
	}
	return table.Print(stdout, began, rows)
}

// parse reads the options, checks the folders and makes paths absolute, because
// programs are run in other folders.
func parse(args []string) (*bench, []measure, error) {
	flags := flag.NewFlagSet("supply", flag.ContinueOnError)
	b := &bench{}
	var only string
	flags.StringVar(&b.corpora, "corpora", "", "folder of the corpora")
	flags.StringVar(&b.peers, "peers", "", "folder of the other scanners' programs; CORPORA/peers if empty")
	flags.StringVar(&b.advisories, "advisories", "../shared/advisories", "folder of vulnerability records")
	flags.StringVar(&b.out, "out", "", "folder for the results by case; a temporary one if empty")
	flags.StringVar(&b.merlon, "merlon", "bin/merlon", "the program to measure")
	flags.StringVar(&b.kics, "kics", kicsModule(), "folder of the module github.com/Checkmarx/kics/v2, with its queries and their tests")
	flags.StringVar(&only, "only", "", "measures to run, with commas between: "+strings.Join(names(), ", "))
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
	chosen, err := choose(only)
	if err != nil {
		return nil, nil, err
	}
	return b, chosen, os.MkdirAll(b.out, 0o755)
}

// kicsModule is where the module cache holds the module once it was downloaded.
func kicsModule() string {
	return filepath.Join(build.Default.GOPATH, "pkg", "mod", "github.com", "!checkmarx", "kics", "v2@v2.2.0")
}

func names() []string {
	var out []string
	for _, m := range measures {
		out = append(out, m.name)
	}
	return out
}

// choose returns the measures that are named, or all.
func choose(only string) ([]measure, error) {
	if only == "" {
		return measures, nil
	}
	var out []measure
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no measure %q: choose from %s", name, strings.Join(names(), ", "))
		}
		out = append(out, measures[i])
	}
	return out, nil
}

// keep writes the cases of a measure as name.jsonl, one JSON value a line.
func keep[T any](b *bench, name string, cases []T) error {
	f, err := os.Create(filepath.Join(b.out, name+".jsonl"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	encoder := json.NewEncoder(w)
	for _, c := range cases {
		if err := encoder.Encode(c); err != nil {
			_ = f.Close() // the first error counts
			return err
		}
	}
	if err := w.Flush(); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}
