package rulematch

import (
	"errors"
	"fmt"
	"slices"

	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
)

// A Compiled is a taint rule with patterns of its own, compiled for one language. It
// is safe for concurrent use.
type Compiled struct {
	rule                                    *rule.Rule
	sources, sinks, sanitizers, propagators []*pattern.Program
}

// Compile compiles the patterns of a rule, for the language of the setting. Errors
// name the line of the rule file.
func Compile(r *rule.Rule, s pattern.Setting) (*Compiled, error) {
	c := &Compiled{rule: r}
	t := r.Taint
	var errs []error
	add := func(list *[]*pattern.Program, f *rule.Formula) {
		p, err := pattern.Compile(f, s)
		errs = append(errs, err)
		*list = append(*list, p)
	}
	for i := range t.Sources {
		add(&c.sources, t.Sources[i].Formula)
	}
	for i := range t.Sinks {
		add(&c.sinks, t.Sinks[i].Formula)
	}
	for i := range t.Sanitizers {
		add(&c.sanitizers, t.Sanitizers[i].Formula)
	}
	for i := range t.Propagators {
		add(&c.propagators, t.Propagators[i].Formula)
	}
	return c, errors.Join(errs...)
}

// Places are what the patterns of one rule match in one file; each list is by the
// rule's sources, sinks and so on.
type Places struct {
	sources, sinks, sanitizers, propagators [][]pattern.Match
}

// Match finds the places of a file. They are nil when neither a source nor a sink is
// among them. An error says that they may not be all.
func (c *Compiled) Match(f *pattern.File) (*Places, error) {
	p := &Places{}
	var errs []error
	find := func(programs []*pattern.Program) [][]pattern.Match {
		var out [][]pattern.Match
		for _, program := range programs {
			m, err := program.Matches(f)
			if err != nil {
				errs = append(errs, fmt.Errorf("rule %s: %w", c.rule.ID, err))
			}
			out = append(out, m)
		}
		return out
	}
	p.sources, p.sinks = find(c.sources), find(c.sinks)
	if !hasMatch(p.sources) && !hasMatch(p.sinks) {
		return nil, errors.Join(errs...)
	}
	p.sanitizers, p.propagators = find(c.sanitizers), find(c.propagators)
	if err := errors.Join(errs...); errors.Is(err, pattern.ErrTimeout) {
		return nil, err // what would be clean is not known
	} else if err != nil {
		return p, err
	}
	return p, nil
}

// hasMatch reports whether one of the lists has a match.
func hasMatch(lists [][]pattern.Match) bool {
	return slices.ContainsFunc(lists, func(l []pattern.Match) bool { return len(l) > 0 })
}
