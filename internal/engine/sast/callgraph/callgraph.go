// Package callgraph joins the files of a program: it gives names their meaning across
// files, knows the classes, and finds for each call the functions that it may run.
//
// Calls are resolved by a points-to analysis of function values, classes and
// objects that ignores the order of statements: Andersen's analysis (Program
// Analysis and Specialization for the C Programming Language, 1994) with one object
// for all instances of a class, one for each collection literal, and sets that are
// bounded. A method call whose receiver is not known that way goes to the methods
// that its declared type allows, among classes that the program instantiates if
// there are any (Bacon and Sweeney, Fast Static Analysis of C++ Virtual Function
// Calls, 1996).
//
// The result does not depend on the order of the files or the number of workers.
package callgraph

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/ir"
)

// Options say how a graph is built. The zero value is good.
type Options struct {
	Workers int // 0 is one for each core
	// Modules tells where the modules of Go are, as their go.mod files say.
	Modules []Module
	// MaxTargets bounds the functions that one call may run; 0 is 40.
	MaxTargets int
}

// A Module is a module of Go. Its path is that of the line "module" in go.mod.
type Module struct {
	Path   string // "example.org/app"
	Folder string // slash-separated, "" or "." for the root
}

// A Graph is a program: its files, functions, classes and calls. It is safe for
// concurrent use.
type Graph struct {
	Files     []*ir.File     // by path
	Functions []*ir.Function // by ID
	Classes   []*ir.Class    // by ID

	// Truncated counts the targets of calls that were left out because a call has no
	// more, Full the variables, fields and results that hold as many values as they may
	// and so may lack some.
	Truncated, Full int

	hierarchy
	callBase  []int32 // by function: the number of its first call
	varBase   []int32 // by function: the node of its first variable
	targets   [][]int32
	callbacks [][]int32 // functions that an unknown callee is given
	allocates []int32   // by call: 1 + the class that it makes an object of
	heldIndex []int32   // by variable: its place in held
	held      [][]value
	sccs      [][]*ir.Function
	exposed   map[string][]int32 // by module: the functions that its value holds
}

// Build joins the files. It sets the IDs of functions and classes, and makes the
// qualified names in the files those of the program: a name that another file
// declares is changed to the name that it has there. It fails only when the context
// ends.
func Build(ctx context.Context, files []*ir.File, o Options) (*Graph, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxTargets <= 0 {
		o.MaxTargets = 40
	}
	g := &Graph{Files: slices.Clone(files)}
	slices.SortStableFunc(g.Files, func(a, b *ir.File) int { return cmp.Compare(a.Tree.Path, b.Tree.Path) })
	for _, f := range g.Files {
		for _, fn := range f.Functions {
			fn.ID = int32(len(g.Functions))
			g.Functions = append(g.Functions, fn)
		}
		for _, c := range f.Classes {
			c.ID = int32(len(g.Classes))
			g.Classes = append(g.Classes, c)
		}
	}
	l := newLinker(g.Files, o.Modules)
	runParallel(o.Workers, len(g.Files), func(i int) { l.linkFile(g.Files[i]) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.hierarchy.buildClasses(g)
	t := newTypes(g)
	runParallel(o.Workers, len(g.Functions), func(i int) { t.typeCalls(g.Functions[i]) })
	s := newSolver(g, o)
	if err := s.solveCalls(ctx); err != nil {
		return nil, err
	}
	g.sccs = g.findComponents()
	return g, nil
}

// runParallel calls f for every number below n, on several goroutines. Functions and files are
// independent of each other in the passes that use it, so the result does not depend on the
// workers.
func runParallel(workers, n int, f func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// callNumber returns the number of a call in the program. Results are kept by call in arrays of
// the whole program.
func (g *Graph) callNumber(fn *ir.Function, c *ir.Call) int32 {
	return g.callBase[fn.ID] + fn.Code[c.Instr].X
}

// Targets returns the functions that the call may run, by ID. None means that it
// leaves the program, or that nothing is known of the callee.
func (g *Graph) Targets(fn *ir.Function, c *ir.Call) []*ir.Function {
	return g.functionList(g.targets[g.callNumber(fn, c)])
}

// Callbacks returns the functions of the program that a call without targets is
// given as arguments, which the callee may run.
func (g *Graph) Callbacks(fn *ir.Function, c *ir.Call) []*ir.Function {
	return g.functionList(g.callbacks[g.callNumber(fn, c)])
}

// functionList returns the functions with the IDs. The graph keeps numbers, which are a quarter as
// large as pointers and nothing for the garbage collector to follow.
func (g *Graph) functionList(ids []int32) []*ir.Function {
	if len(ids) == 0 {
		return nil
	}
	list := make([]*ir.Function, len(ids))
	for i, id := range ids {
		list[i] = g.Functions[id]
	}
	return list
}

// Allocates returns the class of the program that the call makes an object of, nil
// when it makes none or it is not certain. Its Targets are the constructors.
func (g *Graph) Allocates(fn *ir.Function, c *ir.Call) *ir.Class {
	if i := g.allocates[g.callNumber(fn, c)]; i > 0 {
		return g.Classes[i-1]
	}
	return nil
}

// FunctionValues returns the functions that a variable may hold, by ID. Package taint uses it to
// follow callbacks that are stored.
func (g *Graph) FunctionValues(fn *ir.Function, v ir.Var) []*ir.Function {
	var list []*ir.Function
	for _, x := range g.valuesOf(fn, v) {
		if x.kind() == functionValue {
			list = append(list, g.Functions[x.index()])
		}
	}
	slices.SortFunc(list, func(a, b *ir.Function) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Instances returns the classes whose objects a variable may hold, by ID. It is empty for a
// variable whose class is not part of the program.
func (g *Graph) Instances(fn *ir.Function, v ir.Var) []*ir.Class {
	var list []*ir.Class
	for _, x := range g.valuesOf(fn, v) {
		if x.kind() == instanceValue {
			list = append(list, g.Classes[x.index()])
		}
	}
	slices.SortFunc(list, func(a, b *ir.Class) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// valuesOf returns what the analysis has found that a variable may hold; nothing for a variable of
// another function.
func (g *Graph) valuesOf(fn *ir.Function, v ir.Var) []value {
	if v < 0 || int(v) >= fn.Vars {
		return nil
	}
	return g.held[g.heldIndex[g.varBase[fn.ID]+int32(v)]]
}

// SCCs returns the strongly connected components of the call graph, callees before
// callers; functions in a component by ID. Callbacks and the functions nested in a
// function count as called by it.
func (g *Graph) SCCs() [][]*ir.Function { return g.sccs }
