package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"merlon/test/sast/score"
	"merlon/test/sast/tool"
	"merlon/test/table"
)

// measureVulcan scans each published package by itself.
// Packages are the versions with a known vulnerability, each labelled with its advisory. A package
// counts as found when a finding of the same class of weakness is near the labelled sink.
func measureVulcan(ctx context.Context, b *bench) ([]table.Row, error) {
	truth, err := truthOf[score.Package](b, "vulcan-dev.jsonl")
	if err != nil {
		return nil, err
	}
	root, err := b.corpusPath("vulcan")
	if err != nil {
		return nil, err
	}
	scans, err := forEachItem(b.jobs, truth, func(p score.Package) (*tool.Scan, error) {
		scan, err := b.merlon.Scan(ctx, filepath.Join(root, p.ID))
		// One crash must not end a measure of hundreds of packages. ctx.Err() is nil unless the run
		// was stopped.
		if err != nil { // of hundreds; it counts as one that found nothing
			return &tool.Scan{Failed: err.Error()}, ctx.Err()
		}
		scan.Raw = nil // hundreds of reports
		return scan, nil
	})
	if err != nil {
		return nil, err
	}
	var cases []score.Case
	var kept []packageResult
	total, peer := 0, 0
	// scans has the order of truth, see forEachItem.
	for i, p := range truth {
		p.Locate(filepath.Join(root, p.ID))
		c := score.Vulcan(p, scans[i].Findings)
		cases = append(cases, c)
		kept = append(kept, packageResult{c, p.Sinks(), len(scans[i].Findings), scans[i].Degraded, scans[i].Failed,
			scans[i].Findings})
		total += len(scans[i].Findings)
		// The grades of the other tools are in the truth: "A" means that the tool detected the
		// flaw.
		if p.Peers["codeql"] == "A" {
			peer++
		}
	}
	n, _ := score.Tally(cases)
	average := float64(total) / float64(max(1, len(truth)))
	if err := b.writeCases("vulcan", cases); err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "VulcaN packages, flaw found / findings a " +
			"package", Floor: "≥ 170 of 440 / ≤ 4", Measured: fmt.Sprintf("%d of %d / %.1f", n.TP, len(truth), average),
			Met:  table.Verdict(n.TP >= floorPackages, average <= mostNoise),
			Note: fmt.Sprintf("CodeQL: %d; %s", peer, costNote(scans))}},
		table.Keep(filepath.Join(b.out, "vulcan.packages.jsonl"), kept)
}

// A packageResult is what a developer wants to know of one package.
// Sinks are the labelled lines as "file:line". Findings contains all findings of the package, so
// that a missed label can be compared with what was reported instead.
type packageResult struct {
	score.Case
	Sinks    []string        `json:"sinks"`
	Count    int             `json:"count"`
	Degraded []string        `json:"degraded,omitempty"`
	Failed   string          `json:"failed,omitempty"`
	Findings []score.Finding `json:"findings"`
}

