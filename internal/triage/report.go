package triage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file reads a scan's messages the first time: it checks them, and keeps the
// little that matching needs.

// Limits of what a message may hold, in bytes. The driver stays far below.
const (
	maxRuleID = 200
	maxName   = 1000
	maxPath   = 4096 + 512 // of an image: its name and a path
	maxText   = 64 << 10
)

// A report is what matching needs to know of a scan. It is a scan.Handler.
type report struct {
	sc        tenant.Scope
	run       *run.Run
	config    *scan.Config
	statuses  []scan.Status
	entries   []entry // one for each finding, in the order of the stream
	repeated  map[int]bool
	rules     map[string]reportedRule // by the rule's own name
	packages  map[string]uint64       // identifier → sum
	languages map[string]bool

	operations []finding.Operation

	read   int // findings, the repeated ones included
	places map[Digest]bool
	paths  map[string]string // each path once in memory
}

// An entry is a reported finding.
type entry struct {
	place, code Digest
	path        string
	line        int
	sum         uint64
	proves      Digest
	quiet       bool // of a severity that the run does not speak of: it opens nothing
}

// A reportedRule is a rule of the report.
type reportedRule struct {
	id  string // inside the organization
	sum uint64
	threat
	severity finding.Severity
}

// sandboxWarnings are the protections that the scan had to do without.
func (r *report) sandboxWarnings() []string { return append([]string{}, r.config.Sandbox...) }

// newReport returns an empty report of the run.
func newReport(sc tenant.Scope, r *run.Run) *report {
	return &report{
		sc: sc, run: r, statuses: []scan.Status{}, repeated: map[int]bool{},
		rules: map[string]reportedRule{}, packages: map[string]uint64{}, languages: map[string]bool{},
		places: map[Digest]bool{}, paths: map[string]string{},
	}
}

// Config keeps the message.
func (r *report) Config(c *scan.Config) error {
	r.config = c
	return checkImage(c.Image)
}

// Progress is of no interest.
func (r *report) Progress(*scan.Progress) error { return nil }

// Operation keeps the message: it is recorded with the run.
func (r *report) Operation(o *finding.Operation) error {
	if len(r.operations) == MaxOperations {
		return errs.E(errs.TooLarge, "the scan reports more than %d operations", MaxOperations)
	}
	texts := append([]string{o.Method, o.URL, o.ID, o.Origin, o.Reason, o.As}, o.Parameters...)
	if hasNUL(texts...) || len(strings.Join(texts, "")) > maxText || !slices.Contains(finding.Outcomes, o.Outcome) {
		return fmt.Errorf("operation %.100q is not whole, or too long", o.URL)
	}
	r.operations = append(r.operations, *o)
	return nil
}

// Status keeps the message.
func (r *report) Status(s *scan.Status) error {
	r.statuses = append(r.statuses, *s)
	if s.OS == nil {
		return nil
	}
	return checkNames("operating system", s.OS.ID, s.OS.Version, s.OS.Name)
}

// Rule keeps the rule's name and sum.
func (r *report) Rule(rule *finding.Rule) error {
	if len(r.rules) == MaxRules {
		return errs.E(errs.TooLarge, "the scan names more than %d rules", MaxRules)
	}
	if rule.ID == "" || len(rule.ID) > maxRuleID || !slices.Contains(finding.Analyses, rule.Analysis) ||
		rule.Severity.Rank() == 0 {
		return fmt.Errorf("rule %.200q is not whole", rule.ID)
	}
	if _, again := r.rules[rule.ID]; again {
		return fmt.Errorf("rule %q is described twice", rule.ID)
	}
	s, err := checksum(rule)
	if err != nil {
		return err
	}
	r.rules[rule.ID] = reportedRule{id: RuleID(r.sc.Organization, rule.ID), sum: s, threat: threatOf(rule),
		severity: rule.Severity}
	return nil
}

// Package keeps the package's identifier and sum.
func (r *report) Package(p *finding.Package) error {
	if len(r.packages) == MaxPackages {
		return errs.E(errs.TooLarge, "the scan lists more than %d packages", MaxPackages)
	}
	if err := checkPackage(p); err != nil {
		return err
	}
	s, err := checksum(p)
	if err != nil {
		return err
	}
	r.packages[PackageID(r.run.ProjectID, r.run.Branch, p)] = s
	return nil
}

