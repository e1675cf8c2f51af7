package generic

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/rule"
)

// ErrGivenUp is the error of an evaluation that ended before the text did: it offers
// too many ways to match.
var ErrGivenUp = errors.New("the text offers too many ways to match")

const (
	maxMatches = 100_000    // of one leaf of a formula
	maxPairs   = 20_000_000 // of ranges that are compared in one evaluation
)

// A Program is the formula of a rule for generic or regex, compiled. It is safe for
// concurrent use.
type Program struct {
	formula  *rule.Formula
	options  rule.Options
	language string
	leaves   map[*rule.Formula]finder
	nested   map[*rule.Formula]*Program // of conditions, in generic and regex
}

// A finder finds the matches of one pattern.
type finder func(d *text) ([]Match, error)

// Compile reads the patterns of a formula. language is rule.LanguageGeneric or
// rule.LanguageRegex.
func Compile(f *rule.Formula, language string, options rule.Options) (*Program, error) {
	p := &Program{formula: f, options: options, language: language,
		leaves: map[*rule.Formula]finder{}, nested: map[*rule.Formula]*Program{}}
	if err := p.compile(f); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Program) compile(f *rule.Formula) error {
	switch f.Op {
	case rule.OpPattern:
		leaf, err := p.pattern(f)
		if err != nil {
			return fmt.Errorf("the pattern on line %d: %w", f.Line, err)
		}
		p.leaves[f] = leaf
	case rule.OpRegex:
		p.leaves[f] = func(t *text) ([]Match, error) { return findRegex(f.Regex, t.text) }
	}
	for _, c := range f.Children {
		if err := p.compile(c); err != nil {
			return err
		}
	}
	for _, c := range f.Where {
		if c.Formula == nil {
			continue
		}
		language := c.Language
		if language == "" {
			language = p.language
		}
		if language != rule.LanguageGeneric && language != rule.LanguageRegex {
			continue // its patterns have a grammar
		}
		n, err := Compile(c.Formula, language, p.options)
		if err != nil {
			return err
		}
		p.nested[c.Formula] = n
	}
	return nil
}

func (p *Program) pattern(f *rule.Formula) (finder, error) {
	if p.options.GenericEngine == rule.Aliengrep {
		a, err := parseAlien(f.Text, p.options)
		if err != nil {
			return nil, err
		}
		return func(t *text) ([]Match, error) { return a.find(t.text) }, nil
	}
	pattern, err := Parse(f.Text, p.options.GenericMaxSpan)
	if err != nil {
		return nil, err
	}
	return func(t *text) ([]Match, error) {
		matches, complete := pattern.Find(t.document(p.options.GenericComments))
		if !complete {
			return matches, ErrGivenUp
		}
		return matches, nil
	}, nil
}

// findRegex returns the matches of a regular expression. Its groups bind $1, $2 and
// so on, those with a name of metavariables $NAME.
func findRegex(re *pcre.Regexp, text string) ([]Match, error) {
	all, err := re.FindAll(text, maxMatches)
	if err == nil && len(all) == maxMatches {
		err = ErrGivenUp
	}
	out := make([]Match, 0, len(all))
	for _, m := range all {
		out = append(out, Match{Start: m[0], End: m[1], Bindings: groups(re, text, m, 0)})
	}
	return out, err
}

// groups returns the bindings of the groups of a match. base is where the text is in
// its file.
func groups(re *pcre.Regexp, text string, m []int, base int) []Binding {
	var out []Binding
	for i, name := range re.Names() {
		if i == 0 || m[2*i] < 0 {
			continue
		}
		b := Binding{Text: text[m[2*i]:m[2*i+1]], Start: base + m[2*i], End: base + m[2*i+1]}
		b.Name = fmt.Sprintf("$%d", i)
		out = append(out, b)
		if b.Name = "$" + name; rule.IsMetavariable(b.Name) {
			out = append(out, b)
		}
	}
	sortBindings(out)
	return out
}

func sortBindings(all []Binding) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name < all[j].Name })
}

