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

// Run takes the measures one after the other, prints their table and keeps it as
// table.md in the folder out. A measure that fails is a row that says so; only
// the end of ctx ends the run.
func Run[B any](ctx context.Context, measures []Measure[B], bench B, out string, stdout io.Writer) error {
	var rows []Row
	began := Machine()
	for _, m := range measures {
		got, err := m.Run(ctx, bench)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			got = append(got, Row{Measure: m.Name, Measured: "not measured", Note: err.Error()})
		case err != nil:
			got = append(got, Row{Measure: m.Name, Measured: "failed", Met: No, Note: err.Error()})
		}
		rows = append(rows, got...)
		fmt.Fprintf(os.Stderr, "%s %s: %d rows\n", time.Now().Format(time.TimeOnly), m.Name, len(got))
	}
	if err := Write(filepath.Join(out, "table.md"), began, rows); err != nil {
		return err
	}
	return Print(stdout, began, rows)
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
