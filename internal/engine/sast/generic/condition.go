package generic

import (
	"fmt"

	"merlon/internal/engine/sast/entropy"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/rule"
)

// condition keeps the matches for which the condition holds. One that binds
// metavariables returns a match for each way, too.
func (e *evaluation) condition(all []found, c *rule.Condition) []found {
	var out []found
	for _, m := range all {
		more, holds := e.holds(&m.Match, c)
		if !holds {
			continue
		}
		out = append(out, m)
		for _, bindings := range more {
			if len(bindings) > 0 {
				out = append(out, found{Match{m.Start, m.End, merge(m.Bindings, bindings)}, m.role})
			}
		}
	}
	return out
}

// holds says whether a condition holds, and what it binds.
func (e *evaluation) holds(m *Match, c *rule.Condition) (more [][]Binding, holds bool) {
	b := m.Get(c.Metavariable)
	if b == nil && c.Kind != rule.CondCompare {
		return nil, false
	}
	switch c.Kind {
	case rule.CondRegex:
		return e.regex(b, c.Regex)
	case rule.CondFormula:
		return e.nested(m, b, c)
	case rule.CondCompare:
		return nil, c.Expr.Holds(func(name string) (rule.Value, bool) {
			b := m.Get(name)
			if b == nil {
				return rule.Value{}, false
			}
			return value(b.Text), true
		}, e.Now)
	case rule.CondAnalysis:
		switch c.Analyzer {
		case rule.ReDoS:
			return nil, pcre.Explodes(b.Text)
		case rule.EntropyV2:
			return nil, entropy.Secret(b.Text, c.Mode)
		}
		return nil, entropy.Secret(b.Text, "default")
	}
	e.fail(fmt.Errorf("the condition on line %d needs a programming language", c.Line))
	return nil, false
}

// value returns the number that a text is, or the text: where there is no grammar a
// comparison with a number can only mean that.
func value(text string) rule.Value {
	if v := rule.LiteralValue(text); v.Kind == rule.KindInt || v.Kind == rule.KindFloat {
		return v
	}
	return rule.StringValue(text)
}

func (e *evaluation) regex(b *Binding, re *pcre.Regexp) ([][]Binding, bool) {
	m, err := re.Find(b.Text)
	if err != nil {
		e.fail(err)
	}
	if m == nil {
		return nil, false
	}
	return [][]Binding{groups(re, b.Text, m, b.Start)}, true
}

// nested evaluates a formula on the text of a metavariable.
func (e *evaluation) nested(m *Match, b *Binding, c *rule.Condition) ([][]Binding, bool) {
	var matches []Match
	var err error
	if p := e.program.nested[c.Formula]; p != nil {
		matches, err = p.Find(b.Text, Request{Now: e.Now, Nested: e.Nested, Bound: m.Bindings})
	} else if e.Nested != nil {
		matches, err = e.Nested(c.Language, b.Text, c.Formula)
	} else {
		err = fmt.Errorf("the condition on line %d has patterns in %s, which cannot be matched here", c.Line, c.Language)
	}
	if err != nil {
		e.fail(err)
	}
	var out [][]Binding
	for _, n := range matches {
		if !agree(n.Bindings, m.Bindings) {
			continue
		}
		for i := range n.Bindings {
			n.Bindings[i].Start += b.Start
			n.Bindings[i].End += b.Start
		}
		out = append(out, n.Bindings)
	}
	return out, len(out) > 0
}
