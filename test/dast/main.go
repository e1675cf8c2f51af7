// Command dast measures the dynamic analysis of the built program, as a user runs
// it, on applications that are vulnerable on purpose, side by side with public
// scanners, and prints the table of docs/benchmarks.md. It is run by make
// bench-dast and never by tests.
//
// The applications and the other scanners are not part of the project. Each is a
// folder of TARGETS that holds
//
//	target.json  {"name": …, "port": …, "ready": a path that answers when it is up}
//	app/         what is copied before each start and thrown away after it
//	run          starts it in such a copy, in the foreground, on 127.0.0.1:$PORT
//
// A target is started afresh for each scan, as a user without rights (65534),
// which takes root. Ports 20, 21 and 30 above its own are its own as well.
// Everything is asked through a proxy that counts requests. What is true of each
// target is known here only, and from files of the target. A measure whose target
// or scanner is not there says so. What each case got is written into a folder,
// one file of JSON lines for each measure, and what each scanner asked.
//
// Hostile applications are served by this program itself, each in a network of its
// own, which takes root and the command ip.
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
	"regexp"
	"slices"
	"syscall"
	"time"

	"merlon/test/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runMeasures(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dast:", err)
		os.Exit(1)
	}
}

// A bench is what the measures share. All paths are absolute.
type bench struct {
	// Empty when only measures are run whose targets this program serves.
	targets  string         // folder of the targets
	out      string         // folder of results by case
	merlon   string         // the program to measure
	browser  string         // what merlon is told of a browser: auto, none or a path
	timeout  time.Duration  // for one run of a program
	time     time.Duration  // that merlon is given for one scan; 0: a little less than timeout
	peers    []string       // names of the other scanners to run
	cases    *regexp.Regexp // names of the parts of measures to take
	parallel int            // of them at once
}

// measures lists them in the order of the table.
var measures = []table.Measure[*bench]{
	{Name: "crawlmaze", Run: crawlMaze},
	{Name: "wavsep", Run: measureWAVSEP},
	{Name: "benchmark", Run: owaspBenchmark},
	{Name: "dvwa", Run: measureDVWA},
	{Name: "vampi", Run: measureVAmPI},
	{Name: "dvga", Run: measureDVGA},
	{Name: "juiceshop", Run: juiceShop},
	{Name: "hostile", Run: hostileTargets},
	{Name: "ordinary", Run: measureOrdinary},
}

// runMeasures does what the arguments say.
func runMeasures(ctx context.Context, args []string, stdout io.Writer) error {
	b, chosen, err := parseArguments(args)
	if err != nil {
		return err
	}
	return table.Run(ctx, chosen, b, b.out, stdout)
}

// own are the measures whose targets this program serves itself.
// They need no folder of targets, so they run on any machine with root.
var own = []string{"hostile", "ordinary"}

// parseArguments reads the options, checks the folders and makes paths absolute, because
// programs are run in other folders.
func parseArguments(args []string) (*bench, []table.Measure[*bench], error) {
	flags := flag.NewFlagSet("dast", flag.ContinueOnError)
	b := &bench{}
	var only, peers, cases string
	flags.StringVar(&b.targets, "targets", "", "folder of the targets")
	flags.StringVar(&b.out, "out", "", "folder for the results by case; a temporary one if empty")
	flags.StringVar(&b.merlon, "merlon", "bin/merlon", "the program to measure")
	flags.StringVar(&b.browser, "browser", "auto", "for merlon's --browser")
	flags.StringVar(&only, "only", "", "measures to run, with commas between: "+table.Names(measures))
	flags.StringVar(&peers, "peers", "", "other scanners to run on WAVSEP, with commas between: "+peerNames())
	flags.StringVar(&cases, "cases", "", "of WAVSEP's sections, the Benchmark's categories, the hostile and the "+
		"ordinary applications, those whose name the expression matches")
	flags.IntVar(&b.parallel, "parallel", 4, "hostile applications at once")
	flags.DurationVar(&b.timeout, "timeout", time.Hour, "for one run of a program, which is killed then")
	flags.DurationVar(&b.time, "time", 0, "for merlon's --time, after which a scan ends with what it has; without it "+
		"nine tenths of -timeout, and merlon's own for hostile applications")
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	chosen, err := table.Choose(measures, only)
	if err != nil {
		return nil, nil, err
	}
	if b.peers, err = choosePeers(peers); err != nil {
		return nil, nil, err
	}
	if b.cases, err = regexp.Compile(cases); err != nil {
		return nil, nil, err
	}
	return b, chosen, b.prepareFolders(chosen)
}

// prepareFolders checks the folders and makes paths absolute.
func (b *bench) prepareFolders(chosen []table.Measure[*bench]) (err error) {
	switch foreign := slices.ContainsFunc(chosen, func(m table.Measure[*bench]) bool {
		return !slices.Contains(own, m.Name)
	}); {
	// Checked before any target is started.
	case foreign && b.targets == "":
		return errors.New("-targets names the folder of the targets")
	case foreign:
		if _, err := os.Stat(b.targets); err != nil {
			return err
		}
	}
	if b.out == "" {
		if b.out, err = os.MkdirTemp("", "merlon-dast"); err != nil {
			return err
		}
	}
	for _, path := range []*string{&b.targets, &b.out, &b.merlon} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	return os.MkdirAll(b.out, 0o755)
}
