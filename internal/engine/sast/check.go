// Package sast analyses source code: files and rules go in, matches come out. The
// packages below it do the work; docs/sast.md shows how they fit together.
package sast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/route"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/tree"
)

// A Source is a file to check.
type Source struct {
	Path string
	Text []byte
	// Language is the name of the language it is checked as; "" lets the path decide.
	Language string
}

// Options say how Check works. The zero value is ready.
type Options struct {
	Workers    int                // files at a time; 0 is the number of processors
	Limits     cst.Limits         // of parsing one file
	Local      bool               // follow data inside of functions only
	LeaveTests bool               // follow no data in tests (lang.Tests); other rules look at them
	Modules    []callgraph.Module // of Go; see GoModules
	Properties map[string]string  // what configuration files of the program say, by key
	// Cache is what the last check has left, nil for none. Its version stands for the
	// program and the rules.
	Cache    *cache.Cache
	Progress func(Progress) // told how far the check is, from several goroutines; nil for nobody
	// Routes is told what the files offer over HTTP; nil for nobody.
	Routes func([]route.Route)
}

// A Progress tells how far a check is.
type Progress struct {
	Phase       Phase
	Done, Total int // files or, while data is followed, functions with those they call back and forth
}

// A Phase is a part of a check.
type Phase uint8

// The phases, in their order.
const (
	Matching  Phase = iota // files are parsed, and matched with the search rules
	Joining                // the call graph is made
	Following              // data is followed
)

// tell tells how far the check is.
func (o *Options) tell(phase Phase, done, total int) {
	if o.Progress != nil {
		o.Progress(Progress{phase, done, total})
	}
}

// A Match is one place at which a rule matched.
type Match struct {
	Rule    *rule.Rule
	Path    string
	Start   Position
	End     Position
	Message string            // with its metavariables replaced
	Bound   map[string]string // the text of each metavariable
	Fix     *Edit             // nil for none
	Number  bool              // of a taint rule: the data comes in as a number
	Steps   []Step            // of a taint rule: the path of the data, from source to sink
}

// A Step is a station of a path.
type Step struct {
	Path       string
	Start, End Position
	Message    string
}

// A Position is a place in a file.
type Position struct {
	Offset       int // bytes, from 0
	Line, Column int // from 1; the column counts characters
}

// An Edit replaces a part of a file.
type Edit struct {
	Start, End int // bytes
	Text       string
}

// A Problem is what kept a rule or a file from being checked as a whole.
type Problem struct {
	Rule string // id; "" for all rules
	Path string // of the file; "" for all files
	Line int    // 0 for the whole file
	Err  error
}

// Check matches the rules with the files and returns the matches by path and place.
// The result does not depend on the number of workers or the order of the files. When
// the context ends, Check ends at once with what it has, and a problem says so; what
// is being looked at just then ends by itself, within the limits of one file. Rules are
// compiled for the languages of the files only: a fault in a rule for another one is for
// Compile to tell.
func Check(ctx context.Context, rules []*rule.Rule, files []Source, o Options) ([]Match, []Problem) {
	set, problems := compile(rules, languages(files))
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	results, err := set.files(ctx, files, o)
	if err != nil {
		problems = append(problems, Problem{Err: err})
	}
	var matches []Match
	for _, r := range results {
		if r != nil { // nil: the context ended
			matches, problems = append(matches, r.matches...), append(problems, r.problems...)
		}
	}
	if err == nil && o.Routes != nil {
		var facts []*route.Facts
		for _, r := range results {
			if r.routes != nil {
				facts = append(facts, r.routes)
			}
		}
		o.Routes(route.Join(facts))
	}
	if err == nil {
		whole := set.whole(ctx, results, o)
		matches, problems = append(matches, whole.matches...), append(problems, whole.problems...)
	}
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Start.Offset, b.Start.Offset),
			cmp.Compare(a.End.Offset, b.End.Offset), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return matches, problems
}

// files checks the files, several at once. The error is that of the context; then the
// result has nil for files that were not checked.
func (s *Set) files(ctx context.Context, files []Source, o Options) ([]*checked, error) {
	return each(ctx, stage{o, Matching}, len(files), func(i int) *checked { return s.file(ctx, files[i], o) })
}

