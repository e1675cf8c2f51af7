package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/client"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file turns what a server tells of a scan into the messages of a local one.

// uploader is the analyzer that stands for what was not uploaded.
// It appears in reports beside the analyzers of the server.
const uploader = "upload"

// replayed says what of a scan is wanted.
// analyses filters what is shown; the scan on the server ran those of the project.
type replayed struct {
	path     string
	analyses []finding.Analysis // empty: all
}

// includes reports whether the user requested the analysis.
func (r replayed) includes(a finding.Analysis) bool {
	return len(r.analyses) == 0 || slices.Contains(r.analyses, a)
}

// replayScan gives the scan's messages to h.
func (r *remoteScan) replayScan(ctx context.Context, s client.Scan, want replayed, h scan.Handler) error {
	statuses := r.analyzerStatuses(s, want)
	// The name of the folder and not its path: a report does not depend on where the code was.
	config := &scan.Config{Tool: "merlon", Root: filepath.Base(want.path), Files: r.packed.Files, Started: s.CreatedAt,
		Sandbox: s.Warnings}
	if abs, err := filepath.Abs(want.path); err == nil {
		config.Root = filepath.Base(abs)
	}
	for i := range statuses {
		config.Analyzers = append(config.Analyzers, statuses[i].Analyzer)
		if a := statuses[i].Analysis; a != "" && !slices.Contains(config.Analyses, a) {
			config.Analyses = append(config.Analyses, a)
		}
	}
	if err := h.Config(config); err != nil {
		return err
	}
	// Rules that were sent, by id: a handler expects each once, before its first finding.
	rules := map[string]bool{}
	for _, a := range finding.Analyses {
		if !want.includes(a) || !slices.Contains(config.Analyses, a) {
			continue
		}
		for f, err := range r.Findings(ctx, r.project, string(a), client.Filter{Branch: r.branch, States: openStates}) {
			if err != nil {
				// The findings come page by page, so a large project needs no memory for all of
				// them.
				return fmt.Errorf("list the findings: %w", err)
			}
			if err := emitFinding(h, a, f, rules); err != nil {
				return err
			}
		}
	}
	for i := range statuses {
		if err := h.Status(&statuses[i]); err != nil {
			return err
		}
	}
	return nil
}

// analyzerStatuses returns how the analyzers ended, and the upload when it was not whole.
// Files that could not be read locally are a coverage gap of the scan, which the server cannot
// know.
func (r *remoteScan) analyzerStatuses(s client.Scan, want replayed) []scan.Status {
	var out []scan.Status
	for _, a := range s.Analyzers {
		if !want.includes(finding.Analysis(a.Analysis)) {
			continue
		}
		status := scan.Status{Analyzer: a.ID, Analysis: finding.Analysis(a.Analysis), State: scan.State(a.State),
			Omitted: a.Omitted,
			Files:   a.Files, Findings: a.Findings, Duration: time.Duration(a.Millis) * time.Millisecond,
			Reasons: []scan.Reason{}}
		for _, reason := range a.Reasons {
			status.Reasons = append(status.Reasons, scan.Reason(reason))
		}
		out = append(out, status)
	}
	if len(r.packed.Skipped) == 0 {
		return out
	}
	status := scan.Status{Analyzer: uploader, State: scan.Degraded, Files: r.packed.Files}
	for _, text := range r.packed.Skipped {
		// The limit of reasons is that of a local scan.
		if len(status.Reasons) == scan.MaxReasons {
			status.Omitted++
			continue
		}
		status.Reasons = append(status.Reasons, scan.Reason{Code: "unreadable", Message: text})
	}
	return append(out, status)
}

