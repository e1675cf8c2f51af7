package scan

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"merlon/internal/finding"
	"merlon/internal/severity"
)

// This file fills in the fields of a finding that follow from its rule and the file.

// weighFindings computes the severities of the findings of the analyzer, and names their rules.
func (o *outcome) weighFindings(a *Analyzer) {
	for i := range o.hits {
		h := &o.hits[i]
		f := &h.Finding
		f.RuleID, f.Analyzer, f.Analysis = h.rule.ID, a.ID, a.Analysis
		if f.Severity.Rank() == 0 {
			f.Severity = h.rule.Severity
		}
		if f.Severity.Rank() == 0 {
			f.Severity = finding.Medium
		}
		f.Confidence = cmp.Or(f.Confidence, h.rule.Confidence, finding.MediumConfidence)
		h.points = severity.Weigh(f)
	}
}

// completeFindings completes the sorted findings of the analyzer. text returns the content of a
// file, or nil when it cannot be read. The order matters: the ordinal in a fingerprint counts
// equal findings above in the same file.
func (o *outcome) completeFindings(a *Analyzer, text func(path string) []byte) {
	source := snippetSource{text: text, open: map[string]*Lines{}}
	ordinals := map[finding.Fingerprint]int{}
	for i := range o.hits {
		h := &o.hits[i]
		f := &h.Finding
		f.Message = truncateText(cmp.Or(f.Message, h.rule.ShortDescription, h.rule.Name), maxText)
		f.Language = cmp.Or(f.Language, h.rule.Language, Language(f.Location.Path))
		if f.Location.StartLine > 0 && f.Location.EndLine < f.Location.StartLine {
			f.Location.EndLine = f.Location.StartLine
		}
		if f.Secret == nil {
			source.addSnippets(f)
		}
		identity := cmp.Or(f.Identity, f.Message)
		first := finding.NewFingerprint(f.RuleID, f.Location.Path, identity, 0)
		f.Fingerprint = finding.NewFingerprint(f.RuleID, f.Location.Path, identity, ordinals[first])
		if f.Cause != "" { // the same vulnerability at every location
			f.Fingerprint.Flaw = finding.NewFingerprint(f.RuleID, "", f.Cause, 0).Flaw
		}
		ordinals[first]++
		f.Location.Path = printablePath(f.Location.Path)
		for k := range f.Also {
			f.Also[k].Path = printablePath(f.Also[k].Path)
		}
		if f.Fix != nil {
			fix := *f.Fix
			fix.Path = printablePath(fix.Path)
			f.Fix = &fix
		}
	}
	for i := range o.packages {
		o.packages[i].Path = printablePath(o.packages[i].Path)
	}
}

// snippetSource extracts snippets from files. It caches a few open files, because the findings
// of an analyzer are sorted by path and their steps lead to few other files.
type snippetSource struct {
	text func(path string) []byte
	open map[string]*Lines
}

// openLines returns the lines of a file, from the cache if possible.
func (s *snippetSource) openLines(path string) *Lines {
	if l, ok := s.open[path]; ok {
		return l
	}
	if len(s.open) == 8 {
		clear(s.open)
	}
	l := NewLines(s.text(path))
	s.open[path] = l
	return l
}

// addSnippets adds the snippets of a finding and its steps, and its default identity: the
// flagged code.
func (s *snippetSource) addSnippets(f *finding.Finding) {
	if f.Location.StartLine > 0 {
		l := s.openLines(f.Location.Path)
		if f.Snippet == nil {
			f.Snippet = l.Snippet(f.Location)
		}
		if f.Identity == "" {
			f.Identity = l.Code(f.Location)
		}
	}
	if n := len(f.Steps); n > maxSteps {
		// Both ends of the path matter most: the source and the sink.
		f.Steps = append(f.Steps[:maxSteps/2:maxSteps/2], f.Steps[n-maxSteps/2:]...)
	}
	for i := range f.Steps {
		step := &f.Steps[i]
		if step.Snippet == nil && step.Location.StartLine > 0 {
			step.Snippet = s.openLines(step.Location.Path).Snippet(step.Location)
		}
		step.Location.Path = printablePath(step.Location.Path)
		step.Message = truncateText(step.Message, maxText)
	}
}

// truncateText returns the text as valid UTF-8 of at most n bytes.
func truncateText(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// printablePath returns a path as valid UTF-8. Invalid bytes are written as \xNN, so that
// different names stay distinct.
func printablePath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for i, r := range path {
		if r == utf8.RuneError && !strings.HasPrefix(path[i:], "\uFFFD") {
			fmt.Fprintf(&b, `\x%02X`, path[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