// A stage is a phase that goes through files, and with what options.
type stage struct {
	Options
	phase Phase
}

// each calls do for the numbers below n, several at once, and tells how far it is. The
// error is that of the context; then the result is zero for what was not done, and what
// is being done ends by itself.
func each[T any](ctx context.Context, s stage, n int, do func(int) T) ([]T, error) {
	type result struct {
		at    int
		value T
	}
	results := make(chan result, n) // so that nobody waits who comes too late
	var next atomic.Int64
	for range min(s.Workers, n) {
		go func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				results <- result{i, do(i)}
			}
		}()
	}
	out := make([]T, n)
	for done := range n {
		select {
		case r := <-results:
			out[r.at] = r.value
			s.tell(s.phase, done+1, n)
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	return out, nil
}

// checked is what came of one file.
type checked struct {
	said
	src    Source
	lang   *lang.Language
	seen   *seen // of a file in which data is followed; nil for others, and when it is lowered
	key    cache.Key
	lower  []Problem                 // of the lowering, and of the patterns of taint rules
	places map[int]*rulematch.Places // of taint rules with patterns, by their number
	routes *route.Facts              // nil where nobody asks

	lowered *ir.File // for taint rules
}

// A Set is rules that are compiled for their languages. It is safe for concurrent
// use.
type Set struct {
	wanted    []*lang.Language
	rules     []*rule.Rule
	number    map[*rule.Rule]int // in rules
	languages map[*lang.Language][]compiled
	text      []compiled // rules for generic and regex
	taint     []*rulematch.Rule
	follows   map[*lang.Language]bool // there is a taint rule for it
	places    map[*lang.Language][]places
}

// places finds the places of a taint rule with patterns.
type places struct {
	rule     int // in Set.taint
	compiled *rulematch.Compiled
}

type compiled struct {
	rule    *rule.Rule
	program *pattern.Program
}

// Compile compiles the rules. A rule that cannot be compiled for one of its
// languages is a problem, and is left out for that one.
func Compile(rules []*rule.Rule) (*Set, []Problem) { return compile(rules, all.Languages()) }

// languages returns the languages of the files.
func languages(files []Source) []*lang.Language {
	var out []*lang.Language
	for _, f := range files {
		if l := f.language(); l != nil && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// language returns the language of the file, nil when it has none.
func (s *Source) language() *lang.Language {
	if s.Language != "" {
		return all.ByName(s.Language)
	}
	return all.ForFile(s.Path)
}

// compile compiles the rules for the languages among theirs that are wanted.
func compile(rules []*rule.Rule, wanted []*lang.Language) (*Set, []Problem) {
	s := &Set{wanted: wanted, rules: rules, number: map[*rule.Rule]int{}, languages: map[*lang.Language][]compiled{},
		follows: map[*lang.Language]bool{},
		places:  map[*lang.Language][]places{}}
	var problems []Problem
	for i, r := range rules {
		s.number[r] = i
		if r.Taint != nil {
			s.taint = append(s.taint, &rulematch.Rule{Rule: r})
			for _, name := range r.Languages {
				if err := s.followAll(r, name); err != nil {
					problems = append(problems,
						Problem{Rule: r.ID, Err: fmt.Errorf("compile %s for %s: %w", r.ID, name, err)})
				}
			}
			continue
		}
		for _, name := range r.Languages {
			if err := s.add(r, name); err != nil {
				problems = append(problems,
					Problem{Rule: r.ID, Err: fmt.Errorf("compile %s for %s: %w", r.ID, name, err)})
			}
		}
	}
	return s, problems
}

// followAll notes that data is followed in every language that the name means, and
// compiles the patterns of the rule, which is the last one.
func (s *Set) followAll(r *rule.Rule, name string) error {
	var errs []error
	for _, l := range s.wanted {
		if !l.Is(name) {
			continue
		}
		s.follows[l] = true
		if len(r.Taint.Sources)+len(r.Taint.Sinks) == 0 {
			continue
		}
		setting := Setting(r.Options)
		setting.Language = l
		c, err := rulematch.Compile(r, setting)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.places[l] = append(s.places[l], places{len(s.taint) - 1, c})
	}
	return errors.Join(errs...)
}

// with returns the set whose taint rules have the places that were found.
func (s *Set) with(found []map[string]*rulematch.Places) *Set {
	out := *s
	out.taint = make([]*rulematch.Rule, len(s.taint))
	for k, r := range s.taint {
		out.taint[k] = &rulematch.Rule{Rule: r.Rule, Places: found[k]}
	}
	return &out
}

// add compiles a rule for every language that the name means.
func (s *Set) add(r *rule.Rule, name string) error {
	setting := Setting(r.Options)
	if name == rule.LanguageGeneric || name == rule.LanguageRegex {
		p, err := pattern.Compile(r.Search, setting)
		if err == nil {
			s.text = append(s.text, compiled{r, p})
		}
		return err
	}
	if !slices.ContainsFunc(all.Languages(), func(l *lang.Language) bool { return l.Is(name) }) {
		return errors.New("no such language is built in")
	}
	var errs []error
	for _, l := range s.wanted {
		if !l.Is(name) {
			continue
		}
		setting.Language = l
		p, err := pattern.Compile(r.Search, setting)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.languages[l] = append(s.languages[l], compiled{r, p})
	}
	return errors.Join(errs...)
}

// Setting returns how formulas of rules with the options are compiled. The language
// is left to be set.
func Setting(o rule.Options) pattern.Setting {
	return pattern.Setting{Options: o, Languages: all.ByName, Text: newTextPattern, Analyze: analyze}
}

// file matches the search rules with one file, and lowers it for the taint rules.
func (s *Set) file(ctx context.Context, src Source, o Options) *checked {
	l := src.language()
	if l != nil && len(s.languages[l]) == 0 && !s.follows[l] {
		l = nil // nobody asks for its tree
	}
	if l == nil && len(s.text) == 0 {
		return &checked{}
	}
	x := s.seen(ctx, src, l, o)
	out := &checked{src: src, lang: l, key: x.key}
	out.matches = append(x.matches, x.plain.matches...)
	out.problems = append(x.problems, x.plain.problems...)
	if x.tree == nil || o.LeaveTests && lang.Tests(src.Path, src.Text) {
		return out
	}
	if o.Routes != nil && route.Declares(x.tree) {
		names := x.names
		if names == nil { // it comes from the cache
			names = scope.Analyze(x.tree, l, knownNames(l.Name))
		}
		out.routes = route.Read(names)
	}
	if !s.follows[l] {
		return out
	}
	if out.seen = x; x.names != nil { // it does not come from the cache
		out.follow(ctx, s)
	}
	return out
}

// follow lowers a file for the taint rules.
func (c *checked) follow(ctx context.Context, s *Set) {
	x, l := c.seen, c.lang
	if x.names == nil {
		x.names = scope.Analyze(x.tree, l, knownNames(l.Name))
	}
	c.lowered = ir.Lower(x.names, l, ir.Limits{})
	c.lower = skipped(c.lowered)
	if len(s.places[l]) > 0 {
		if x.file == nil {
			x.file = pattern.NewFile(x.tree, l, x.names)
		}
		c.find(ctx, s, l, x.file)
	}
	c.seen = nil
}

// look parses one file and matches the search rules with it.
func (s *Set) look(ctx context.Context, src Source, l *lang.Language, limits cst.Limits) *seen {
	out := &seen{}
	if l != nil {
		f, err := l.Parse(src.Path, src.Text, limits)
		if err != nil {
			out.problems = []Problem{{Path: src.Path, Err: err}}
			return out
		}
		if n := len(f.Unknown); n > 0 {
			out.problems = []Problem{{Path: src.Path, Line: f.Line(f.Unknown[0].Start), Err: fmt.Errorf("%d parts of "+
				"the file are not valid %s", n, l.Name)}}
		}
		out.tree, out.names = f, scope.Analyze(f, l, knownNames(l.Name))
		out.file = pattern.NewFile(f, l, out.names)
		m, p := run(ctx, s.languages[l], out.file)
		out.matches, out.problems = m, append(out.problems, p...)
	}
	if len(s.text) > 0 {
		out.plain.matches, out.plain.problems = s.plain(ctx,
			&tree.File{Path: src.Path, Source: unsafe.String(unsafe.SliceData(src.Text), len(src.Text))})
	}
	return out
}

// find finds the places of the taint rules with patterns.
func (c *checked) find(ctx context.Context, s *Set, l *lang.Language, f *pattern.File) {
	c.places = map[int]*rulematch.Places{}
	for _, p := range s.places[l] {
		r := s.taint[p.rule].Rule
		if !Applies(r, f.Tree.Path) {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		f.Limit(r.Options.Timeout(len(f.Tree.Source)))
		found, err := p.compiled.Match(f)
		if err != nil {
			c.lower = append(c.lower, Problem{Rule: r.ID, Path: f.Tree.Path, Err: err})
		}
		if found != nil {
			c.places[p.rule] = found
		}
	}
}

// maxReported bounds what is said of one rule in one file: nobody reads so many.
const maxReported = 10_000

var errTooMany = fmt.Errorf("the rule matches at more than %d places; the first of them are reported", maxReported)

// run runs compiled rules on one file, until the context ends.
func run(ctx context.Context, rules []compiled, f *pattern.File) ([]Match, []Problem) {
	var out []Match
	var problems []Problem
	for _, c := range rules {
		if !Applies(c.rule, f.Tree.Path) {
			continue
		}
		if err := ctx.Err(); err != nil {
			problems = append(problems, Problem{Path: f.Tree.Path, Err: err})
			break
		}
		f.Limit(c.rule.Options.Timeout(len(f.Tree.Source)))
		found, err := c.program.Matches(f)
		if err != nil {
			problems = append(problems, Problem{Rule: c.rule.ID, Path: f.Tree.Path, Err: err})
		}
		limit := maxReported
		if n := c.rule.Options.MaxMatchesPerFile; n > 0 {
			limit = min(limit, n)
		}
		var last *pattern.Match
		reported := 0
		for i := range found {
			m := &found[i]
			if last != nil && last.Start == m.Start && last.End == m.End {
				continue // the same place, with other bindings
			}
			if reported++; reported > limit {
				if limit == maxReported {
					problems = append(problems, Problem{Rule: c.rule.ID, Path: f.Tree.Path, Err: errTooMany})
				}
				break
			}
			last = m
			match, err := report(c.rule, f, m)
			if err != nil {
				problems = append(problems, Problem{Rule: c.rule.ID, Path: f.Tree.Path, Err: err})
			}
			out = append(out, match)
		}
	}
	return out, problems
}

// report makes what is said of a match.
func report(r *rule.Rule, f *pattern.File, m *pattern.Match) (Match, error) {
	out := Match{Rule: r, Path: f.Tree.Path, Start: position(f.Tree, m.Start), End: position(f.Tree, m.End),
		Message: m.Interpolate(r.Message), Bound: map[string]string{}}
	for _, name := range m.Names() {
		out.Bound[name], _ = m.Text(name)
	}
	fix := m.Fix
	if fix == "" {
		fix = r.Fix
	}
	edit := Edit{Start: int(m.Start), End: int(m.End)}
	switch {
	case fix != "":
		edit.Text = m.Interpolate(fix)
		out.Fix = &edit
	case r.FixRegex != nil:
		text, changed, err := pattern.FixRegex(r.FixRegex, f.Tree.Source[m.Start:m.End])
		if err != nil {
			return out, err
		}
		if edit.Text = text; changed {
			out.Fix = &edit
		}
	}
	return out, nil
}

func position(f *tree.File, offset uint32) Position {
	line, column := f.Position(offset)
	return Position{int(offset), line, column}
}

// Apply makes the edits of matches in a text, from its start. An edit that overlaps
// one before it is left out.
func Apply(text string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			continue
		}
		out = append(append(out, text[at:e.Start]...), e.Text...)
		at = e.End
	}
	return string(append(out, text[at:]...))
}