// A Request is what an evaluation needs beside the text.
type Request struct {
	Now time.Time // what today() of a comparison returns

	// Nested evaluates a formula whose patterns are in a programming language on a text.
	// Nil: such a condition is an error.
	Nested func(language, text string, f *rule.Formula) ([]Match, error)

	// Bound are bindings that matches must agree with, for a formula below a condition.
	Bound []Binding
}

// text is a text under evaluation, with what is made of it when it is first asked
// for.
type text struct {
	text string
	doc  *Document
}

func (t *text) document(comments string) *Document {
	if t.doc == nil {
		t.doc = NewDocument(t.text, comments)
	}
	return t.doc
}

// Find evaluates the formula on a text. Matches are in the order of their ranges,
// each range once. With an error come the matches that were found; the error is
// ErrGivenUp or pcre.ErrTimeout when the text is too much for the rule.
func (p *Program) Find(source string, q Request) ([]Match, error) {
	if len(source) > maxText {
		return nil, fmt.Errorf("the text has %d bytes; the limit is %d", len(source), maxText)
	}
	e := &evaluation{Request: q, program: p, text: &text{text: source}, pairs: maxPairs}
	ranges := e.formula(p.formula)
	out := make([]Match, 0, len(ranges))
	for _, r := range ranges {
		out = append(out, r.Match)
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Start != out[j].Start {
			return out[i].Start < out[j].Start
		}
		return out[i].End < out[j].End
	})
	out = slices.CompactFunc(out, func(a, b Match) bool { return a.Start == b.Start && a.End == b.End })
	return out, e.err
}

// A role says what a range is for when it meets others.
type role uint8

const (
	plain role = iota
	inside
	byRegex
	anywhere
)

// A found is a match on its way through a formula.
type found struct {
	Match
	role role
}

type evaluation struct {
	Request
	program *Program
	text    *text
	pairs   int // of ranges that may still be compared
	err     error
}

// fail keeps the first error.
func (e *evaluation) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// formula returns the matches of a formula with its conditions.
func (e *evaluation) formula(f *rule.Formula) []found {
	out := e.operator(f)
	for i := range f.Where {
		out = e.condition(out, &f.Where[i])
	}
	if len(f.Focus) > 0 {
		out = focus(out, f.Focus)
	}
	if f.As != "" {
		for i := range out {
			m := &out[i]
			b := Binding{f.As, e.text.text[m.Start:m.End], m.Start, m.End}
			m.Bindings = merge(m.Bindings, []Binding{b})
		}
	}
	return out
}

func (e *evaluation) operator(f *rule.Formula) []found {
	switch f.Op {
	case rule.OpPattern, rule.OpRegex:
		return e.leaf(f)
	case rule.OpAny:
		var out []found
		for _, c := range f.Children {
			out = append(out, e.formula(c)...)
		}
		return out
	case rule.OpInside:
		return withRole(e.formula(f.Children[0]), inside)
	case rule.OpAnywhere:
		return withRole(e.formula(f.Children[0]), anywhere)
	case rule.OpAll:
		return e.all(f)
	}
	return nil // a negation alone: the parser does not let it through
}

func withRole(all []found, r role) []found {
	for i := range all {
		all[i].role = r
	}
	return all
}

func (e *evaluation) leaf(f *rule.Formula) []found {
	matches, err := e.program.leaves[f](e.text)
	if err != nil {
		e.fail(err)
	}
	var r role
	if f.Op == rule.OpRegex {
		r = byRegex
	}
	out := make([]found, 0, len(matches))
	for _, m := range matches {
		if agree(m.Bindings, e.Bound) {
			out = append(out, found{m, r})
		}
	}
	return out
}

// all joins the members of a conjunction: first what matches by itself, then what
// only surrounds, then the negations.
func (e *evaluation) all(f *rule.Formula) []found {
	var matched, around [][]found
	for _, c := range f.Children {
		if c.Op == rule.OpNot {
			continue
		}
		set := e.formula(c)
		switch {
		case len(set) == 0:
			return nil
		case set[0].role == inside:
			around = append(around, set)
		default:
			matched = append(matched, set)
		}
	}
	sets := append(matched, around...)
	if len(sets) == 0 { // below a condition: the whole text
		sets = [][]found{{{Match: Match{End: len(e.text.text)}}}}
	}
	out := sets[0]
	for _, set := range sets[1:] {
		out = e.intersect(out, set)
	}
	for _, c := range f.Children {
		if c.Op == rule.OpNot && len(out) > 0 {
			out = e.subtract(out, e.formula(c.Children[0]))
		}
	}
	return out
}

