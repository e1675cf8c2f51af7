package table

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A Measure fills rows of the table with the help of a program's bench, which
// holds what all its measures share. An error that wraps fs.ErrNotExist means
// that a corpus or a program is not there.
type Measure[B any] struct {
	Name string
	Run  func(context.Context, B) ([]Row, error)
}

// Names returns the names of the measures, with commas between.
func Names[B any](measures []Measure[B]) string {
	var out []string
	for _, m := range measures {
		out = append(out, m.Name)
	}
	return strings.Join(out, ", ")
}

// Choose returns the measures that only names, with commas between, or all for
// the empty text.
func Choose[B any](measures []Measure[B], only string) ([]Measure[B], error) {
	if only == "" {
		return measures, nil
	}
	var out []Measure[B]
	for name := range strings.SplitSeq(only, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(measures, func(m Measure[B]) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no measure %q: choose from %s", name, Names(measures))
		}
		out = append(out, measures[i])
	}
	return out, nil
}

// Run takes the measures one after the other and prints their table, with what was
// not met and how long each took. The table so far is in the folder out as table.md
// after each of them. A measure that fails, or crashes, is a row that says so; only the
// end of ctx ends the run.
func Run[B any](ctx context.Context, measures []Measure[B], bench B, out string, stdout io.Writer) error {
	var all []Row
	var took []string
	machine, began := Machine(), time.Now()
	for _, m := range measures {
		from := time.Now()
		rows, err := m.runMeasure(ctx, bench)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			rows = append(rows, Row{Measure: m.Name, Measured: "not measured", Note: err.Error()})
		case err != nil:
			rows = append(rows, Row{Measure: m.Name, Measured: "failed", Met: No, Note: err.Error()})
		}
		all = append(all, rows...)
		spent := time.Since(from).Round(time.Second)
		took = append(took, fmt.Sprintf("%s %s", m.Name, spent))
		fmt.Fprintf(os.Stderr, "%s %s: %d rows, %s\n", time.Now().Format(time.TimeOnly), m.Name, len(rows), spent)
		if err := Write(filepath.Join(out, "table.md"), machine, all,
			summarize(all, took, time.Since(began))); err != nil {
			return err
		}
	}
	return Print(stdout, machine, all, summarize(all, took, time.Since(began)))
}

// runMeasure takes the measure; a crash is an error.
func (m Measure[B]) runMeasure(ctx context.Context, bench B) (rows []Row, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the measure crashed: %v\n%s", v, debug.Stack())
		}
	}()
	return m.Run(ctx, bench)
}

// summarize says which floors were not met, what was not measured, and what took how long.
func summarize(rows []Row, took []string, whole time.Duration) string {
	var missed, absent []string
	met := 0
	for _, r := range rows {
		switch {
		case r.Met == No:
			missed = append(missed, r.Measure)
		case r.Met == Yes:
			met++
		case r.Measured == "not measured":
			absent = append(absent, r.Measure)
		}
	}
	out := fmt.Sprintf("%d floors met, %d not.", met, len(missed))
	for _, l := range []struct {
		what string
		list []string
	}{{"Not met", missed}, {"Not measured", absent},
		{"Took", append(took, "in all "+whole.Round(time.Second).String())}} {
		if len(l.list) > 0 {
			out += fmt.Sprintf(" %s: %s.", l.what, strings.Join(l.list, "; "))
		}
	}
	return out
}

// Keep writes what each case of a measure got, one JSON value a line.
func Keep[T any](path string, cases []T) error {
	f, err := os.Create(path)
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
