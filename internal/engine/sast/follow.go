package sast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/frameworks"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/taint"
	"merlon/internal/engine/sast/taint/findings"
	"merlon/internal/engine/sast/tree"
)

// This file has the taint rules answered: it joins the files to a program and makes
// matches of what package taint found.

// knownNames returns the question whether the models of a language know a name. It decides which
// of several wildcard imports a name comes from.
func knownNames(language string) func(string) bool {
	set, err := frameworks.Set(language)
	if err != nil {
		return nil // Check reports it
	}
	return set.Known
}

// followPrograms follows data through the files. Without taint rules there is nothing to do. A
// scan that is local takes each file for a program of its own, which is quicker and finds less.
func (s *Set) followPrograms(ctx context.Context, files []*ir.File, o Options) ([]Match, []Problem) {
	if len(s.taint) == 0 || len(files) == 0 {
		return nil, nil
	}
	models, err := frameworks.Models()
	if err != nil {
		return nil, []Problem{{Err: fmt.Errorf("models: %w", err)}}
	}
	if !o.Local {
		return s.followProgram(ctx, files, models, o)
	}
	return s.followSeparately(ctx, files, models, o)
}

// followSeparately follows data through each file as if it were alone, several files at once. It
// is the mode --fast: flows across files are missed.
func (s *Set) followSeparately(ctx context.Context, files []*ir.File, models []*model.Model,
	o Options) ([]Match, []Problem) {
	type result struct {
		matches  []Match
		problems []Problem
	}
	one := o
	one.Workers, one.Progress = 1, nil
	all, err := runStage(ctx, stage{o, Following}, len(files), func(i int) result {
		m, p := s.followProgram(ctx, files[i:i+1], models, one)
		return result{m, p}
	})
	var matches []Match
	var problems []Problem
	if err != nil {
		problems = []Problem{{Err: fmt.Errorf("following data: %w", err)}}
	}
	for _, r := range all {
		matches = append(matches, r.matches...)
		for _, p := range r.problems {
			if err == nil || !errors.Is(p.Err, err) { // one problem says so for all
				problems = append(problems, p)
			}
		}
	}
	return matches, problems
}

