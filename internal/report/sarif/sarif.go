// Package sarif writes a scan as SARIF 2.1.0 (OASIS standard, errata 01), the
// format that code hosts and editors read.
//
// Results come in the order of their rank. Addresses are relative to the scanned folder, with the base %SRCROOT%. A
// rule
// bears the tags that code hosts look for (external/cwe/cwe-89), its
// security-severity as a number, and its text in plain and in Markdown. A
// finding bears two fingerprints, its snippet, and its path through the code, and
// what a service knows of it beside (Standing).
// The invocation is successful only when every analyzer looked at everything;
// each thing that was not looked at is a notification.
package sarif

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// New returns a handler that writes the document to w at Close. information is the address of the
// service that writes it, or empty: the program itself has no public address, and informationUri
// is optional (section 3.19.9).
func New(w io.Writer, information string) *Report {
	return &Report{w: w, information: absoluteURL(information), index: map[string]int{}}
}

// A Report is a scan.Handler. Results are kept compressed until the end, because they are written
// in the order of their rank: a code host that shows only the first 5,000 shows the ones that
// matter most.
type Report struct {
	scan.Summary
	w           io.Writer
	information string
	rules       []reportingDescriptor
	advisories  []*finding.Advisory // of rules, at the same index; nil: none
	scores      []float64           // the highest of the results of rules, at the same index
	index       map[string]int      // in rules, by id
	results     rankedResults
}

// begin is the beginning of the document.
const begin = `{"$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",` +
	`"version":"2.1.0","runs":[{"columnKind":"unicodeCodePoints","redactionTokens":["` + finding.Redacted +
	`"],"results":[`

// Rule keeps a rule for the end.
func (r *Report) Rule(m *finding.Rule) error {
	if _, ok := r.index[m.ID]; !ok {
		r.index[m.ID] = len(r.rules)
		r.rules = append(r.rules, describeRule(m))
		r.advisories, r.scores = append(r.advisories, m.Advisory), append(r.scores, 0)
	}
	return nil
}

// A Standing is what a service knows of a finding beside what a scan says.
type Standing struct {
	ID       string // empty: nobody keeps the finding
	Status   string // "to_verify", "confirmed", "resolved", "ignored"
	Priority string
	Branch   string
	Comment  string    // what a person last said of it
	Found    time.Time // for the first time
	Ignored  bool      // it was decided that nothing is to be done
	Gone     bool      // it was resolved
}

// Finding writes a result.
func (r *Report) Finding(m *finding.Finding) error { return r.Kept(m, Standing{}) }

// Kept writes a result as it stands: what is ignored is suppressed (section 3.35), and
// what is resolved has the baseline state "absent" (section 3.27.24).
func (r *Report) Kept(m *finding.Finding, s Standing) error {
	if err := r.Summary.Finding(m); err != nil {
		return err
	}
	index, ok := r.index[m.RuleID]
	if !ok {
		return fmt.Errorf("a finding of rule %q, which was not described", m.RuleID)
	}
	score := securitySeverity(m.Severity, r.advisories[index])
	r.scores[index] = max(r.scores[index], score)
	out := newResult(m, index, score)
	out.addStanding(s)
	b, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return r.results.add(out.Rank, b)
}

// Close writes the document.
func (r *Report) Close() error {
	if r.Setup.Tool == "" {
		return fmt.Errorf("write SARIF: the scan did not begin")
	}
	if _, err := io.WriteString(r.w, begin); err != nil {
		return err
	}
	if err := r.results.writeTo(r.w); err != nil {
		return err
	}
	for i, score := range r.scores {
		if score > 0 { // code hosts read the score of the rule for all of its results
			r.rules[i].Properties["security-severity"] = formatScore(score)
		}
	}
	tail := struct {
		Tool       tool                       `json:"tool"`
		Bases      map[string]artifactAddress `json:"originalUriBaseIds"`
		Automation automationDetails          `json:"automationDetails"`
		Invocation []invocation               `json:"invocations"`
		Properties map[string]any             `json:"properties"`
	}{
		Tool: tool{component{Name: r.Setup.Tool, Version: r.Setup.Version, Information: r.information,
			Rules: r.rules}},
		Bases:      map[string]artifactAddress{base: {Description: &text{Text: "the scanned folder"}}},
		Automation: automationDetails{automationID(&r.Summary)},
		Invocation: []invocation{newInvocation(&r.Summary)},
		Properties: runProperties(&r.Summary),
	}
	if tail.Tool.Driver.Rules == nil {
		tail.Tool.Driver.Rules = []reportingDescriptor{}
	}
	b, err := json.Marshal(tail)
	if err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	// The tail is an object of its own; its members continue the run's.
	_, err = fmt.Fprintf(r.w, "],\n%s]}\n", b[1:])
	return err
}
