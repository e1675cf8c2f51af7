package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
)

// Verdicts of a row; empty when there is no floor.
const (
	yes = "yes"
	no  = "no"
)

// A row is one line of the table.
type row struct {
	Measure, Floor, Measured, Met, Note string
}

// verdict says whether all floors are met.
func verdict(met ...bool) string {
	if slices.Contains(met, false) {
		return no
	}
	return yes
}

// percent writes a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// printTable writes the rows as Markdown, under when and where they were measured.
func printTable(w io.Writer, heading string, rows []row) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n| measure | floor | measured | met | |\n|---|---|---|---|---|\n", heading)
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", r.Measure, r.Floor, r.Measured, r.Met, strings.ReplaceAll(r.Note, "|", "/"))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func writeRows(path, heading string, rows []row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := printTable(f, heading, rows); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}

// machine says when and where, and how busy the machine is.
func machine() string {
	model := value("/proc/cpuinfo", "model name")
	memory := value("/proc/meminfo", "MemTotal")
	if kb, err := strconv.ParseFloat(strings.TrimSuffix(memory, " kB"), 64); err == nil {
		memory = fmt.Sprintf("%.0f GiB", kb/(1<<20))
	}
	return fmt.Sprintf("%s, %d cores of %s, %s, %s, load %s at the start.",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), model, memory, runtime.Version(), load())
}

// load returns the average number of runnable processes of the last minute.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// value returns the first value of a key in a file of "key : value" lines.
func value(path, key string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if name, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

// spent says what a scan cost.
func spent(c tool.Cost) string {
	return fmt.Sprintf("%.1f s, %.1f CPU s, %.0f MB", c.Wall.Seconds(), c.CPU.Seconds(), float64(c.Peak)/1e6)
}

// keep writes what each case got, and the groups of a measure with the most
// wrong cases first.
func (b *bench) keep(name string, cases []score.Case) error {
	if err := writeJSONL(filepath.Join(b.out, name+".jsonl"), cases); err != nil {
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

// writeJSONL writes one JSON value a line.
func writeJSONL[T any](path string, values []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	encoder := json.NewEncoder(w)
	for _, v := range values {
		if err := encoder.Encode(v); err != nil {
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

// scanned keeps the report of a scan as name.json, and says in a note
// what it cost and what could not be looked at whole.
func (b *bench) scanned(name string, scan *tool.Scan) (string, error) {
	note := spent(scan.Cost)
	if n := len(scan.Degraded); n > 0 {
		note += fmt.Sprintf("; %d degraded: %s", n, scan.Degraded[0])
	}
	return note, os.WriteFile(filepath.Join(b.out, name+".json"), scan.Raw, 0o644)
}
