package model

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// A Set answers what the models of one language know of a name. It is safe for
// use by several goroutines.
type Set struct {
	exact map[string][]*Entry
	globs map[string][]glob // by the last part; "*" for those whose last part has a star
	super map[string][]string
	hides map[string]bool
	memo  sync.Map // name → *Matches

	literals []*Entry
	guards   map[string]bool // the last parts of the names of guards
	known    map[string]bool // every name, and every name before a dot
}

// A glob is a name with stars. Comparing both ends first spares most runs of the expression.
type glob struct {
	before, behind string // the first star, and the last one
	re             *regexp.Regexp
	entry          *Entry
}

// matches reports whether the glob means the name. Most names end otherwise already.
func (g *glob) matches(name string) bool {
	return len(name) >= len(g.before)+len(g.behind) && strings.HasPrefix(name, g.before) &&
		strings.HasSuffix(name, g.behind) &&
		g.re.MatchString(name)
}

// Matches are the entries for one name, by section, in the order of the models.
type Matches [sections][]*Entry

// Empty reports whether nothing is known. Most names of a program are in no model.
func (m *Matches) Empty() bool {
	for _, list := range m {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// dialects has the languages whose models are those of another.
var dialects = map[string]string{"tsx": "typescript", "component": "typescript"}

// NewSet joins the models that speak of the language. The order of the models does
// not matter.
func NewSet(language string, models []*Model) *Set {
	s := &Set{exact: map[string][]*Entry{}, globs: map[string][]glob{}, super: map[string][]string{},
		hides: map[string]bool{}, known: map[string]bool{}, guards: map[string]bool{}}
	if of := dialects[language]; of != "" {
		language = of
	}
	models = slices.Clone(models)
	sort.SliceStable(models, func(i, j int) bool { return models[i].File < models[j].File })
	for _, m := range models {
		if !slices.Contains(m.Languages, language) {
			continue
		}
		for _, e := range m.Entries {
			s.addEntry(e)
		}
	}
	s.markHidden()
	return s
}

// addEntry enters an entry under its name, or among the patterns if the name has stars. Every name
// that it speaks of is noted as known, before it is sorted in. Entries with stars are kept by the
// last part of their names, so that a lookup tries only those that end alike.
func (s *Set) addEntry(e *Entry) {
	s.addKnown(e.Name)
	s.addKnown(e.Type)
	for _, name := range e.Extends {
		s.addKnown(name)
	}
	if e.Section == Guards {
		s.guards[Last(e.Name)] = true
	}
	switch {
	case e.Form == Literal:
		s.literals = append(s.literals, e)
	case len(e.Extends) > 0:
		s.super[e.Name] = append(s.super[e.Name], e.Extends...)
	case strings.Contains(e.Name, "*"):
		last := Last(e.Name)
		if strings.Contains(last, "*") {
			last = "*"
		}
		s.globs[last] = append(s.globs[last], newGlob(e))
	default:
		s.exact[e.Name] = append(s.exact[e.Name], e)
	}
}

// addKnown notes a name and the names before its dots, up to the first star. The names before its
// dots are modules and classes.
func (s *Set) addKnown(name string) {
	if i := strings.IndexByte(name, '*'); i >= 0 {
		name = name[:strings.LastIndexByte(name[:i], '.')+1]
	}
	for name != "" && !s.known[name] {
		s.known[name] = true
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
}

// Known reports whether the models speak of the type, module or function. It tells
// which of several modules that are imported as a whole a name may come from.
func (s *Set) Known(name string) bool { return s.known[name] }

// Guards reports whether a function or method of the name may be a guard.
func (s *Set) Guards(name string) bool { return s.guards[name] }

// Last returns the part of a name behind the last dot.
func Last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// newGlob makes "*" match within a part and "**" anything. The text in front of the first star and
// behind the last one is compared before the expression.
func newGlob(e *Entry) glob {
	re := regexp.QuoteMeta(e.Name)
	re = strings.ReplaceAll(re, `\*\*`, `.*`)
	re = strings.ReplaceAll(re, `\*`, `[^.]*`)
	return glob{e.Name[:strings.IndexByte(e.Name, '*')], e.Name[strings.LastIndexByte(e.Name, '*')+1:],
		regexp.MustCompile(`^(?:` + re + `)$`), e}
}

// Match returns the entries for the name, never nil. Results are kept by name: a program names few
// things many times.
func (s *Set) Match(name string) *Matches {
	if m, ok := s.memo.Load(name); ok {
		return m.(*Matches)
	}
	var m Matches
	for _, e := range s.exact[name] {
		m[e.Section] = append(m[e.Section], e)
	}
	for _, last := range []string{Last(name), "*"} {
		for i := range s.globs[last] {
			if g := &s.globs[last][i]; g.matches(name) {
				m[g.entry.Section] = append(m[g.entry.Section], g.entry)
			}
		}
	}
	all := nothing
	if !m.Empty() {
		all = &m
	}
	got, _ := s.memo.LoadOrStore(name, all)
	return got.(*Matches)
}

// nothing is what models say of most names.
var nothing = &Matches{}

// HidesSink reports whether a call on a value of the type may be a sink because the
// value is of a subtype: a java.io.PrintWriter may write a page.
func (s *Set) HidesSink(name string) bool { return s.hides[name] }

// markHidden marks the types above those that have sinks of their own. So the analysis knows to
// look at the dynamic type of a receiver.
func (s *Set) markHidden() {
	for name, entries := range s.exact {
		if !slices.ContainsFunc(entries, func(e *Entry) bool { return e.Section == Sinks }) {
			continue
		}
		above := s.super[strings.TrimSuffix(name, "."+Last(name))]
		for n := 0; len(above) > 0 && n < 100; n++ { // a cycle ends too
			s.hides[above[0]] = true
			above = append(above[1:len(above):len(above)], s.super[above[0]]...)
		}
	}
}

// Supertypes returns the direct supertypes that the models give a type.
func (s *Set) Supertypes(name string) []string { return s.super[name] }

// Literals returns the sources that are literals.
func (s *Set) Literals() []*Entry { return s.literals }

// Speaks reports whether a model has an entry of the section and the kind. The kinds
// of sources that the analysis makes are always there.
func Speaks(models []*Model, section Section) func(kind string) bool {
	known := map[string]bool{}
	for _, kind := range []string{Library, ExponentialExpression, PolynomialExpression, RescanningExpression} {
		known[kind] = section == Sources
	}
	for _, m := range models {
		for _, e := range m.Entries {
			if e.Section == section {
				known[e.Kind] = true
			}
		}
	}
	return func(kind string) bool { return known[kind] }
}

// Kinds numbers the kinds of sinks, sanitizers and guards of the models, so that
// they fit the bits of a word; All has no number.
func Kinds(models []*Model) ([]string, error) {
	seen := map[string]bool{}
	for _, m := range models {
		for _, e := range m.Entries {
			if e.Section == Sinks || (e.Section == Sanitizers || e.Section == Guards) && e.Kind != All {
				seen[e.Kind] = true
			}
		}
	}
	var kinds []string
	for k := range seen {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	if len(kinds) > maxKinds {
		return nil, fmt.Errorf("the models have %d kinds of sinks, more than %d", len(kinds), maxKinds)
	}
	return kinds, nil
}
