// Package tool runs scanners of source code, ours and others, and reads what they
// report.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"merlon/test/process"
	"merlon/test/sast/score"
)

// A Scan is the report of one scan.
// The same type is used for all scanners, so that scores come from one code path.
type Scan struct {
	// Findings are in the order of the report. Files is how many the analyzers read, the same file
	// once for each analyzer.
	Findings []score.Finding
	Files    int
	// Degraded is what the analyzer said that it could not look at whole.
	Degraded []string
	Failed   string // why there are no findings, if the scan failed
	Raw      []byte // the report as the program wrote it; nil for other scanners
	process.Cost
}

// Merlon is the program under test.
// Timeout bounds one run of the process; it must be set, since zero is over at once.
type Merlon struct {
	Binary  string
	Timeout time.Duration
}

// Exit codes of merlon scan: a report was written.
// With --fail-on none exitFindings is not possible for a scan; rules test uses it for failed tests.
const (
	exitClean      = 0
	exitFindings   = 1
	exitIncomplete = 2
)

// Scan runs the static analysis with the default rules on a folder; more options
// may follow.
// The option --analyses comes last, so that a caller cannot widen what is measured by accident.
func (m Merlon) Scan(ctx context.Context, dir string, options ...string) (*Scan, error) {
	return m.runScan(ctx, dir, append(options, "--analyses", "sast"))
}

// Match runs nothing but the rules of a file or folder.
func (m Merlon) Match(ctx context.Context, target, rules string) (*Scan, error) {
	return m.runScan(ctx, target, []string{"--rules", rules, "--only-rules"})
}

// runScan runs a scan. Without a cache among the options it uses none, so that what is
// measured is a whole scan.
func (m Merlon) runScan(ctx context.Context, dir string, options []string) (*Scan, error) {
	if !slices.Contains(options, "--cache") {
		options = append(slices.Clone(options), "--no-cache")
	}
	// The exit code must not depend on findings: a vulnerable corpus is no failure of the run.
	args := append([]string{m.Binary, "scan", dir, "--format", "json", "--fail-on", "none",
		"--profile", "all"}, options...)
	out, err := process.Command{Args: args, Timeout: m.Timeout}.Run(ctx)
	if err != nil {
		return nil, err
	}
	if out.Code != exitClean && out.Code != exitIncomplete {
		return nil, fmt.Errorf("merlon scan %s: exit code %d: %s", dir, out.Code, process.Tail(out.Stderr))
	}
	scan, err := decodeScan(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("merlon scan %s: %w: %s", dir, err, process.Tail(out.Stderr))
	}
	scan.Cost = out.Cost
	return scan, nil
}

// report is the part of merlon's JSON report that is needed here.
// Fields that no measure uses are not decoded, so that the wire format can grow.
type report struct {
	Findings []struct {
		RuleID     string `json:"ruleId"`
		Confidence string `json:"confidence"` // empty when it is the rule's
		Location   struct {
			Path      string `json:"path"`
			StartLine int    `json:"startLine"`
		} `json:"location"`
	} `json:"findings"`
	Rules []struct {
		ID         string   `json:"id"`
		CWE        []string `json:"cwe"`
		Confidence string   `json:"confidence"`
	} `json:"rules"`
	Analyzers []struct {
		Analyzer string `json:"analyzer"`
		State    string `json:"state"`
		Files    int    `json:"files"`
		Omitted  int    `json:"omitted"`
		Reasons  []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Path    string `json:"path"`
		} `json:"reasons"`
	} `json:"analyzers"`
}

// decodeScan reads merlon's JSON report.
// A finding refers to its rule by id; weakness and confidence are looked up there, since the report
// carries them once per rule.
func decodeScan(b []byte) (*Scan, error) {
	var r report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	out := &Scan{Raw: b}
	cwe, confidence := map[string][]int{}, map[string]string{}
	for _, rule := range r.Rules {
		confidence[rule.ID] = rule.Confidence
		for _, name := range rule.CWE {
			n, err := score.Number(name)
			if err != nil {
				return nil, fmt.Errorf("rule %s: weakness %q: %w", rule.ID, name, err)
			}
			cwe[rule.ID] = append(cwe[rule.ID], n)
		}
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, score.Finding{File: f.Location.Path, Line: f.Location.StartLine,
			// The confidence of the finding, if it has one, overrides that of its rule.
			CWE: cwe[f.RuleID], Rule: f.RuleID, Confidence: cmp.Or(f.Confidence, confidence[f.RuleID])})
	}
	for _, a := range r.Analyzers {
		out.Files += a.Files
		// A failed analyzer has no findings, which reads like a clean result: that is an error of
		// the measure.
		if a.State == "failed" {
			return nil, fmt.Errorf("analyzer %s failed: %v", a.Analyzer, a.Reasons)
		}
		for _, reason := range a.Reasons {
			out.Degraded = append(out.Degraded, fmt.Sprintf("%s %s: %s", reason.Code, reason.Path, reason.Message))
		}
		// The report lists a limited number of reasons; the number of the others keeps the note
		// honest.
		if a.Omitted > 0 {
			out.Degraded = append(out.Degraded, fmt.Sprintf("and %d more", a.Omitted))
		}
	}
	return out, nil
}

// A RuleResult is what one rule reported in one annotated file.
// Expect and Got are line numbers, ascending; Error is empty if the rule could be run.
type RuleResult struct {
	Rules  string `json:"rules"` // path, below the tested folder
	ID     string `json:"id"`
	Target string `json:"target"`
	Expect []int  `json:"expect"`
	Got    []int  `json:"got"`
	Pass   bool   `json:"pass"`
	Error  string `json:"error"`
}

// RuleTests runs merlon rules test in a folder.
func (m Merlon) RuleTests(ctx context.Context, dir string) ([]RuleResult, process.Cost, error) {
	command := process.Command{Dir: dir, Args: []string{m.Binary, "rules", "test", ".", "--format", "json"},
		Timeout: m.Timeout}
	out, err := command.Run(ctx)
	if err != nil {
		return nil, process.Cost{}, err
	}
	// A failed rule test has exit code 1 and is a result, not an error.
	if !slices.Contains([]int{exitClean, exitFindings, exitIncomplete}, out.Code) {
		return nil, process.Cost{}, fmt.Errorf("merlon rules test %s: exit code %d: %s", dir, out.Code,
			process.Tail(out.Stderr))
	}
	var report struct {
		Cases []RuleResult `json:"cases"`
	}
	if err := json.Unmarshal(out.Stdout, &report); err != nil {
		return nil, process.Cost{}, fmt.Errorf("merlon rules test %s: decode: %w: %s", dir, err,
			process.Tail(out.Stderr))
	}
	return report.Cases, out.Cost, nil
}
