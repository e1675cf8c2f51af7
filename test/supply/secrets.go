package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"merlon/test/process"
	"merlon/test/table"
)

// This file measures secrets: a collection of leaked files whose lines are
// labelled, trees in which little is to be found, and speed.

const (
	// leakyFloor is the least share of the labelled secrets that must be found.
	leakyFloor = 0.70
	// The process includes the start and the compilation of the rules, which count more in small
	// trees.
	secretRate = 6.0 // MB per CPU second, of the whole process
)

// leaks are the different lines of each file on which a scanner told something.
// Keys are paths below the scanned folder. Two findings on a line count once, since scanners
// split a connection string differently.
type leaks map[string]map[int]bool

// addLine records a reported line.
func (l leaks) addLine(file string, line int) {
	if l[file] == nil {
		l[file] = map[int]bool{}
	}
	l[file][line] = true
}

// A label says how many lines of a file are a risk, and how many more tell
// something about it.
// Risk and Informative are from the file of labels; Merlon and Gitleaks are numbers of reported
// lines.
type label struct {
	File        string `json:"file"`
	Risk        int    `json:"risk"`
	Informative int    `json:"informative"`
	Merlon      int    `json:"merlon"`
	Gitleaks    int    `json:"gitleaks"`
}

// measureSecrets measures secret detection: recall on a labelled repository, and the number of
// findings in trees with few secrets.
// The trees with few secrets are those of the noise measure and the Juice Shop: their findings
// are compared in number only, since they have no labels.
func measureSecrets(ctx context.Context, b *bench) ([]table.Row, error) {
	rows, err := measureLeaky(ctx, b)
	if err != nil {
		return rows, err
	}
	shop := filepath.Join(b.corpora, "..", "juice-shop")
	quiet, err := filepath.Glob(filepath.Join(b.corpora, "..", "noise", "*", "*"))
	if err != nil {
		return rows, err
	}
	for _, dir := range append([]string{shop}, quiet...) {
		row, err := measureQuietness(ctx, b, dir)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	row, err := secretSpeed(ctx, b, shop)
	return append(rows, row), err
}

// measureLeaky counts the labelled lines that are found. A file counts at most as many
// lines as are labelled as a risk.
// The labels have a number a file and no line numbers, so a scanner can reach it with other
// lines.
func measureLeaky(ctx context.Context, b *bench) ([]table.Row, error) {
	dir := filepath.Join(b.corpora, "leaky-repo")
	labels, err := readLabels(filepath.Join(dir, ".leaky-meta", "secrets.csv"))
	if err != nil {
		return nil, err
	}
	r, _, err := b.scanTarget(ctx, dir, "--analyses", "secret")
	if err != nil {
		return nil, err
	}
	theirs, err := runGitleaks(ctx, b, dir)
	if err != nil {
		return nil, err
	}
	risk, found, other, beyond := 0, 0, 0, 0
	ours := linesOf(r)
	for i := range labels {
		l := &labels[i]
		l.Merlon, l.Gitleaks = len(ours[l.File]), len(theirs[l.File])
		risk += l.Risk
		found += min(l.Merlon, l.Risk)
		other += min(l.Gitleaks, l.Risk)
		// Lines beyond both labels are false positives, or secrets that nobody has labelled.
		beyond += max(0, l.Merlon-l.Risk-l.Informative)
	}
	if err := writeCases(b, "leaky", labels); err != nil {
		return nil, err
	}
	share := float64(found) / float64(max(risk, 1))
	return []table.Row{{Measure: "labelled risk lines of leaked files", Floor: fmt.Sprintf("≥ %.0f %%", 100*leakyFloor),
		Measured: fmt.Sprintf("%s (%d of %d); gitleaks %s", table.Percent(share), found, risk,
			table.Percent(float64(other)/float64(max(risk, 1)))),
		Met: table.Verdict(share >= leakyFloor), Note: fmt.Sprintf("%d lines beyond those that are "+
			"labelled", beyond)}}, nil
}

// readLabels reads lines of "file,risk,informative".
func readLabels(name string) ([]label, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read from
	var out []label
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		parts := strings.Split(strings.TrimSpace(lines.Text()), ",")
		if len(parts) != 3 || strings.HasPrefix(parts[0], "#") {
			continue
		}
		risk, err := strconv.Atoi(parts[1])
		informative, err2 := strconv.Atoi(parts[2])
		// The header of the file and comments are not numbers.
		if err != nil || err2 != nil {
			continue // a comment with commas
		}
		out = append(out, label{File: parts[0], Risk: risk, Informative: informative})
	}
	return out, lines.Err()
}