// emitFinding gives a finding to h, after its rule.
func emitFinding(h scan.Handler, a finding.Analysis, f client.Finding, given map[string]bool) error {
	rule := ruleOf(a, f)
	if !given[rule.ID] {
		given[rule.ID] = true
		if err := h.Rule(rule); err != nil {
			return err
		}
	}
	// The severity is that after triage, which may differ from the rule's.
	out := &finding.Finding{
		RuleID: rule.ID, Analysis: a, Severity: finding.Severity(strings.ToLower(f.Severity)), Language: f.Language,
		Message:  cmp.Or(f.Message, rule.ShortDescription, rule.Name),
		Location: finding.Location{Path: f.Path, StartLine: f.StartLine, EndLine: f.EndLine},
	}
	if len(f.Snippets) > 0 {
		out.Snippet = newSnippet(f.Snippets[0].StartLine, f.Snippets[0].Code)
	}
	for _, s := range f.Flow {
		out.Steps = append(out.Steps, finding.Step{
			Kind: finding.StepKind(s.Type), Message: s.Message, Snippet: newSnippet(0, s.Code),
			Location: finding.Location{Path: cmp.Or(s.Path, f.Path), StartLine: s.Line, EndLine: s.Line},
		})
	}
	if l := f.Library; l != nil {
		out.Package = &finding.PackageMatch{Package: finding.Package{
			Ecosystem: l.Ecosystem, Name: l.Name, Version: l.Version, Path: cmp.Or(f.Path, l.File), Line: f.StartLine,
			Via: l.Path,
		}}
		if len(f.Fixes) > 0 {
			out.Package.Upgrade = f.Fixes[0].Version
		}
	}
	if s := f.Secret; s != nil {
		out.Secret = &finding.SecretMatch{Kind: s.Kind, Redacted: s.Redacted}
	}
	return h.Finding(out)
}

// ruleOf returns the rule of a finding, or what is known of its vulnerability.
// Findings of dependencies have no rule on the server: one is made from the advisory, with an id
// of the analysis and the advisory.
func ruleOf(a finding.Analysis, f client.Finding) *finding.Rule {
	severity := finding.Severity(strings.ToLower(f.Severity))
	if r := f.Base.Rule; r != nil {
		return &finding.Rule{
			ID: cmp.Or(r.RuleID, r.ID), Analysis: a, Name: r.Name, Link: r.Link, ShortDescription: r.ShortDescription,
			Description:  r.Description,
			HowToPrevent: r.HowToPrevent, CWE: r.CWE, OWASP: r.OWASP, Language: r.Language,
			Severity: cmp.Or(finding.Severity(strings.ToLower(r.Severity)), severity),
			// The API has no confidence of rules.
			Confidence: finding.MediumConfidence,
		}
	}
	// Neither is known: the analysis is the rule, so that the finding is still reported.
	if f.Advisory == nil {
		return &finding.Rule{ID: string(a), Analysis: a, Name: string(a), Severity: severity,
			Confidence: finding.MediumConfidence}
	}
	d := f.Advisory
	// The CVE first, as most tools match by it.
	id := cmp.Or(d.CVE, d.GHSA, d.Internal)
	rule := &finding.Rule{
		// OWASP 2021, category 6: Vulnerable and Outdated Components.
		ID: string(a) + "/" + id, OWASP: []string{"A06:2021"}, Analysis: a, Name: cmp.Or(d.Summary, id),
		ShortDescription: cmp.Or(d.Summary, id), Description: d.Details,
		Severity: severity, Confidence: finding.HighConfidence,
		Advisory: &finding.Advisory{ID: id, GHSA: d.GHSA, CVE: d.CVE, Summary: d.Summary, Details: d.Details},
	}
	if f.CVSS != nil {
		rule.Advisory.CVSS = *f.CVSS
	}
	for _, c := range d.CWEs {
		rule.CWE = append(rule.CWE, c.ID)
	}
	for _, r := range d.References {
		rule.Advisory.References = append(rule.Advisory.References, finding.AdvisoryReference(r))
		rule.Link = cmp.Or(rule.Link, r.URL)
	}
	for _, alias := range d.Aliases {
		rule.Advisory.Aliases = append(rule.Advisory.Aliases, alias.Alias)
	}
	return rule
}

// newSnippet returns lines of code; a start of 0 takes the number of the first.
func newSnippet(start int, code []client.Line) *finding.Snippet {
	if len(code) == 0 {
		return nil
	}
	s := &finding.Snippet{StartLine: cmp.Or(start, code[0].Number)}
	for _, line := range code {
		s.Lines = append(s.Lines, line.Content)
	}
	return s
}
