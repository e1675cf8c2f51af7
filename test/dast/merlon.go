package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/test/process"
	"merlon/test/table"
)

// This file runs merlon on a target and reads its report.

// A plan is the file that merlon's option --target takes.
type plan struct {
	URL     string   `json:"url"`
	Profile string   `json:"profile,omitempty"` // empty: standard
	Exclude []string `json:"exclude,omitempty"`
	Seeds   []string `json:"seeds,omitempty"`
	Headers []header `json:"headers,omitempty"`
	// any, since each kind of sign-in has members of its own.
	Identities   []any       `json:"identities,omitempty"`
	Descriptions []described `json:"descriptions,omitempty"`
}

// header is a request header in the JSON form of a target.
type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A described tells merlon the operations of an API.
// Kind is openapi or graphql; empty lets merlon detect it.
type described struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	URL  string `json:"url,omitempty"`
}

// A report is the part of merlon's JSON report that measures need.
type report struct {
	Findings []struct {
		RuleID  string `json:"ruleId"`
		Message string `json:"message"`
		// nil for findings that are not about the running application.
		Live *struct {
			URL       string          `json:"url"`
			Method    string          `json:"method"`
			Parameter string          `json:"parameter"`
			In        string          `json:"in"`
			Payload   string          `json:"payload"`
			Exchanges json.RawMessage `json:"exchanges"`
		} `json:"live"`
	} `json:"findings"`
	Rules []struct {
		ID  string   `json:"id"`
		CWE []string `json:"cwe"`
	} `json:"rules"`
	Operations []operation `json:"operations"`
	Analyzers  []struct {
		Analyzer string `json:"analyzer"`
		State    string `json:"state"`
		Reasons  []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"reasons"`
	} `json:"analyzers"`
}

// An operation is what became of one thing that the target offers.
type operation struct {
	ID      string `json:"id"` // of a field of GraphQL: "Query.users"
	Method  string `json:"method"`
	URL     string `json:"url"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
}

// A flaw is what a scanner said of one place of a target.
type flaw struct {
	Scanner   string
	Rule      string
	CWE       []string `json:",omitempty"` // "CWE-79"
	Method    string
	Path      string // of the address, decoded
	Parameter string `json:",omitempty"`
	In        string `json:",omitempty"`
	Text      string `json:"-"` // all that was said, for what has no place of its own
}

// A scan is one run of a scanner on a target.
type scan struct {
	Flaws      []flaw
	Operations []operation
	Requests   int             // that reached the target
	Asked      map[string]bool // "GET /path" of them
	Cost       process.Cost
	State      string   // the worst of its analyzers
	Reasons    []string // why it did not look everywhere
}

// reported are the exit codes of merlon with which there is a report.
var reported = []int{0, 1, 2}

// A run is one run of merlon on a target.
type run struct {
	command string        // dast or api
	name    string        // of its files in the folder of results
	browser string        // for --browser; empty: as the bench says
	checks  []string      // for --check; none: all
	time    time.Duration // for --time; 0: merlon's own
	plan    plan
}

// scanServer runs merlon on a target for at most the time of the bench, and counts what
// reached the target.
func (b *bench) scanServer(ctx context.Context, s *server, r run) (*scan, error) {
	// The start of the target was checked through the same address.
	s.takeCounted()                         // what was asked before is not the scanner's
	r.time = cmp.Or(b.time, b.timeout*9/10) // a scan that is too long still reports
	got, err := b.runMerlon(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := got.countRequests(s.takeCounted(), filepath.Join(b.out, r.name+".asked")); err != nil {
		return nil, err
	}
	return got, nil
}

// runMerlon runs merlon. The file of the plan, the report and what merlon says meanwhile
// stay in the folder of results.
func (b *bench) runMerlon(ctx context.Context, r run) (*scan, error) {
	text, err := json.MarshalIndent(r.plan, "", "  ")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.out, r.name+".target.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	// Findings must not change the exit code.
	args := []string{b.merlon, r.command, r.plan.URL, "--target", file, "--format", "json", "--fail-on", "none",
		"--browser", cmp.Or(r.browser, b.browser)}
	if r.time > 0 {
		args = append(args, "--time", r.time.String())
	}
	for _, check := range r.checks {
		args = append(args, "--check", check)
	}
	out, err := process.Command{Timeout: b.timeout, Args: args}.Run(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(reported, out.Code) {
		return nil, fmt.Errorf("merlon %s %s: exit code %d: %s", r.command, r.name, out.Code, process.Tail(out.Stderr))
	}
	for ending, text := range map[string][]byte{".report.json": out.Stdout, ".log": out.Stderr} {
		if err := os.WriteFile(filepath.Join(b.out, r.name+ending), text, 0o644); err != nil {
			return nil, err
		}
	}
	got, err := readReport(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("merlon %s %s: %w: %s", r.command, r.name, err, process.Tail(out.Stderr))
	}
	got.Cost = out.Cost
	return got, nil
}

// countRequests takes the requests of the scan, and keeps their first lines in a file.
func (s *scan) countRequests(lines []string, file string) error {
	s.Requests, s.Asked = len(lines), requestPaths(lines)
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644)
}

// readReport reads merlon's JSON report.
func readReport(text []byte) (*scan, error) {
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	cwe := map[string][]string{}
	for _, rule := range r.Rules {
		cwe[rule.ID] = rule.CWE
	}
	out := &scan{Operations: r.Operations}
	for _, f := range r.Findings {
		// For example of a library that a page loads, by its version alone.
		if f.Live == nil {
			continue
		}
		l := f.Live
		out.Flaws = append(out.Flaws, flaw{Scanner: "merlon", Rule: f.RuleID, CWE: cwe[f.RuleID], Method: l.Method,
			Path:      pathOf(l.URL),
			Parameter: l.Parameter, In: l.In,
			Text: strings.Join([]string{f.RuleID, f.Message, l.URL, l.Parameter, l.Payload, string(l.Exchanges)},
				"\n")})
	}
	for _, a := range r.Analyzers {
		// The empty state has index -1 and is replaced by any other.
		if i := slices.Index(states, a.State); i > slices.Index(states, out.State) {
			out.State = a.State
		}
		for _, reason := range a.Reasons {
			out.Reasons = append(out.Reasons, fmt.Sprintf("%s: %s %s", a.Analyzer, reason.Code, reason.Message))
		}
	}
	return out, nil
}

// states are those of analyzers, the worst last.
var states = []string{"succeeded", "degraded", "failed"}

// pathOf returns the path of an address, or the address when it is none.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Path
}

// describeCost writes what a scan cost, and why it is not whole.
func (s *scan) describeCost() string {
	out := fmt.Sprintf("%d requests, %s", s.Requests, table.Spent(s.Cost))
	if len(s.Reasons) > 0 {
		out += "; " + s.Reasons[0]
	}
	if n := len(s.Reasons) - 1; n > 0 {
		out += fmt.Sprintf(" (and %d more)", n)
	}
	return out
}
