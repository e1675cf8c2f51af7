package rules

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/rule"
	"merlon/internal/finding"
)

// This file turns the metadata of a rule into what users read.

var (
	cweNumber   = regexp.MustCompile(`(?i)\bCWE-\d{1,5}\b`)
	owaspNumber = regexp.MustCompile(`(?i)\bA(\d{2}):(?:20)?(\d{2})\b`)
)

// Describe returns what the metadata of a rule says for users: cwe, owasp and
// confidence in the spellings of public rules. The name is the id, the text the
// message.
func Describe(r *rule.Rule) *finding.Rule {
	about := &finding.Rule{
		ID: r.ID, Analysis: finding.SAST, Name: r.ID, ShortDescription: firstSentence(r.Message),
		Description: r.Message,
		Severity:    r.Severity, Confidence: confidence(r.Metadata["confidence"]),
	}
	if len(r.Languages) == 1 {
		about.Language = r.Languages[0]
	}
	for _, s := range texts(r.Metadata["cwe"]) {
		if n := cweNumber.FindString(s); n != "" {
			about.CWE = append(about.CWE, strings.ToUpper(n))
		}
	}
	for _, s := range texts(r.Metadata["owasp"]) {
		if n := owaspNumber.FindStringSubmatch(s); n != nil {
			about.OWASP = append(about.OWASP, "A"+n[1]+":20"+n[2])
		}
	}
	if link, ok := r.Metadata["source"].(string); ok && strings.HasPrefix(link, "https://") {
		about.Link = link
	}
	about.AddReferences()
	return about
}

// texts returns a value of metadata that may be one text or a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func confidence(v any) finding.Confidence {
	s, _ := v.(string)
	switch strings.ToLower(s) {
	case "high":
		return finding.HighConfidence
	case "low":
		return finding.LowConfidence
	}
	return finding.MediumConfidence
}

func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}
