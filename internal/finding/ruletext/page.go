// Package ruletext reads the texts of rules, which are Markdown pages beside the analyzers,
// and shows a finding what concerns its programming language.
//
// A page describes one or more rules. Each begins with its title:
//
//	# Reflected cross-site scripting (XSS)
//
//	- Rule: reflected
//	- Severity: high
//	- Confidence: high
//	- CWE: CWE-79
//
//	A request parameter is written to the response without encoding.
//
//	## Why it matters
//
//	What an attacker can do.
//
//	## How to fix
//
//	What to change, with code.
//
// The first paragraph is the short description; all up to "How to fix" is the description.
// The list may also have OWASP (categories that do not follow from the CWE), Language, Link and
// Profile (all: the rule is a checklist or form, which the default profile leaves out). It may
// be missing where an analyzer keeps this data elsewhere.
package ruletext

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// fixHeading begins the section that becomes [finding.Rule.HowToPrevent].
const fixHeading = "## How to fix"

// A Page is the text of one rule. Rule has all that the page says; the fields of a list that is
// missing are empty.
type Page struct {
	Rule finding.Rule
	Line int // of the title, from 1
}

// A Set is the rules of an analyzer, in the order of their page.
type Set struct {
	rules []*finding.Rule
	byID  map[string]*finding.Rule
}

// Load reads the rules of a page that belongs to the program. The IDs of the page stand below
// common.ID, such as "dast/xss"; the analysis, and the language and the link where the page
// names none, are those of common. Every rule has an ID, a severity, a confidence and a CWE.
func Load(page string, common finding.Rule) (*Set, error) {
	pages, err := Parse(page)
	if err != nil {
		return nil, err
	}
	s := &Set{byID: map[string]*finding.Rule{}}
	for _, p := range pages {
		r := p.Rule
		r.Analysis = common.Analysis
		if r.Language == "" {
			r.Language = common.Language
		}
		if r.Link == "" {
			r.Link = common.Link
		}
		switch {
		case r.ID == "" || r.Severity == "" || r.Confidence == "" || len(r.CWE) == 0:
			return nil, fmt.Errorf("line %d: %q needs Rule, Severity, Confidence and CWE", p.Line, r.Name)
		case s.byID[r.ID] != nil:
			return nil, fmt.Errorf("line %d: a second rule has the ID %s", p.Line, r.ID)
		}
		s.rules = append(s.rules, &r)
		s.byID[r.ID] = &r
		r.ID = common.ID + "/" + r.ID
		r.AddReferences()
	}
	return s, nil
}

// MustLoad is Load for pages that are part of the program: a mistake in one panics when the
// program starts, so that no test can miss it.
func MustLoad(page string, common finding.Rule) *Set {
	s, err := Load(page, common)
	if err != nil {
		panic("ruletext: " + err.Error())
	}
	return s
}

// Get returns the rule that has the ID on the page, and panics if there is none.
func (s *Set) Get(id string) *finding.Rule {
	if r := s.byID[id]; r != nil {
		return r
	}
	panic("ruletext: no page describes " + id)
}

// All returns the rules in the order of the page.
func (s *Set) All() []*finding.Rule { return slices.Clone(s.rules) }