// spend counts the pairs of two sets, and says whether there may be so many.
func (e *evaluation) spend(a, b int) bool {
	if e.pairs -= a * b; e.pairs < 0 {
		e.fail(ErrGivenUp)
		return false
	}
	return true
}

// intersect returns the ranges of either set that are inside one of the other.
func (e *evaluation) intersect(a, b []found) []found {
	if !e.spend(len(a), len(b)) {
		return nil
	}
	out := narrow(a, b)
	for _, n := range narrow(b, a) {
		if !slices.ContainsFunc(out[:min(len(out), 64)], func(o found) bool { return same(o, n) }) {
			out = append(out, n)
		}
	}
	return out
}

func same(a, b found) bool {
	return a.Start == b.Start && a.End == b.End && a.role == b.role && slices.Equal(a.Bindings, b.Bindings)
}

// narrow returns the members of a that are inside a member of b, with the bindings
// of both. What surrounds by pattern-inside is no result where something else
// matches around it.
func narrow(a, b []found) []found {
	var out []found
	for _, x := range a {
		for _, y := range b {
			if within(x, y) && (x.role != inside || y.role == inside) {
				out = append(out, found{Match{x.Start, x.End, merge(x.Bindings, y.Bindings)}, x.role})
			}
		}
	}
	return out
}

// within says whether x is inside y, and they agree on what metavariables stand for.
func within(x, y found) bool {
	return (y.Start <= x.Start && x.End <= y.End || y.role == anywhere) && agree(x.Bindings, y.Bindings)
}

// agree says whether two sorted lists bind the same names to the same texts. Numbers
// of groups do not count: authors do not think of them as names.
func agree(a, b []Binding) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := strings.Compare(a[i].Name, b[j].Name); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			if a[i].Text != b[j].Text && (a[i].Name[1] < '0' || a[i].Name[1] > '9') {
				return false
			}
			i++
			j++
		}
	}
	return true
}

// merge adds to a the bindings that only b has.
func merge(a, b []Binding) []Binding {
	var out []Binding
	for _, y := range b {
		if !slices.ContainsFunc(a, func(x Binding) bool { return x.Name == y.Name }) {
			out = append(out, y)
		}
	}
	if out == nil {
		return a
	}
	out = append(out, a...)
	sortBindings(out)
	return out
}

// subtract removes the ranges that a negation forbids: those inside of it for
// pattern-not-inside, the same range for pattern-not, either inside the other for
// pattern-not-regex.
func (e *evaluation) subtract(a, b []found) []found {
	if !e.spend(len(a), len(b)) {
		return nil
	}
	return slices.DeleteFunc(a, func(x found) bool {
		return slices.ContainsFunc(b, func(y found) bool {
			switch y.role {
			case inside:
				return within(x, y)
			case byRegex:
				return within(x, y) || within(y, x)
			case anywhere:
				return true
			}
			return within(x, y) && within(y, x)
		})
	})
}

// focus moves ranges to metavariables. Several lists intersect; of one list any
// metavariable counts.
func focus(all []found, lists [][]string) []found {
	var out []found
	for _, m := range all {
		ranges := []found{m}
		for _, names := range lists {
			var next []found
			for _, r := range ranges {
				for _, name := range names {
					b := m.Get(name)
					if b == nil {
						continue
					}
					switch {
					case r.Start <= b.Start && b.End <= r.End:
						next = append(next, found{Match{b.Start, b.End, m.Bindings}, plain})
					case b.Start <= r.Start && r.End <= b.End:
						next = append(next, r)
					}
				}
			}
			ranges = next
		}
		out = append(out, ranges...)
	}
	return out
}
