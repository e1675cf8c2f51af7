package template

import (
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file says what a template finds, as a rule.

var weakness = lazyregexp.New(`(?i)^CWE-\d{1,5}$`)

// maxText bounds a text of a rule, in bytes.
const maxText = 8 << 10

// findingRule returns the rule of the template's findings.
func (d *document) findingRule() *finding.Rule {
	i := &d.Info
	r := &finding.Rule{ID: "template/" + d.ID, Analysis: finding.DAST, Name: short(i.Name, 200),
		Description: short(i.Description, maxText), HowToPrevent: short(i.Remediation, maxText),
		Severity: readSeverity(i.Severity), Confidence: finding.Likely}
	r.ShortDescription, _, _ = strings.Cut(strings.TrimSpace(r.Description), "\n")
	if r.ShortDescription == "" {
		r.ShortDescription = r.Name
	}
	if r.Description == "" {
		r.Description = r.Name
	}
	if i.Impact != "" {
		r.Description += "\n\n" + short(i.Impact, maxText)
	}
	if r.HowToPrevent == "" {
		r.HowToPrevent = "The template does not say. Its matchers tell by what it knows the flaw; see the references."
	}
	for _, c := range i.Classification.CWE {
		if c = strings.TrimSpace(c); weakness.MatchString(c) {
			r.CWE = append(r.CWE, strings.ToUpper(c))
		}
	}
	for n, ref := range i.Reference {
		if ref = strings.TrimSpace(ref); n >= 20 || !strings.HasPrefix(ref, "https://") &&
			!strings.HasPrefix(ref, "http://") || len(ref) > 500 {
			continue
		}
		if r.Link == "" {
			r.Link = ref
		}
		r.Description += "\n\nReference: " + ref
	}
	return r
}

func short(s string, n int) string { return message.Truncate(strings.TrimSpace(s), n) }

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
