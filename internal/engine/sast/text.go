package sast

import (
	"context"
	"errors"
	"slices"
	"strings"

	"merlon/internal/engine/sast/entropy"
	"merlon/internal/engine/sast/generic"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// textPattern makes a pattern of the mode generic one that package pattern can use.
type textPattern struct{ *generic.Matcher }

// newTextPattern compiles a pattern of the mode generic.
func newTextPattern(text string, o rule.Options) (pattern.TextPattern, error) {
	m, err := generic.Compile(text, o)
	return textPattern{m}, err
}

// Find returns the matches in a text.
func (p textPattern) Find(text string) ([]pattern.TextMatch, error) {
	matches, err := p.Matcher.Find(text)
	out := make([]pattern.TextMatch, len(matches))
	for i, m := range matches {
		out[i] = pattern.TextMatch{Start: m.Start, End: m.End, Bindings: make([]pattern.TextBinding, len(m.Bindings))}
		for j, b := range m.Bindings {
			out[i].Bindings[j] = pattern.TextBinding{Name: b.Name, Start: b.Start, End: b.End}
		}
	}
	return out, err
}

// ErrSkipped is the problem of a file that rules for words and lines pass over by
// design: it is binary, or no person wrote its lines.
var ErrSkipped = errors.New("minified or binary: rules for words and lines were not matched")

// matchText matches the rules that have no tree with one file. Minified files would make such
// rules slow and their matches meaningless.
func (s *Set) matchText(ctx context.Context, f *tree.File) ([]Match, []Problem) {
	rules := s.text
	var problems []Problem
	if !generic.Readable(f.Source) {
		rules = slices.DeleteFunc(slices.Clone(rules), func(c compiled) bool {
			return c.rule.Languages[0] == rule.LanguageGeneric
		})
		if len(rules) < len(s.text) {
			problems = append(problems, Problem{Path: f.Path, Err: ErrSkipped})
		}
	}
	matches, more := runRules(ctx, rules, pattern.NewText(f))
	return matches, append(problems, more...)
}

// analyzeText asks an analyzer of metavariable-analysis. The analyzers are those that rules of the
// format name.
func analyzeText(analyzer, mode, text string) bool {
	if analyzer == rule.ReDoS {
		// The text may be that of a string literal, with a backslash before each other.
		return pcre.Explodes(text) || pcre.Explodes(strings.ReplaceAll(text, `\\`, `\`))
	}
	return entropy.Secret(text, mode)
}
