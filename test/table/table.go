// Package table prints what a measuring program measured: one row for each
// measure, with its floor, under when and where it was measured. docs/benchmarks.md
// keeps what it prints.
package table

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"merlon/test/process"
)

// Verdicts of a row; empty when there is no floor.
const (
	Yes = "yes"
	No  = "no"
)

// A Row is one line of the table.
type Row struct {
	Measure, Floor, Measured, Met, Note string
}

// Verdict says whether all floors are met.
func Verdict(met ...bool) string {
	if slices.Contains(met, false) {
		return No
	}
	return Yes
}

// Percent writes a share with one decimal.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Print writes the rows as Markdown, under when and where they were measured, and what
// is to be said of them all.
func Print(w io.Writer, heading string, rows []Row, closing string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n| measure | floor | measured | met | |\n|---|---|---|---|---|\n", heading)
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", r.Measure, r.Floor, r.Measured, r.Met,
			strings.NewReplacer("|", "/", "\n", " ").Replace(r.Note))
	}
	fmt.Fprintf(&text, "\n%s\n", closing)
	_, err := io.WriteString(w, text.String())
	return err
}

// Write writes the table into a file.
func Write(path, heading string, rows []Row, closing string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := Print(f, heading, rows, closing); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}

// Machine says when and where, and how busy the machine is.
func Machine() string {
	model := readValue("/proc/cpuinfo", "model name")
	memory := readValue("/proc/meminfo", "MemTotal")
	if kb, err := strconv.ParseFloat(strings.TrimSuffix(memory, " kB"), 64); err == nil {
		memory = fmt.Sprintf("%.0f GiB", kb/(1<<20))
	}
	return fmt.Sprintf("%s, %d cores of %s, %s, %s, load %s at the start.",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), model, memory, runtime.Version(), Load())
}

// Load returns the average number of runnable processes of the last minute.
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// readValue returns the first value of a key in a file of "key : value" lines.
func readValue(path, key string) string {
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

// Spent says what a run of a program cost.
func Spent(c process.Cost) string {
	return fmt.Sprintf("%.1f s, %.1f CPU s, %.0f MB", c.Wall.Seconds(), c.CPU.Seconds(), float64(c.Peak)/1e6)
}