// Parse reads the pages of a Markdown text. Errors name the line.
func Parse(text string) ([]Page, error) {
	p := parser{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	var out []Page
	for p.skipBlank(); p.next < len(p.lines); p.skipBlank() {
		page, err := p.page()
		if err != nil {
			return nil, err
		}
		out = append(out, page)
	}
	return out, nil
}

// A parser reads the lines of a text one after the other.
type parser struct {
	lines []string
	next  int // index of the line that is read next
}

func (p *parser) skipBlank() {
	for p.next < len(p.lines) && strings.TrimSpace(p.lines[p.next]) == "" {
		p.next++
	}
}

// page reads a title and what belongs to it, up to the next title.
func (p *parser) page() (Page, error) {
	out := Page{Line: p.next + 1}
	title, ok := strings.CutPrefix(p.lines[p.next], "# ")
	if out.Rule.Name = strings.TrimSpace(title); !ok || out.Rule.Name == "" {
		return out, fmt.Errorf("line %d: want a title: \"# Name of the rule\"", out.Line)
	}
	p.next++
	p.skipBlank()
	if err := p.readFields(&out.Rule); err != nil {
		return out, err
	}
	start, fix, end := p.next, -1, p.next
	for inCode := false; end < len(p.lines); end++ {
		line := p.lines[end]
		switch {
		case strings.HasPrefix(line, "```"):
			inCode = !inCode
		case inCode:
		case line == fixHeading && fix < 0:
			fix = end
		}
		if !inCode && strings.HasPrefix(line, "# ") {
			break
		}
	}
	p.next = end
	if fix < 0 {
		return out, fmt.Errorf("line %d: %q has no section %q", out.Line, out.Rule.Name, fixHeading)
	}
	join := func(lines []string) string { return strings.TrimSpace(strings.Join(lines, "\n")) }
	out.Rule.Description, out.Rule.HowToPrevent = join(p.lines[start:fix]), join(p.lines[fix+1:end])
	short, _, _ := strings.Cut(out.Rule.Description, "\n\n")
	if out.Rule.ShortDescription = strings.Join(strings.Fields(short), " "); short == "" || short[0] == '#' {
		return out, fmt.Errorf("line %d: %q has no paragraph under its title", out.Line, out.Rule.Name)
	}
	if out.Rule.HowToPrevent == "" {
		return out, fmt.Errorf("line %d: the section %q of %q is empty", fix+1, fixHeading, out.Rule.Name)
	}
	return out, nil
}

// severities and confidences are what a page may say, the highest first.
var (
	severities  = []finding.Severity{finding.Critical, finding.High, finding.Medium, finding.Low}
	confidences = []finding.Confidence{finding.HighConfidence, finding.MediumConfidence, finding.LowConfidence}
)

// readFields reads the list below a title.
func (p *parser) readFields(r *finding.Rule) error {
	for ; p.next < len(p.lines); p.next++ {
		field, isItem := strings.CutPrefix(p.lines[p.next], "- ")
		name, value, isField := strings.Cut(field, ": ")
		if !isItem || !isField {
			break
		}
		if err := setField(r, name, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("line %d: %w", p.next+1, err)
		}
	}
	p.skipBlank()
	return nil
}

// setField sets what a line of the list says.
func setField(r *finding.Rule, name, value string) error {
	switch name {
	case "Rule":
		r.ID = value
	case "Severity":
		if r.Severity = finding.Severity(value); !slices.Contains(severities, r.Severity) {
			return fmt.Errorf("severity %q is not critical, high, medium or low", value)
		}
	case "Confidence":
		r.Confidence = finding.Confidence(value)
		if !slices.Contains(confidences, r.Confidence) {
			return fmt.Errorf("confidence %q is not high, medium or low", value)
		}
	case "CWE":
		for _, id := range strings.Split(value, ", ") {
			if n, ok := strings.CutPrefix(id, "CWE-"); !ok || strings.Trim(n, "0123456789") != "" || n == "" {
				return fmt.Errorf("%q is not a CWE such as CWE-79", id)
			}
			r.CWE = append(r.CWE, id)
		}
	case "OWASP":
		r.OWASP = strings.Split(value, ", ")
	case "Language":
		r.Language = value
	case "Link":
		r.Link = value
	case "Profile":
		if r.Profile = finding.Profile(value); !slices.Contains(finding.Profiles, r.Profile) {
			return fmt.Errorf("profile %q is not default or all", value)
		}
	default:
		return fmt.Errorf("unknown field %q; want Rule, Severity, Confidence, CWE, OWASP, Language, Link or Profile", name)
	}
	return nil
}