// callUntilDone calls f and returns its result, or the zero value and the error of the context as
// soon as that ends; f then ends by itself. Some steps are long and do not ask for the context.
func callUntilDone[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// followProgram follows data through one program. Problems say in which functions the analysis
// gave up, so that an incomplete result is reported as such.
func (s *Set) followProgram(ctx context.Context, files []*ir.File, models []*model.Model,
	o Options) ([]Match, []Problem) {
	o.reportProgress(Joining, 0, len(files))
	graph, err := callUntilDone(ctx, func() (*callgraph.Graph, error) {
		return callgraph.Build(ctx, files, callgraph.Options{Workers: o.Workers, Modules: o.Modules})
	})
	if err != nil {
		return nil, []Problem{{Err: fmt.Errorf("the call graph: %w", err)}}
	}
	var given []taint.Problem
	found, err := callUntilDone(ctx, func() (found []*findings.Finding, err error) {
		found, given, err = taint.Analyze(ctx, graph, models, s.taint,
			taint.Options{Workers: o.Workers, Properties: o.Properties, Part: o.Local,
				Set: frameworks.Set, Progress: func(done, total int) { o.reportProgress(Following, done, total) }})
		return found, err
	})
	if err != nil {
		return nil, []Problem{{Err: fmt.Errorf("following data: %w", err)}}
	}
	var matches []Match
	for _, f := range found {
		if m := newTaintMatch(f); Applies(m.Rule, m.Path) {
			matches = append(matches, m)
		}
	}
	problems := shareOfCut(graph.SCCs(), given)
	for _, p := range given {
		line := p.Function.File.Tree.Line(p.Function.File.Tree.Nodes[p.Function.Node].Start)
		problems = append(problems, Problem{Path: p.Function.File.Tree.Path, Line: line,
			Err: fmt.Errorf("%w in function %q: %s", errNotFollowed, p.Function.Name, p.Reason)})
	}
	return matches, problems
}

// shareOfCut returns what part of the program is in functions in which data was not
// followed to the end: how much a gap matters, hundreds of places by themselves do not say.
func shareOfCut(units [][]*ir.Function, given []taint.Problem) []Problem {
	if len(given) == 0 {
		return nil
	}
	functions, total, cut := 0, 0, 0
	for _, unit := range units {
		for _, fn := range unit {
			functions, total = functions+1, total+len(fn.Code)
		}
	}
	for _, p := range given {
		cut += len(p.Function.Code)
	}
	return []Problem{{Err: fmt.Errorf("%w in %d of %d functions, which have %.1f %% of the program's instructions",
		errNotFollowed, len(given), functions, 100*float64(cut)/float64(max(total, 1)))}}
}

// errNotFollowed is the error of a function whose budget was not enough.
var errNotFollowed = errors.New("data was not followed to the end")

// newTaintMatch makes a match of a taint finding. The path is that of the data; the finding is at
// the sink unless the rule says otherwise.
func newTaintMatch(f *findings.Finding) Match {
	m := Match{Rule: f.Rule.Rule, Bound: boundTexts(f), Number: f.Number()}
	m.Message = rule.Interpolate(m.Rule.Message, func(name string) (string, bool) {
		if inner, ok := strings.CutPrefix(name, "value("); ok {
			name = strings.TrimSuffix(inner, ")")
		}
		text, ok := m.Bound[name]
		return text, ok
	})
	for i, p := range f.Path {
		step := stepAt(p)
		switch i {
		case 0:
			step.Message = "the data comes from here"
			if f.Expression != nil && *f.Expression == p {
				step.Message = "a text is matched with this regular expression"
			}
		case len(f.Path) - 1:
			step.Message = "the data arrives here"
			if f.Expression != nil && *f.Expression != f.Path[0] {
				beside := stepAt(*f.Expression)
				beside.Message = "it is matched with this regular expression"
				m.Steps = append(m.Steps, beside)
			}
		default:
			step.Message = "the data goes through here"
		}
		m.Steps = append(m.Steps, step)
	}
	end := m.Steps[len(m.Steps)-1]
	m.Path, m.Start, m.End = end.Path, end.Start, end.End
	at, t := f.Match(), f.Sink().File.Tree
	if m.Rule.Options.TaintFocusOnSource {
		start := m.Steps[0]
		m.Path, m.Start, m.End = start.Path, start.Start, start.End
		at, t = f.SourceMatch(), f.Source().File.Tree
	}
	if at != nil {
		m.Start, m.End = positionOf(t, at.Start), positionOf(t, at.End)
	}
	return m
}

// stepAt returns the step at a point; a parameter without a place of its own is the
// file.
func stepAt(p findings.Point) Step {
	t := p.File.Tree
	n := &t.Nodes[max(p.Node, tree.Root)]
	return Step{Path: t.Path, Start: positionOf(t, n.Start), End: positionOf(t, n.End)}
}

// boundTexts returns the texts of the metavariables of source and sink; those of the sink come
// first. Messages of rules may name the metavariables of either.
func boundTexts(f *findings.Finding) map[string]string {
	out := map[string]string{}
	for _, match := range []*pattern.Match{f.SourceMatch(), f.Match()} {
		if match == nil {
			continue
		}
		for _, name := range match.Names() {
			out[name], _ = match.Text(name)
		}
	}
	return out
}

// skippedParts says what of a file could not be looked at: source that is not valid in its
// language, and functions that are too large. They are coverage gaps of the report.
func skippedParts(f *ir.File) []Problem {
	var out []Problem
	for _, s := range f.Skipped {
		out = append(out, Problem{Path: f.Tree.Path, Line: f.Tree.Line(f.Tree.Nodes[s.Node].Start),
			Err: errors.New(s.Reason)})
	}
	return out
}

// GoModules returns the modules whose go.mod files are among the texts, by path; those
// inside of others come before them.
func GoModules(files map[string][]byte) []callgraph.Module {
	var out []callgraph.Module
	for name, text := range files {
		if module := modfile.ModulePath(text); module != "" {
			out = append(out, callgraph.Module{Path: module, Folder: path.Dir(name)})
		}
	}
	slices.SortFunc(out, func(a, b callgraph.Module) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Folder, b.Folder))
	})
	return out
}
