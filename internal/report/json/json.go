// Package json writes a scan as one JSON document:
//
//	{
//	  "findings": [finding.Finding, …],   in the order of the files
//	  "rules":    [finding.Rule, …],      every rule that a finding names
//	  "packages": [finding.Package, …],   the dependencies that were seen
//	  "operations": [finding.Operation, …],  of a running application, or declared by the code; left out without
//	  "scan":     scan.Config,            what was scanned, when, with which data
//	  "analyzers":[scan.Status, …],       how each analyzer ended, and why
//	  "summary":  {"complete": bool,      every analyzer looked at everything
//	               "total": int, "bySeverity": {…}, "byAnalysis": {…},
//	               "files": int, "packages": int,
//	               "operations": {"reached": int, …},   of a running application
//	               "advisoriesAges": scan.Ages}    when there is vulnerability data
//	}
//
// Lists are never null. The members of each object are those of the Go types
// named. Of a finding,
//
//   - severity is the impact of the weakness, changed by its context: impact is the severity
//     without the context, and severityTerms are the changes, each with points and a reason. Both
//     are left out where the context changes nothing;
//   - confidence says how sure the analyzer is;
//   - also lists further locations that the same change fixes;
//   - fix is an edit that removes it: description, path, and edits of whole lines, which
//     merlon fix applies.
//
// scan.profile is the profile that selected the findings, and outsideProfile of an analyzer counts
// those that it left out.
package json

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// New returns a handler that writes the document to w as the scan goes on.
// Close ends the document.
func New(w io.Writer) *Report {
	return &Report{w: w, rules: []*finding.Rule{}, seen: []*finding.Package{}}
}

// A Report is a scan.Handler. Findings are written as they come.
type Report struct {
	scan.Summary
	w       io.Writer
	results int
	rules   []*finding.Rule
	seen    []*finding.Package
	offered []*finding.Operation
}

// summary is the last member of the report, with the counts and the status of each analyzer.
type summary struct {
	Complete   bool                     `json:"complete"`
	Total      int                      `json:"total"`
	BySeverity map[finding.Severity]int `json:"bySeverity"`
	ByAnalysis map[finding.Analysis]int `json:"byAnalysis"`
	Files      int                      `json:"files"`
	Packages   int                      `json:"packages"`
	Operations map[finding.Outcome]int  `json:"operations,omitempty"`

	// AdvisoriesAges is how old the vulnerability data was; nil without any.
	AdvisoriesAges *scan.Freshness `json:"advisoriesAges,omitempty"`
}

// Config begins the document.
func (r *Report) Config(m *scan.Config) error {
	if err := r.Summary.Config(m); err != nil {
		return err
	}
	_, err := io.WriteString(r.w, "{\"findings\":[")
	return err
}

// Rule keeps a rule for the end.
func (r *Report) Rule(m *finding.Rule) error {
	r.rules = append(r.rules, m)
	return nil
}

// Package keeps a dependency for the end.
func (r *Report) Package(m *finding.Package) error {
	p := *m
	r.seen = append(r.seen, &p)
	return r.Summary.Package(m)
}

// Operation keeps what became of an operation for the end.
func (r *Report) Operation(m *finding.Operation) error {
	op := *m
	r.offered = append(r.offered, &op)
	return r.Summary.Operation(m)
}

// Finding writes a finding.
func (r *Report) Finding(m *finding.Finding) error {
	separator := ",\n"
	if r.results == 0 {
		separator = "\n"
	}
	r.results++
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if _, err := r.w.Write(append([]byte(separator), b...)); err != nil {
		return err
	}
	return r.Summary.Finding(m)
}

// Close ends the document.
func (r *Report) Close() error {
	if r.Setup.Tool == "" {
		return errors.New("write JSON: the scan did not begin")
	}
	s := summary{Complete: r.Complete(), Total: r.Total(), BySeverity: map[finding.Severity]int{},
		ByAnalysis: r.ByAnalysis,
		Files:      r.Setup.Files, Packages: r.Packages, Operations: r.Operations}
	if a := r.Setup.Advisories; a != nil {
		ages := a.Freshness(r.Setup.Started)
		s.AdvisoriesAges = &ages
	}
	for _, severity := range finding.Severities {
		s.BySeverity[severity] = r.Findings[severity]
	}
	tail, err := json.Marshal(struct {
		Scan      scan.Config   `json:"scan"`
		Analyzers []scan.Status `json:"analyzers"`
		Summary   summary       `json:"summary"`
	}{r.Setup, r.Statuses, s})
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	out := bufio.NewWriter(r.w)
	_, _ = out.WriteString("],\n\"rules\":[") // Flush has the first error of all writes
	if err := writeElements(out, r.rules); err != nil {
		return err
	}
	_, _ = out.WriteString("],\n\"packages\":[")
	if err := writeElements(out, r.seen); err != nil {
		return err
	}
	if r.Setup.Target != "" || len(r.offered) > 0 {
		_, _ = out.WriteString("],\n\"operations\":[")
		if err := writeElements(out, r.offered); err != nil {
			return err
		}
	}
	// The tail is an object of its own; its members continue the document's.
	_, _ = fmt.Fprintf(out, "],\n%s\n", tail[1:])
	return out.Flush()
}

// writeElements writes the elements of a list one by one: there may be hundreds of
// thousands.
func writeElements[T any](w io.Writer, list []T) error {
	for i, v := range list {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, b); err != nil {
			return err
		}
	}
	return nil
}
