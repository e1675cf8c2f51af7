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
package taint

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
)

// A Rule is a rule in taint mode. Places are what its own patterns match, by the path
// of the file; a rule that asks only for models needs none.
type Rule struct {
	Rule   *rule.Rule
	Places map[string]*Places
}

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
	Budget Budget
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
func Analyze(ctx context.Context, p Program, models []*model.Model, rules []*Rule,
	o Options) ([]*Finding, []Problem, error) {
	batches, err := divide(models, rules)
	if err != nil {
		return nil, nil, err
	}
	units := p.SCCs()
	all := findings{map[findingKey]*Finding{}}
	given := map[*ir.Function]string{}
	m := &meter{total: len(batches) * len(units), tell: o.Progress}
	for _, b := range batches {
		r := b.run(p, models, o)
		r.done, r.meter = ctx.Done(), m
		if err := r.prepare(units); err != nil {
			return nil, nil, err
		}
		r.summarizeAll(ctx, units, o.Workers, given)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		found, whole := r.conclude(units, b.rules)
		for _, f := range found {
			all.best[f.key()] = f
		}
		if !whole {
			given[units[len(units)-1][0]] = "what global variables and shared objects hold was not followed to the " +
				"end: there is too much of it"
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
	return flaws(all.list()), problems, nil
}

// A meter counts what is done.
type meter struct {
	done  atomic.Int64
	total int
	tell  func(done, total int) // nil for nobody
}

// one counts one more, and tells every now and then.
func (m *meter) one() {
	if n := int(m.done.Add(1)); m.tell != nil && (n%64 == 0 || n == m.total) {
		m.tell(n, m.total)
	}
}

// modelled returns the models of a language.
func (r *run) modelled(language string) (*model.Set, error) {
	if r.models != nil && r.options.Set != nil {
		return r.options.Set(language)
	}
	return model.NewSet(language, r.models), nil
}

// prepare looks at the program as a whole.
func (r *run) prepare(units [][]*ir.Function) error {
	r.unitOf = map[*ir.Function][]*ir.Function{}
	r.turns = newTurns(units)
	for _, unit := range units {
		for _, fn := range unit {
			r.unitOf[fn] = unit
			if name := fn.File.Lang.Name; r.sets[name] == nil {
				set, err := r.modelled(name)
				if err != nil {
					return err
				}
				r.sets[name] = set
			}
		}
	}
	if r.marked {
		r.mark(units)
	}
	r.survey(units) // a constant that a rule marks is none
	return nil
}

// A Budget bounds the work, in steps: instructions, what joining states costs, origins that
// calls bring and origins in parts of values. What is over it is given up, and said to
// be. Zero fields take their defaults.
type Budget struct {
	Base     int64 // for all functions together; 60,000,000
	Function int64 // and for each of them; 8,000
	// Task bounds one task, functions that call each other or a summary in a context,
	// with what it asks of others; 10,000,000, which take a processor about five seconds.
	// When little is left, a task may take an eighth of that at most.
	Task  int64
	Least int64 // that a task may always take; 20,000
}

// share is the part of what is left that one task may take.
const share = 8

func (b Budget) withDefaults() Budget {
	b.Base, b.Function = cmp.Or(b.Base, 60_000_000), cmp.Or(b.Function, 8_000)
	b.Task, b.Least = cmp.Or(b.Task, 10_000_000), cmp.Or(b.Least, 20_000)
	return b
}

// task returns what a task may take when so much is left for all.
func (b Budget) task(left int64) int64 { return min(max(left/share, b.Least), b.Task) }

// summarizeAll computes the summary of every function, callees first. It notes the
// functions that are given up, and why.
func (r *run) summarizeAll(ctx context.Context, units [][]*ir.Function, workers int, given map[*ir.Function]string) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	b := r.options.Budget.withDefaults()
	all := b.Base
	for _, unit := range units {
		all += b.Function * int64(len(unit))
	}
	team := make([]*worker, workers)
	for i := range team {
		team[i] = newWorker(r)
	}
	for from := 0; from < len(units) && ctx.Err() == nil; from += span {
		r.turns.budgets = append(r.turns.budgets, b.task(all-r.work.Load()))
		r.summarizeSpan(ctx, team, units[:min(from+span, len(units))], from)
	}
	for _, w := range team {
		w.given(given)
	}
}

// summarizeSpan computes the summaries of the functions from a group on.
func (r *run) summarizeSpan(ctx context.Context, team []*worker, units [][]*ir.Function, from int) {
	var next atomic.Int64
	next.Store(int64(from))
	var wait sync.WaitGroup
	for _, w := range team {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					break
				}
				w.begin(i, r.turns.budget(i))
				for _, fn := range units[i] {
					w.summary(fn, nil)
				}
				w.end()
				r.turns.end(i)
				r.meter.one()
			}
		})
	}
	wait.Wait()
}
