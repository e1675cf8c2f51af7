// Package taint follows data through a whole program: from sources to sinks, as
// models of libraries and rules define them.
//
// Each function is interpreted over abstract values: constants, sets of abstract
// objects with fields, and taint. What a function is given are symbols; so what it
// does comes out as a summary in terms of its inputs, which is applied wherever it
// is called (the functional approach of Sharir and Pnueli, Two approaches to
// interprocedural data flow analysis, 1981). Where a condition, or the function that
// is called, hangs on an input, the function is summarized once more for what the
// caller knows of it. The heap of a function begins with its inputs, whose parts
// come into being when they are looked at.
//
// Globals, and the fields of objects that frameworks make, are joined when all
// summaries are there.
//
// The packages below it, from the bottom up: taintset, value and summary are the data;
// modelindex, rulematch and survey are what is known before the analysis; frame is the
// memory of one function; callsite, guard, libcall and interpret interpret it; scheduler
// runs that for all functions; findings reports.
package taint

import (
	"context"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/findings"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/scheduler"
)

// Options of an analysis.
type Options struct {
	Workers    int               // 0: one for each processor
	Properties map[string]string // what the configuration files of the program say, by key
	// Part says that the program is a part of one: what it exports is for the other
	// parts, so nothing in it is a source of the kind model.Library.
	Part bool
	// Set returns the models of a language, joined, if that is done already; nil: it is
	// done here.
	Set    func(language string) (*model.Set, error)
	Budget scheduler.Budget
	// Progress is told, from several goroutines, how many of the functions, each with
	// those that it and they call in a circle, are done; nil: nobody asks.
	Progress func(done, total int)
}

// A Problem is a function whose analysis was given up. What was found in it until
// then is among the findings.
type Problem struct {
	Function *ir.Function
	Reason   string
}

// Analyze follows data through the program. The findings come in the order of their
// sinks, one for each flaw; they do not depend on the number of workers. The error
// is that of the context.
func Analyze(ctx context.Context, p modelindex.Program, models []*model.Model, rules []*rulematch.Rule,
	o Options) ([]*findings.Finding, []Problem, error) {
	batches, err := divideIntoBatches(models, rules)
	if err != nil {
		return nil, nil, err
	}
	units := p.SCCs()
	all := findings.Set{Best: map[findings.Key]*findings.Finding{}}
	given := map[*ir.Function]string{}
	m := &scheduler.Meter{Total: len(batches) * len(units), Report: o.Progress}
	for _, b := range batches {
		r := b.newRun(p, models, o)
		r.Done = ctx.Done()
		if err := r.Prepare(units); err != nil {
			return nil, nil, err
		}
		s := scheduler.New(r, units, o.Budget, m)
		s.SummarizeAll(ctx, units, o.Workers, given)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		found, whole := findings.Collect(r, &s.Summaries, units, b.rules, o.Part)
		for _, f := range found {
			all.Best[f.Key()] = f
		}
		if !whole {
			given[units[len(units)-1][0]] = "the data flow through global variables and shared objects was cut: " +
				"there is too much of it"
		}
	}
	var problems []Problem
	for _, unit := range units {
		for _, fn := range unit {
			if reason := given[fn]; reason != "" {
				problems = append(problems, Problem{fn, reason})
			}
		}
	}
	return findings.Deduplicate(all.List()), problems, nil
}
