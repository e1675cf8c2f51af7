// Package rule writes down the rules of pipelines: what they find, why it
// matters, and how to prevent it.
package rule

import (
	"slices"
	"strings"

	"merlon/internal/finding"
)

// A Set is the rules of one analyzer, by the last part of their ids.
type Set map[string]*finding.Rule

// A Text is a rule as its author writes it.
type Text struct {
	ID         string // below the analyzer: "template-injection"
	Name       string
	Severity   finding.Severity
	Confidence finding.Confidence
	CWE        string // "CWE-94"
	Risk       string // of OWASP's Top 10 CI/CD Security Risks: "CICD-SEC-4"
	What       string // one sentence
	Why        string // Markdown
	Fix        string // Markdown
	Link       string
}

// New makes the rules of the analyzer, whose findings are in the language.
func New(analyzer, language string, texts ...Text) Set {
	s := Set{}
	for _, t := range texts {
		s[t.ID] = &finding.Rule{
			ID: analyzer + "/" + t.ID, Analysis: finding.CICD, Name: t.Name,
			ShortDescription: t.What, Description: t.What + "\n\n" + joinLines(t.Why), HowToPrevent: joinLines(t.Fix),
			CWE: []string{t.CWE}, OWASP: []string{t.Risk}, Severity: t.Severity, Confidence: t.Confidence,
			Language: language, Link: t.Link,
		}
	}
	return s
}

// joinLines joins the lines of each paragraph, as Markdown does when it is shown.
func joinLines(s string) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(s), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(out, "\n\n")
}

// All returns the rules by id.
func (s Set) All() []*finding.Rule {
	var out []*finding.Rule
	for _, r := range s {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *finding.Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}
