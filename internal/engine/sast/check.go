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

// Options say how Check works. The zero value is ready. What is not set costs nothing: without
// Routes no file is searched for them.
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
	// Programs keeps what search rules compile to for the next check; nil for none.
	Programs *Programs
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

// reportProgress tells how far the check is. Nobody may be listening.
func (o *Options) reportProgress(phase Phase, done, total int) {
	if o.Progress != nil {
		o.Progress(Progress{phase, done, total})
	}
}

// A Match is one place at which a rule matched. The steps are empty for search rules.
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

// A Problem is what kept a rule or a file from being checked as a whole. Problems become coverage
// gaps of the report, so each says where and what.
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
	set, problems := compileRules(rules, languagesOf(files), o.Programs)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	results, err := set.checkFiles(ctx, files, o)
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
		whole := set.checkProgram(ctx, results, o)
		matches, problems = append(matches, whole.matches...), append(problems, whole.problems...)
	}
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Start.Offset, b.Start.Offset),
			cmp.Compare(a.End.Offset, b.End.Offset), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return matches, problems
}

// checkFiles checks the files, several at once. The error is that of the context; then the result
// has nil for files that were not checked. Files are independent of each other until data is
// followed.
func (s *Set) checkFiles(ctx context.Context, files []Source, o Options) ([]*checked, error) {
	return runStage(ctx, stage{o, Matching}, len(files), func(i int) *checked { return s.checkFile(ctx, files[i], o) })
}

// A stage is a phase that goes through files, and with what options.
type stage struct {
	Options
	phase Phase
}

// runStage calls do for the numbers below n, several at once, and tells how far it is. The error
// is that of the context; then the result is zero for what was not done, and what is being done
// ends by itself. Results come in any order and are put in that of the files.
func runStage[T any](ctx context.Context, s stage, n int, do func(int) T) ([]T, error) {
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
			s.reportProgress(s.phase, done+1, n)
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	return out, nil
}

// checked is what came of one file. Trees are dropped as soon as a file is lowered, since they
// take most of the memory.
type checked struct {
	ruleResults
	src    Source
	lang   *lang.Language
	seen   *fileResult // of a file in which data is followed; nil for others, and when it is lowered
	key    cache.Key
	lower  []Problem                 // of the lowering, and of the patterns of taint rules
	places map[int]*rulematch.Places // of taint rules with patterns, by their number
	routes *route.Facts              // nil where nobody asks

	lowered *ir.File // for taint rules
}

