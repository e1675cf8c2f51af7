package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"merlon/test/process"
	"merlon/test/table"
)

// This file compares what is found in deliberately flawed infrastructure code. No
// labels are public for it, so the scanners are each other's measure: in each
// resource the largest number of different flaws that any scanner tells counts as
// what there is, and a scanner's recall is its share of that. Which flaws they are
// is in the file of cases, to be read.

// A flaw is one rule that one scanner reports in one place.
// Block is 0 until locateResources has set it, and for a file without resources.
type flaw struct {
	Scanner string `json:"scanner"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Block   int    `json:"block"` // line on which the resource begins
	Rule    string `json:"rule"`
	Text    string `json:"text"`
}

// goatNames are trees of flawed infrastructure code, by their folders.
var goatNames = []string{"terragoat", "cfngoat", "kustomizegoat", "bicepgoat", "kubernetes-goat"}

// A factor, as wall time of the other scanner divided by ours.
const (
	// Floors: how many times faster the scan must be than the other scanners.
	fasterThanTrivy = 3
	fasterThanKICS  = 20
	speedRuns       = 3 // the fastest of so many runs counts, for each scanner
)

// An iacScanner runs on a folder and tells the flaws.
// run returns the flaws with paths relative to the folder, and the cost of the process.
type iacScanner struct {
	name string
	run  func(context.Context, *bench, string) ([]flaw, process.Cost, error)
}

// iacScanners are the compared scanners of infrastructure code.
// The order is that of the file of cases. To add a scanner: a function, its program in the folder
// of peers, and its name in the row.
var iacScanners = []iacScanner{{"merlon", merlonIaC}, {"trivy", trivyIaC}, {"kics", kicsIaC}}

// measureGoats scans intentionally vulnerable infrastructure ("goats"), and compares the share
// of the known misconfigurations that each scanner reports.
func measureGoats(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	for _, name := range goatNames {
		got, err := measureGoat(ctx, b, name)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// measureGoat compares the scanners on one tree.
func measureGoat(ctx context.Context, b *bench, name string) ([]table.Row, error) {
	dir := filepath.Join(b.corpora, name)
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	var flaws []flaw
	costs := map[string]process.Cost{}
	// Each run is a process of its own, as a user starts it; nothing is cached.
	for _, s := range iacScanners {
		for i := range speedRuns {
			found, cost, err := s.run(ctx, b, dir)
			if err != nil {
				return nil, err
			}
			// The flaws are those of the first run: all runs find the same.
			if i == 0 {
				flaws = append(flaws, found...)
			}
			if best, ok := costs[s.name]; !ok || cost.Wall < best.Wall {
				costs[s.name] = cost
			}
			if cost.Wall.Seconds() > 5 {
				break // a slow scanner is not run again
			}
		}
	}
	locateResources(dir, flaws)
	if err := writeCases(b, name, flaws); err != nil {
		return nil, err
	}
	recall := recallByScanner(flaws)
	ours, trivy, kics := costs["merlon"], costs["trivy"], costs["kics"]
	toTrivy, toKICS := trivy.Wall.Seconds()/ours.Wall.Seconds(), kics.Wall.Seconds()/ours.Wall.Seconds()
	return []table.Row{
		{Measure: name + ", recall among the scanners", Floor: "≥ trivy, ≥ KICS",
			Measured: fmt.Sprintf("%s; trivy %s, KICS %s", table.Percent(recall["merlon"]),
				table.Percent(recall["trivy"]), table.Percent(recall["kics"])),
			Met: table.Verdict(recall["merlon"] >= max(recall["trivy"], recall["kics"]))},
		{Measure: name + ", wall time", Floor: fmt.Sprintf("≥ %d × trivy, ≥ %d "+
			"× KICS", fasterThanTrivy, fasterThanKICS),
			Measured: fmt.Sprintf("%.1f ×, %.1f ×", toTrivy, toKICS),
			Met:      table.Verdict(toTrivy >= fasterThanTrivy && toKICS >= fasterThanKICS),
			Note: fmt.Sprintf("ours %s; trivy %s; KICS %s", table.Spent(ours), table.Spent(trivy),
				table.Spent(kics))},
	}, nil
}

// recallByScanner returns each scanner's share of what there is.
// A resource with k different rules by the best scanner counts k flaws: that two scanners mean
// the same flaw by two rules cannot be decided by a program, but k of them certainly exist if all
// are right. Only numbers are compared, so a scanner can reach all of it with other flaws.
func recallByScanner(flaws []flaw) map[string]float64 {
	type block struct {
		file string
		line int
	}
	// Rules by resource and scanner; the same rule twice in a resource counts once.
	rules := map[block]map[string]map[string]bool{}
	for _, f := range flaws {
		at := block{f.File, f.Block}
		if rules[at] == nil {
			rules[at] = map[string]map[string]bool{}
		}
		if rules[at][f.Scanner] == nil {
			rules[at][f.Scanner] = map[string]bool{}
		}
		rules[at][f.Scanner][f.Rule] = true
	}
	total, told := 0, map[string]int{}
	for _, by := range rules {
		most := 0
		for scanner, set := range by {
			told[scanner] += len(set)
			most = max(most, len(set))
		}
		total += most
	}
	out := map[string]float64{}
	for scanner, n := range told {
		out[scanner] = float64(n) / float64(total)
	}
	return out
}

var (
	// Lines on which resources begin, by format. Scanners report different lines of one resource,
	// so findings are compared by resource.
	terraformBlock = regexp.MustCompile(`^(resource|data|module|provider|variable|output|locals|terraform)\b`)
	bicepBlock     = regexp.MustCompile(`^(resource|module|param|var|output)\b`)
	yamlKey        = regexp.MustCompile(`^(  |    )?["']?[A-Za-z0-9_.-]+["']?:`)
)

// locateResources finds the resource in which each flaw is.
func locateResources(dir string, flaws []flaw) {
	starts := map[string][]int{}
	for i := range flaws {
		f := &flaws[i]
		if _, ok := starts[f.File]; !ok {
			starts[f.File] = resourceLines(filepath.Join(dir, f.File))
		}
		// Starts are in ascending order: the last one that is not after the finding wins.
		for _, line := range starts[f.File] {
			if line <= f.Line {
				f.Block = line
			}
		}
	}
}

// resourceLines returns the lines on which resources begin: blocks of Terraform and
// Bicep, documents of YAML, and the keys below Resources in a template. Any other
// file is one.
func resourceLines(path string) []int {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	text := string(content)
	var out []int
	// CloudFormation has all resources in one document, as keys below "Resources:".
	template := strings.Contains(text, "\nResources:")
	for i, line := range strings.Split(text, "\n") {
		begins := false
		switch filepath.Ext(path) {
		case ".tf":
			begins = terraformBlock.MatchString(line)
		case ".bicep":
			begins = bicepBlock.MatchString(line)
		case ".yaml", ".yml":
			begins = strings.HasPrefix(line, "---") || template && yamlKey.MatchString(line) &&
				!strings.HasPrefix(line, "    ")
		}
		if begins {
			out = append(out, i+1)
		}
	}
	return out
}

// merlonIaC scans infrastructure code with merlon.
func merlonIaC(ctx context.Context, b *bench, dir string) ([]flaw, process.Cost, error) {
	r, cost, err := b.scanTarget(ctx, dir, "--analyses", "iac")
	if err != nil {
		return nil, cost, err
	}
	var out []flaw
	for _, f := range r.Findings {
		// What several rules say of one place is one finding, which names them all.
		// Other scanners report one result a rule, so ours are counted by rule too.
		for _, id := range append([]string{f.RuleID}, f.Same...) {
			for _, l := range append([]place{f.Location}, f.Also...) {
				out = append(out, flaw{Scanner: "merlon", File: l.Path, Line: l.StartLine, Rule: id, Text: f.Message})
			}
		}
	}
	return out, cost, nil
}

// trivyIaC scans infrastructure code with Trivy.
// --skip-check-update keeps it from the network: the checks are those built into the program.
func trivyIaC(ctx context.Context, b *bench, dir string) ([]flaw, process.Cost, error) {
	out, err := b.runPeer(ctx, "trivy", "config", "--format", "json", "--skip-check-update", "--skip-version-check",
		"--quiet", dir)
	if err != nil {
		return nil, process.Cost{}, err
	}
	var r struct {
		Results []struct {
			Target            string
			Misconfigurations []struct {
				ID, Title, Status string
				CauseMetadata     struct {
					StartLine int
				}
			}
		}
	}
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		return nil, out.Cost, fmt.Errorf("trivy: decode report: %w: %s", err, process.Tail(out.Stderr))
	}
	var flaws []flaw
	for _, result := range r.Results {
		for _, m := range result.Misconfigurations {
			// Trivy lists passed checks too, when it is told to.
			if m.Status == "FAIL" {
				flaws = append(flaws, flaw{Scanner: "trivy", File: result.Target, Line: m.CauseMetadata.StartLine,
					Rule: m.ID, Text: m.Title})
			}
		}
	}
	return flaws, out.Cost, nil
}

