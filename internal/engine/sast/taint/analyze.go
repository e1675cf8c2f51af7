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
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
)

// A Rule is a rule in taint mode.
type Rule struct {
	Rule *rule.Rule
}

// Options of an analysis.
type Options struct {
	Workers    int               // 0: one for each processor
	Properties map[string]string // what the configuration files of the program say, by key
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
func Analyze(ctx context.Context, p Program, models []*model.Model, rules []*Rule, o Options) ([]*Finding, []Problem, error) {
	r, err := newRun(p, models, o)
	if err != nil {
		return nil, nil, err
	}
	units := p.SCCs()
	r.prepare(units)
	problems := r.summarizeAll(ctx, units, o.Workers)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return r.conclude(units, rules), problems, nil
}

// The bits that no kind of sinks has.
const (
	startBit = 1 << 62
	hostBit  = 1 << 63
)

func newRun(p Program, models []*model.Model, o Options) (*run, error) {
	kinds, err := model.Kinds(models)
	if err != nil {
		return nil, err
	}
	r := &run{program: p, options: o, sets: map[string]*model.Set{}, bits: map[string]uint64{}, startBit: startBit, hostBit: hostBit}
	for i, k := range kinds {
		r.bits[k] = 1 << i
	}
	r.models = models
	return r, nil
}

// prepare looks at the program as a whole.
func (r *run) prepare(units [][]*ir.Function) {
	r.unitOf = map[*ir.Function][]*ir.Function{}
	for _, unit := range units {
		for _, fn := range unit {
			r.unitOf[fn] = unit
			if name := fn.File.Lang.Name; r.sets[name] == nil {
				r.sets[name] = model.NewSet(name, r.models)
			}
		}
	}
	r.survey(units)
}

// summarizeAll computes the summary of every function, callees first.
func (r *run) summarizeAll(ctx context.Context, units [][]*ir.Function, workers int) []Problem {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	var lock sync.Mutex
	over := map[*ir.Function]bool{}
	for range workers {
		wait.Go(func() {
			w := newWorker(r)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					break
				}
				for _, fn := range units[i] {
					w.summary(fn, nil)
				}
			}
			lock.Lock()
			defer lock.Unlock()
			for _, fn := range w.over {
				over[fn] = true
			}
		})
	}
	wait.Wait()
	var problems []Problem
	for _, unit := range units {
		for _, fn := range unit {
			if over[fn] {
				problems = append(problems, Problem{fn, "the function is too large to be analysed whole"})
			}
		}
	}
	return problems
}
