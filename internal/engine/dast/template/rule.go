package template

import (
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file says what a template finds, as a rule.

// weakness matches the number of a weakness in the list of CWE.
var weakness = lazyregexp.New(`(?i)^CWE-\d{1,5}$`)

// maxText bounds a text of a rule, in bytes.
const maxText = 8 << 10

// findingRule returns the rule of the template's findings. Where the template is
// silent, its name stands for the texts that a rule must have.
func (d *document) findingRule() *finding.Rule {
	i := &d.Info
	r := &finding.Rule{ID: "template/" + d.ID, Analysis: finding.DAST, Name: shorten(i.Name, 200),
		Description: shorten(i.Description, maxText), HowToPrevent: shorten(i.Remediation, maxText),
		Severity: readSeverity(i.Severity), Confidence: finding.MediumConfidence}
	r.ShortDescription, _, _ = strings.Cut(strings.TrimSpace(r.Description), "\n")
	if r.ShortDescription == "" {
		r.ShortDescription = r.Name
	}
	if r.Description == "" {
		r.Description = r.Name
	}
	if i.Impact != "" {
		r.Description += "\n\n" + shorten(i.Impact, maxText)
	}
	if r.HowToPrevent == "" {
		r.HowToPrevent = "The template does not say. Its matchers tell by what it knows the flaw; see the references."
	}
	for _, c := range i.Classification.CWE {
		if c = strings.TrimSpace(c); weakness.MatchString(c) {
			r.CWE = append(r.CWE, strings.ToUpper(c))
		}
	}
	addReferences(r, i.Reference)
	return r
}

// maxReferences bounds the addresses that a rule refers to, and maxReference the length of
// one in bytes.
const (
	maxReferences = 20
	maxReference  = 500
)

// addReferences adds the addresses that a template refers to; the first one is the link.
func addReferences(r *finding.Rule, references []string) {
	for n, ref := range references {
		if ref = strings.TrimSpace(ref); n >= maxReferences || !strings.HasPrefix(ref, "https://") &&
			!strings.HasPrefix(ref, "http://") || len(ref) > maxReference {
			continue
		}
		if r.Link == "" {
			r.Link = ref
		}
		r.Description += "\n\nReference: " + ref
	}
}

// shorten cuts a text of a template to at most n bytes.
func shorten(s string, n int) string { return message.Truncate(strings.TrimSpace(s), n) }

// readSeverity reads the words of the format. What it calls info or unknown is low here.
func readSeverity(s string) finding.Severity {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "critical":
		return finding.Critical
	case "high":
		return finding.High
	case "medium":
		return finding.Medium
	}
	return finding.Low
}