// checkPackage validates a package of a scan result, which is untrusted input.
func checkPackage(p *finding.Package) error {
	if p.Name == "" || len(p.Name) > maxName || len(p.Version) > maxName || len(p.Ecosystem) > maxName ||
		len(p.Path) > maxPath {
		return fmt.Errorf("package %.100q is not whole, or a name in it is too long", p.Name)
	}
	if hasNUL(p.Name, p.Version, p.Ecosystem, p.Path, p.PURL) {
		return fmt.Errorf("package %.100q contains a NUL character", p.Name)
	}
	return nil
}

// Finding keeps what the finding is matched by.
func (r *report) Finding(f *finding.Finding) error {
	n := r.read
	r.read++
	if n == MaxFindings {
		return errs.E(errs.TooLarge, "the scan reports more than %d findings", MaxFindings)
	}
	rule, ok := r.rules[f.RuleID]
	if !ok {
		return fmt.Errorf("a finding names the rule %.200q, which is not described", f.RuleID)
	}
	if err := r.checkFinding(f); err != nil {
		return fmt.Errorf("finding of %s: %w", f.RuleID, err)
	}
	place, err := ParseDigest(f.Fingerprint.Place)
	if err != nil {
		return err
	}
	code, err := ParseDigest(f.Fingerprint.Flaw)
	if err != nil {
		return err
	}
	if r.places[place] {
		r.repeated[n] = true // the same flaw once more
		return nil
	}
	r.places[place] = true
	s, err := checksum(struct {
		*finding.Finding
		CVSS      float64
		EPSS      float64 `json:",omitempty"`
		Exploited bool    `json:",omitempty"`
	}{f, rule.cvss, rule.epss, rule.exploited})
	if err != nil {
		return err
	}
	path, ok := r.paths[f.Location.Path]
	if !ok {
		path = strings.Clone(f.Location.Path)
		r.paths[path] = path
	}
	r.entries = append(r.entries, entry{place: place, code: code, path: path, line: f.Location.StartLine, sum: s,
		proves: confirmedPlace(f), quiet: !r.run.CoversSeverity(f.Severity)})
	if f.Language != "" && f.Package == nil {
		r.languages[f.Language] = true
	}
	return nil
}

// confirmedPlace returns the place of the finding of the source that is the same flaw as one of a
// live scan; nothing when none is.
func confirmedPlace(f *finding.Finding) Digest {
	if f.Live == nil || f.Live.Code == nil || f.Live.Code.Flaw == nil {
		return Digest{}
	}
	place, err := ParseDigest(f.Live.Code.Flaw.Fingerprint.Place)
	if err != nil {
		return Digest{} // a flaw without a finding of its own
	}
	return place
}

// checkFinding validates a finding of a scan result, which is untrusted input: the sandboxed
// process may have been compromised by the scanned code.
func (r *report) checkFinding(f *finding.Finding) error {
	switch {
	case !slices.Contains(finding.Analyses, f.Analysis):
		return fmt.Errorf("there is no analysis %.50q", f.Analysis)
	case f.Severity.Rank() == 0:
		return fmt.Errorf("there is no severity %.50q", f.Severity)
	case !slices.Contains(r.config.Analyzers, f.Analyzer):
		return fmt.Errorf("analyzer %.100q is not part of the scan", f.Analyzer)
	case len(f.Location.Path) > maxPath || len(f.Message) > maxText || len(f.Language) > maxName:
		return errors.New("its path, message or language is too long")
	case hasNUL(f.Location.Path, f.Message, f.Language):
		return errors.New("its path, message or language contains a NUL character")
	case f.Location.StartLine < 0 || f.Location.EndLine < 0 ||
		f.Location.StartLine > 1<<30 || f.Location.EndLine > 1<<30:

		return errors.New("its lines are not those of a file")
	case f.Package != nil:
		return checkPackage(&f.Package.Package)
	}
	return nil
}

// hasNUL reports whether a text holds a character that PostgreSQL cannot store.
func hasNUL(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.IndexByte(s, 0) >= 0 })
}