// realVuln scans the applications of the RealVuln benchmark that are there.
// Each application is judged twice: by the classes that an expression in the code shows, which has
// the floors, and by all classes, which is only reported.
func realVuln(ctx context.Context, b *bench) ([]table.Row, error) {
	root, err := b.corpusPath("real-vuln", "ground-truth")
	if err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var cases, all []score.Case
	var scans []*tool.Scan
	// The folders of the truth are named "realvuln-APP", those of the sources "APP".
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(root, folder.Name(), "ground-truth.json"))
		if err != nil {
			return nil, err
		}
		var app score.App
		if err := json.Unmarshal(text, &app); err != nil {
			return nil, fmt.Errorf("%s: %w", folder.Name(), err)
		}
		dir, err := b.corpusPath("real-vuln", "repos", score.AppName(folder.Name()))
		if err != nil {
			return nil, err
		}
		scan, err := b.merlon.Scan(ctx, dir)
		// A stopped run must not count the remaining applications as silent.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			scan = &tool.Scan{Failed: err.Error()}
		}
		if _, err := b.saveReport("realvuln-"+app.ID, scan); err != nil {
			return nil, err
		}
		scans = append(scans, scan)
		cases = append(cases, score.RealVuln(app, scan.Findings, true)...)
		all = append(all, score.RealVuln(app, scan.Findings, false)...)
	}
	n, _ := score.Tally(cases)
	m, _ := score.Tally(all)
	if err := b.writeCases("realvuln-all", all); err != nil {
		return nil, err
	}
	return []table.Row{{Measure: "RealVuln, " + fmt.Sprint(len(folders)) + " applications, classes that " +
			"code shows", Floor: "P ≥ .45, R ≥ .40", Measured: fmt.Sprintf("P %.3f, R %.3f", n.Precision(), n.Recall()),
			Met: table.Verdict(n.Precision() >= floorAppP, n.Recall() >= floorAppR),
			Note: fmt.Sprintf("TP %d FN %d FP "+
				"%d; all classes: P %.3f R %.3f; %s", n.TP, n.FN, n.FP, m.Precision(), m.Recall(), costNote(scans))}},
		b.writeCases("realvuln", cases)
}

// sources are the endings of files whose lines count, by folder of the corpus of
// well-kept projects.
// Test data, templates and configuration do not count: more of them would lower the rate.
var sources = map[string][]string{
	"java":   {".java"},
	"js":     {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"},
	"python": {".py"},
	"go":     {".go"},
}

// mostNoisy is the highest number of findings of high confidence in 1,000 lines.
// Findings of lower confidence are in the note and have no floor, since users can filter them out.
const mostNoisy = .3

// measureNoise counts what is said of well-kept public projects.
// Well-kept projects are expected to be clean, so findings of high confidence are taken for false
// positives without a label for each.
func measureNoise(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	for _, lang := range []string{"java", "js", "python", "go"} {
		root, err := b.corpusPath("noise", lang)
		if err != nil {
			return rows, err
		}
		projects, err := os.ReadDir(root)
		if err != nil {
			return rows, err
		}
		var parts []string
		high, all, lines := 0, 0, 0
		for _, p := range projects {
			scan, err := b.merlon.Scan(ctx, filepath.Join(root, p.Name()))
			if err != nil {
				return rows, err
			}
			if _, err := b.saveReport("noise-"+lang+"-"+p.Name(), scan); err != nil {
				return rows, err
			}
			n, err := countLines(filepath.Join(root, p.Name()), sources[lang])
			if err != nil {
				return rows, err
			}
			// Findings have the confidence of their rule unless they have one of their own, see
			// tool.Merlon.
			certain := 0
			for _, f := range scan.Findings {
				if f.Confidence == "high" {
					certain++
				}
			}
			high, all, lines = high+certain, all+len(scan.Findings), lines+n
			parts = append(parts, fmt.Sprintf("%s %d of %d", p.Name(), certain, len(scan.Findings)))
		}
		// At least one line, so that an empty folder does not divide by zero.
		thousands := float64(max(1, lines)) / 1000
		rate := float64(high) / thousands
		rows = append(rows, table.Row{Measure: "noise, " + lang + ", findings of high confidence in " +
			"1,000 lines", Floor: "≤ 0.3", Measured: fmt.Sprintf("%.2f", rate), Met: table.Verdict(rate <= mostNoisy),
			Note: fmt.Sprintf("%.2f of any confidence; %d lines; %s", float64(all)/thousands, lines,
				strings.Join(parts, ", "))})
	}
	return rows, nil
}

// countLines counts the lines of the files with one of the endings.
// Comments and blank lines count as well: the rate is per line of a file, as a reader sees it.
func countLines(dir string, endings []string) (int, error) {
	total := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(endings, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		total += strings.Count(string(text), "\n")
		return err
	})
	return total, err
}
