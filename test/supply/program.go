package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"merlon/test/process"
)

// A place is lines of a file.
type place struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
}

// A report is the part of merlon's JSON report that measures need.
// Fields that no measure uses are not decoded. Findings of all analyses have the same form.
type report struct {
	Findings []struct {
		RuleID     string   `json:"ruleId"`
		Analysis   string   `json:"analysis"`
		Severity   string   `json:"severity"`
		Confidence string   `json:"confidence"` // empty when it is the rule's
		Message    string   `json:"message"`
		Same       []string `json:"same"` // rules that say the same of the place
		Location   place    `json:"location"`
		Also       []place  `json:"also"` // where else the same flaw is
	} `json:"findings"`
	Rules []struct {
		ID         string   `json:"id"`
		Name       string   `json:"name"`
		CWE        []string `json:"cwe"`
		Confidence string   `json:"confidence"`
	} `json:"rules"`
	Packages []struct {
		Ecosystem string   `json:"ecosystem"`
		Name      string   `json:"name"`
		Version   string   `json:"version"`
		Path      string   `json:"path"`
		Line      int      `json:"line"`
		Scope     string   `json:"scope"`
		Via       []string `json:"via"`
	} `json:"packages"`
	Analyzers []struct {
		Analyzer string `json:"analyzer"`
		State    string `json:"state"`
		Reasons  []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Path    string `json:"path"`
		} `json:"reasons"`
	} `json:"analyzers"`
}

// Exit codes of merlon scan with which there is a report.
// A scan is complete with 0, has findings above the threshold with 1, and coverage gaps with 2.
var reported = []int{0, 1, 2}

// scanTarget runs merlon scan with the options, without a cache, and reads its report.
// Findings do not change the exit code (--fail-on none): the corpora are vulnerable by design.
func (b *bench) scanTarget(ctx context.Context, target string, options ...string) (*report, process.Cost, error) {
	args := append([]string{b.merlon, "scan", target, "--format", "json", "--fail-on", "none", "--no-cache",
		"--profile", "all"},
		options...)
	out, err := process.Command{Args: args, Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return nil, process.Cost{}, err
	}
	if !slices.Contains(reported, out.Code) {
		return nil, process.Cost{}, fmt.Errorf("merlon scan %s: exit code %d: %s", target, out.Code,
			process.Tail(out.Stderr))
	}
	var r report
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		return nil, process.Cost{}, fmt.Errorf("merlon scan %s: decode report: %w: %s", target, err,
			process.Tail(out.Stderr))
	}
	return &r, out.Cost, nil
}

// runPeer runs another scanner of the folder of peers. Its exit codes are its own
// matter; an error is a program that does not start or does not end.
// The output of the peer is judged by whether it can be decoded.
func (b *bench) runPeer(ctx context.Context, name string, args ...string) (*process.Output, error) {
	return process.Command{Args: append([]string{filepath.Join(b.peers, name)}, args...), Timeout: b.timeout}.Run(ctx)
}