// kicsIaC runs KICS with the queries and libraries of the folder kics among the
// corpora, which is the folder assets of its module.
// --ignore-on-exit leaves other exit codes for errors; secrets are a measure of their own.
func kicsIaC(ctx context.Context, b *bench, dir string) ([]flaw, process.Cost, error) {
	assets := filepath.Join(b.corpora, "kics", "assets")
	results, err := os.MkdirTemp(b.out, "kics")
	if err != nil {
		return nil, process.Cost{}, err
	}
	args := []string{filepath.Join(b.peers, "kics"), "scan", "-p", ".", "-q", filepath.Join(assets, "queries"), "-b",
		filepath.Join(assets, "libraries"),
		"-o", results, "--no-progress", "--silent", "--disable-secrets", "--ignore-on-exit", "all"}
	out, err := process.Command{Dir: dir, Args: args, Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return nil, process.Cost{}, err
	}
	content, err := os.ReadFile(filepath.Join(results, "results.json"))
	if err != nil {
		return nil, out.Cost, fmt.Errorf("kics: %w: %s", err, process.Tail(out.Stderr))
	}
	var r struct {
		Queries []struct {
			Name     string `json:"query_name"`
			ID       string `json:"query_id"`
			Severity string `json:"severity"`
			Files    []struct {
				Name string `json:"file_name"`
				Line int    `json:"line"`
			} `json:"files"`
		} `json:"queries"`
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, out.Cost, fmt.Errorf("kics: decode report: %w", err)
	}
	var flaws []flaw
	for _, q := range r.Queries {
		if q.Severity == "INFO" || q.Severity == "TRACE" {
			continue // remarks and inventories, not flaws
		}
		for _, f := range q.Files {
			flaws = append(flaws, flaw{Scanner: "kics", File: filepath.ToSlash(filepath.Clean(f.Name)), Line: f.Line,
				Rule: q.ID, Text: q.Name})
		}
	}
	// Sorted by location, so that two runs write the same file of cases.
	slices.SortFunc(flaws, func(x, y flaw) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Rule, y.Rule))
	})
	return flaws, out.Cost, nil
}