// A Set is rules that are compiled for their languages. It is safe for concurrent
// use.
type Set struct {
	programs  *Programs // nil for none
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

// A compiled is a rule with the program of its formula for one language.
type compiled struct {
	rule    *rule.Rule
	program *pattern.Program
}

// Compile compiles the rules. A rule that cannot be compiled for one of its
// languages is a problem, and is left out for that one.
func Compile(rules []*rule.Rule) (*Set, []Problem) { return compileRules(rules, all.Languages(), nil) }

// languagesOf returns the languages of the files. Only their patterns are compiled: parsing the
// patterns of all languages would take longer than a small scan.
func languagesOf(files []Source) []*lang.Language {
	var out []*lang.Language
	for _, f := range files {
		if l := f.sourceLanguage(); l != nil && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// sourceLanguage returns the language of the file, nil when it has none.
func (s *Source) sourceLanguage() *lang.Language {
	if s.Language != "" {
		return all.ByName(s.Language)
	}
	return all.ForFile(s.Path)
}

// compileRules compiles the rules for the languages among theirs that are wanted. Compiling for
// the languages of the files alone saves most of the start of a scan.
func compileRules(rules []*rule.Rule, wanted []*lang.Language, kept *Programs) (*Set, []Problem) {
	s := &Set{programs: kept, wanted: wanted, rules: rules, number: map[*rule.Rule]int{}, languages: map[*lang.Language][]compiled{},
		follows: map[*lang.Language]bool{},
		places:  map[*lang.Language][]places{}}
	var problems []Problem
	for i, r := range rules {
		s.number[r] = i
		if r.Taint != nil {
			s.taint = append(s.taint, &rulematch.Rule{Rule: r})
			for _, name := range r.Languages {
				if err := s.addTaintRule(r, name); err != nil {
					problems = append(problems,
						Problem{Rule: r.ID, Err: fmt.Errorf("compile %s for %s: %w", r.ID, name, err)})
				}
			}
			continue
		}
		for _, name := range r.Languages {
			if err := s.addRule(r, name); err != nil {
				problems = append(problems,
					Problem{Rule: r.ID, Err: fmt.Errorf("compile %s for %s: %w", r.ID, name, err)})
			}
		}
	}
	return s, problems
}

// addTaintRule notes that data is followed in every language that the name means, and compiles the
// patterns of the rule, which is the last one. Rules of the build's models have no patterns and
// need no compilation.
func (s *Set) addTaintRule(r *rule.Rule, name string) error {
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

// withPlaces returns the set whose taint rules have the places that were found. The set itself is
// shared and stays as it is.
func (s *Set) withPlaces(found []map[string]*rulematch.Places) *Set {
	out := *s
	out.taint = make([]*rulematch.Rule, len(s.taint))
	for k, r := range s.taint {
		out.taint[k] = &rulematch.Rule{Rule: r.Rule, Places: found[k]}
	}
	return &out
}

// addRule compiles a rule for every language that the name means. A name such as "typescript"
// means several grammars.
func (s *Set) addRule(r *rule.Rule, name string) error {
	setting := Setting(r.Options)
	if name == rule.LanguageGeneric || name == rule.LanguageRegex {
		p, err := s.programs.compileSearch(r, setting)
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
		p, err := s.programs.compileSearch(r, setting)
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
	return pattern.Setting{Options: o, Languages: all.ByName, Text: newTextPattern, Analyze: analyzeText}
}

// checkFile matches the search rules with one file, and lowers it for the taint rules. The order
// of the steps is that of their cost: a file that no rule concerns is not even parsed.
func (s *Set) checkFile(ctx context.Context, src Source, o Options) *checked {
	l := src.sourceLanguage()
	if l != nil && len(s.languages[l]) == 0 && !s.follows[l] {
		l = nil // no rule needs its tree
	}
	if l == nil && len(s.text) == 0 {
		return &checked{}
	}
	x := s.seenFile(ctx, src, l, o)
	out := &checked{src: src, lang: l, key: x.key}
	out.matches = append(x.matches, x.plain.matches...)
	out.problems = append(x.problems, x.plain.problems...)
	if x.tree == nil || o.LeaveTests && lang.Tests(src.Path, src.Text) {
		return out
	}
	if o.Routes != nil && route.Declares(x.tree) {
		out.routes = route.Read(x.scopeInfo(l))
	}
	if !s.follows[l] {
		return out
	}
	if out.seen = x; x.names != nil { // it does not come from the cache
		out.lowerFile(ctx, s)
	}
	return out
}

// lowerFile lowers a file for the taint rules. It is called at once for a file that was parsed,
// and before data is followed for one from the cache, whose results may be known already.
func (c *checked) lowerFile(ctx context.Context, s *Set) {
	x, l := c.seen, c.lang
	if x.names == nil {
		x.names = scope.Analyze(x.tree, l, knownNames(l.Name))
	}
	c.lowered = ir.Lower(x.names, l, ir.Limits{})
	c.lower = skippedParts(c.lowered)
	if len(s.places[l]) > 0 {
		if x.file == nil {
			x.file = pattern.NewFile(x.tree, l, x.names)
		}
		c.findPlaces(ctx, s, l, x.file)
	}
	c.seen = nil
}

// analyzeFile parses one file and matches the search rules with it. A file that is not valid in
// parts is still matched: the grammar recovers.
func (s *Set) analyzeFile(ctx context.Context, src Source, l *lang.Language, limits cst.Limits) *fileResult {
	out := &fileResult{}
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
		m, p := runRules(ctx, s.languages[l], out.file)
		out.matches, out.problems = m, append(out.problems, p...)
	}
	if len(s.text) > 0 {
		out.plain.matches, out.plain.problems = s.matchText(ctx,
			&tree.File{Path: src.Path, Source: unsafe.String(unsafe.SliceData(src.Text), len(src.Text))})
	}
	return out
}

// findPlaces finds the places of the taint rules with patterns. They are found while the tree is
// at hand; the analysis needs only their nodes.
func (c *checked) findPlaces(ctx context.Context, s *Set, l *lang.Language, f *pattern.File) {
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

var errTooMany = fmt.Errorf("the rule matches at more than %d locations; the first of them are reported", maxReported)

// runRules runs compiled rules on one file, until the context ends. A rule that fails does not
// keep the others from running.
func runRules(ctx context.Context, rules []compiled, f *pattern.File) ([]Match, []Problem) {
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
		matches, more := reportMatches(c.rule, f, found)
		out, problems = append(out, matches...), append(problems, more...)
	}
	return out, problems
}

// reportMatches makes results of what a rule matched in a file. Matches of one range with
// other bindings are one result, and their number is bounded.
func reportMatches(r *rule.Rule, f *pattern.File, found []pattern.Match) ([]Match, []Problem) {
	limit := maxReported
	if n := r.Options.MaxMatchesPerFile; n > 0 {
		limit = min(limit, n)
	}
	var out []Match
	var problems []Problem
	var last *pattern.Match
	for i := range found {
		m := &found[i]
		if last != nil && last.Start == m.Start && last.End == m.End {
			continue
		}
		if len(out) == limit {
			if limit == maxReported {
				problems = append(problems, Problem{Rule: r.ID, Path: f.Tree.Path, Err: errTooMany})
			}
			break
		}
		last = m
		match, err := newMatch(r, f, m)
		if err != nil {
			problems = append(problems, Problem{Rule: r.ID, Path: f.Tree.Path, Err: err})
		}
		out = append(out, match)
	}
	return out, problems
}

// newMatch makes what is said of a match. The fix of the formula that matched comes before that of
// the rule.
func newMatch(r *rule.Rule, f *pattern.File, m *pattern.Match) (Match, error) {
	out := Match{Rule: r, Path: f.Tree.Path, Start: positionOf(f.Tree, m.Start), End: positionOf(f.Tree, m.End),
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

// positionOf returns the position of a byte of the file.
func positionOf(f *tree.File, offset uint32) Position {
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