// linesOf returns the lines of the secrets in the report.
func linesOf(r *report) leaks {
	out := leaks{}
	for _, f := range r.Findings {
		if f.Analysis == "secret" {
			out.addLine(f.Location.Path, f.Location.StartLine)
		}
	}
	return out
}

// runGitleaks runs the other scanner on the folder.
func runGitleaks(ctx context.Context, b *bench, dir string) (leaks, error) {
	// The error is returned after the loop, which has nothing to do then.
	list, err := gitleaksFindings(ctx, b, dir)
	out := leaks{}
	for _, f := range list {
		rel, relErr := filepath.Rel(dir, f.File)
		// Gitleaks writes absolute or relative paths, depending on how it was called.
		if relErr != nil || !filepath.IsAbs(f.File) {
			rel = f.File
		}
		out.addLine(filepath.ToSlash(rel), f.StartLine)
	}
	return out, err
}

// A gitleak is a finding of the other scanner.
type gitleak struct {
	File      string `json:"File"`
	StartLine int    `json:"StartLine"`
}

// gitleaksFindings runs Gitleaks and reads its report.
func gitleaksFindings(ctx context.Context, b *bench, dir string) ([]gitleak, error) {
	// The report of the run before is replaced.
	report := filepath.Join(b.out, "gitleaks.json")
	out, err := b.runPeer(ctx, "gitleaks", "dir", dir, "--no-banner", "--log-level", "error", "--exit-code", "0",
		"--report-format", "json", "--report-path", report)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("gitleaks %s: exit code %d: %s", dir, out.Code, process.Tail(out.Stderr))
	}
	var list []gitleak
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("gitleaks %s: decode report: %w", dir, err)
	}
	return list, nil
}

// measureQuietness compares how much is told about a tree in which little is to be found.
// Both numbers are of all findings, whatever their confidence.
func measureQuietness(ctx context.Context, b *bench, dir string) (table.Row, error) {
	if _, err := os.Stat(dir); err != nil {
		return table.Row{}, err
	}
	r, _, err := b.scanTarget(ctx, dir, "--analyses", "secret")
	if err != nil {
		return table.Row{}, err
	}
	theirs, err := gitleaksFindings(ctx, b, dir)
	if err != nil {
		return table.Row{}, err
	}
	if err := writeCases(b, "secrets-"+filepath.Base(dir), r.Findings); err != nil {
		return table.Row{}, err
	}
	return table.Row{Measure: "secrets reported in " + filepath.Base(dir), Floor: "≤ gitleaks",
		Measured: fmt.Sprintf("%d; gitleaks %d", len(r.Findings), len(theirs)),
		Met:      table.Verdict(len(r.Findings) <= len(theirs))}, nil
}

// secretSpeed measures the whole process; the fastest of some runs counts.
func secretSpeed(ctx context.Context, b *bench, dir string) (table.Row, error) {
	size, err := sizeOf(dir)
	if err != nil {
		return table.Row{}, err
	}
	// CPU time is compared and not wall time, so that the number of cores does not count.
	var best process.Cost
	for i := range speedRuns {
		_, cost, err := b.scanTarget(ctx, dir, "--analyses", "secret")
		if err != nil {
			return table.Row{}, err
		}
		if i == 0 || cost.CPU < best.CPU {
			best = cost
		}
	}
	rate := float64(size) / 1e6 / best.CPU.Seconds()
	return table.Row{Measure: "secrets, speed on " + filepath.Base(dir), Floor: fmt.Sprintf("≥ %.0f MB per CPU second",
		secretRate), Measured: fmt.Sprintf("%.1f MB", rate),
		Met: table.Verdict(rate >= secretRate), Note: fmt.Sprintf("%.1f MB, whole process, %s", float64(size)/1e6,
			table.Spent(best))}, nil
}

// sizeOf returns the bytes of the files in the folder, .git left out.
// The folder .git is left out since the scan skips it.
func sizeOf(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return nil
	})
	return size, err
}
