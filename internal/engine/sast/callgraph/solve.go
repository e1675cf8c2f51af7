package callgraph

import (
	"context"
	"slices"

	"merlon/internal/engine/sast/ir"
)

// maxValues bounds what one variable may hold.
const maxValues = 24

// A value is what the analysis follows: a kind in the low bits, a number above. As a number it can
// be compared and stored cheaply; there are millions of them in sets.
type value int32

// A valueKind says what a value stands for.
type valueKind int32

const (
	functionValue valueKind = iota // a function
	classValue                     // a class
	instanceValue                  // any object of a class
	madeValue                      // any object that a function makes when it is called with new; its prototype
	siteValue                      // what one instruction makes: a literal, an object of an unknown class
	packValue                      // the rest parameter of a function, or what a generator yields
	moduleValue                    // a file as a module
	kindBits      = 3
)

// newValue returns the value of a kind with a number.
func newValue(k valueKind, index int32) value { return value(index<<kindBits | int32(k)) }

// kind returns what the value stands for.
func (v value) kind() valueKind { return valueKind(v & (1<<kindBits - 1)) }

// index returns the number of the value among those of its kind.
func (v value) index() int32 { return int32(v) >> kindBits }

// A solver finds what variables hold. Nodes stand for variables, results, globals
// and fields; edges lead from a node to those that hold what it holds; a watch acts
// on every value that reaches its node.
type solver struct {
	*Graph
	limit int

	set   []int32   // by node: its place in sets, 0 for the empty one
	pool  [][]value // sets
	first []int32   // by node: its first edge, or -1
	edges []edge
	watch []int32 // by node: its first watch, or -1
	acts  []watchAction

	result   int32 // the node of the result of function 0
	globals  map[string]int32
	fields   map[fieldKey]int32
	fieldsOf map[value][]fieldName // the fields of an object that have nodes
	protos   map[value][]value     // objects whose fields an object has too
	heirs    map[value][]int32     // by object: the functions that have it as their prototype
	sites    int32
	modules  map[string]int32 // files, by the module's name

	queue        []arrival
	solving      bool
	known        map[int64]struct{} // edges that were made while solving
	fieldNumbers map[string]int32   // numbers of field names
	opened       []bool             // by call: it was treated as leaving the program
}

// An edge leads to a node; next is the next edge of the same node, since lists of edges share one
// array.
type edge struct{ to, next int32 }

// An arrival is a value that has reached a node and has yet to be passed on.
type arrival struct {
	node int32
	v    value
}

// A fieldKey identifies the field of a value.
type fieldKey struct {
	of   value
	name int32
}

// A fieldName is a field of a value with its node.
type fieldName struct{ name, node int32 }

// A watchAction is what a watch does with each value that reaches its node.
type watchAction struct {
	kind action
	fn   int32
	at   int32 // an instruction, or the number of an argument
	next int32
	name int32 // of a field; a node
}

// An action is what a watch does with a value that arrives.
type action uint8

const (
	doLoad     action = iota // name is the field; the value goes to Dst
	doLoadAll                // any element
	doStore                  // name is the field; what is stored is a node in at
	doDispatch               // the receiver of a method call
	doCall                   // the callee of a call
	doSpread                 // elements of a spread argument
	doCallback               // an argument of an unknown callee; name is the node of its receiver
	doFluent                 // a receiver that its method may return; at is the node of the result
	doProto                  // becomes the prototype of what the function in at makes
	doMethod                 // becomes a method of what the function in at makes
)

// newSolver numbers the calls and variables of the program. Nodes of variables and results come
// first, so that they need no map.
func newSolver(g *Graph, o Options) *solver {
	s := &solver{Graph: g, limit: o.MaxTargets, globals: map[string]int32{}, fields: map[fieldKey]int32{},
		fieldsOf: map[value][]fieldName{}, protos: map[value][]value{}, heirs: map[value][]int32{},
		fieldNumbers: map[string]int32{}, pool: make([][]value, 1)}
	calls, vars := int32(0), int32(0)
	g.callBase, g.varBase = make([]int32, len(g.Functions)), make([]int32, len(g.Functions))
	for i, fn := range g.Functions {
		g.callBase[i], g.varBase[i] = calls, vars
		calls += int32(len(fn.Calls))
		vars += int32(fn.Vars)
	}
	g.targets, g.callbacks, g.allocates = make([][]int32, calls), make([][]int32, calls), make([]int32, calls)
	s.modules = map[string]int32{}
	for i, f := range g.Files {
		if _, ok := s.modules[f.Module]; !ok && f.Lang.Semantics.FileModule && f.Module != "" {
			s.modules[f.Module] = int32(i)
		}
	}
	s.opened = make([]bool, calls)
	s.result = vars
	s.growNodes(int(vars) + len(g.Functions))
	return s
}

// keepValues leaves in the graph what variables hold. The solver's own tables are then freed.
// Only nodes of variables are kept: fields and results are of no use without the solver.
func (s *solver) keepValues() {
	s.heldIndex, s.held = slices.Clone(s.set[:s.result]), make([][]value, 1)
	for i, p := range s.heldIndex {
		if p != 0 {
			s.heldIndex[i] = int32(len(s.held))
			s.held = append(s.held, s.pool[p])
		}
	}
}

// growNodes makes room for nodes. Slices are kept parallel, so that a node is only a number.
// Nothing flows from a new node, and nobody waits for its values: both lists are empty, which -1
// says.
func (s *solver) growNodes(n int) {
	from := len(s.set)
	s.set = append(s.set, make([]int32, n)...)
	s.first = append(s.first, make([]int32, n)...)
	s.watch = append(s.watch, make([]int32, n)...)
	for i := from; i < len(s.set); i++ {
		s.first[i], s.watch[i] = -1, -1
	}
}

// newNode returns a node that holds nothing yet.
func (s *solver) newNode() int32 {
	s.growNodes(1)
	return int32(len(s.set) - 1)
}

// variableNode returns the node of a variable.
func (s *solver) variableNode(fn *ir.Function, v ir.Var) int32 { return s.varBase[fn.ID] + int32(v) }

// resultNode returns the node of what a function returns.
func (s *solver) resultNode(fn int32) int32 { return s.result + fn }

// globalNode returns the node of the global with the qualified name. Files that use a global
// before the file that declares it is read share the node with it.
func (s *solver) globalNode(q string) int32 {
	n, ok := s.globals[q]
	if !ok {
		n = s.newNode()
		s.globals[q] = n
	}
	return n
}

// fieldNumber returns the number of a field's name, which keys compare faster than the text.
func (s *solver) fieldNumber(name string) int32 {
	n, ok := s.fieldNumbers[name]
	if !ok {
		n = int32(len(s.fieldNumbers))
		s.fieldNumbers[name] = n
	}
	return n
}

// fieldNode returns the node of a field of an object. Objects with prototypes inherit their
// fields, also those that appear later.
func (s *solver) fieldNode(of value, name int32) int32 {
	k := fieldKey{of, name}
	n, ok := s.fields[k]
	if !ok {
		n = s.newNode()
		s.fields[k] = n
		s.fieldsOf[of] = append(s.fieldsOf[of], fieldName{name, n})
		for _, p := range s.protos[of] {
			s.addEdge(s.fieldNode(p, name), n)
		}
		for _, maker := range s.heirs[of] {
			s.addWatch(n, watchAction{kind: doMethod, at: maker})
		}
	}
	return n
}

// addValue puts a value into a node. Sets are bounded: a node that would hold more holds the first
// ones, which is counted in Full.
func (s *solver) addValue(node int32, v value) {
	p := s.set[node]
	if p == 0 {
		s.pool = append(s.pool, nil)
		p = int32(len(s.pool) - 1)
		s.set[node] = p
	}
	set := s.pool[p]
	if len(set) >= maxValues || slices.Contains(set, v) {
		return
	}
	if s.pool[p] = append(set, v); len(set)+1 == maxValues {
		s.Full++
	}
	s.queue = append(s.queue, arrival{node, v})
}

// addEdge makes one node hold what another one holds. Values that are there already flow at once.
func (s *solver) addEdge(from, to int32) {
	if from == to {
		return
	}
	if s.solving { // an instruction has its edges once, but many values can ask for the same
		k := int64(from)<<32 | int64(to)
		if _, ok := s.known[k]; ok {
			return
		}
		s.known[k] = struct{}{}
	}
	s.edges = append(s.edges, edge{to, s.first[from]})
	s.first[from] = int32(len(s.edges) - 1)
	for _, v := range s.pool[s.set[from]] {
		s.addValue(to, v)
	}
}

// addWatch makes the act happen for each value of the node. Values that are there already are
// handled at once.
func (s *solver) addWatch(node int32, a watchAction) {
	a.next = s.watch[node]
	s.acts = append(s.acts, a)
	s.watch[node] = int32(len(s.acts) - 1)
	for _, v := range slices.Clone(s.pool[s.set[node]]) {
		s.runWatch(a, v)
	}
}

// solveCalls finds all targets. The later passes are for calls that have no target: first those
// that surely leave the program, then by declared type, then the rest.
func (s *solver) solveCalls(ctx context.Context) error {
	for _, fn := range s.Functions {
		s.addConstraints(fn)
	}
	s.solving, s.known = true, map[int64]struct{}{}
	s.seedReceivers()
	if err := s.propagate(ctx); err != nil {
		return err
	}
	for _, pass := range []func(*ir.Function, *ir.Call){s.treatUntypedAsUnknown, s.linkByType, s.treatAsUnknown} {
		for _, fn := range s.Functions {
			for i := range fn.Calls {
				if c := &fn.Calls[i]; len(s.targets[s.callNumber(fn, c)]) == 0 {
					pass(fn, c)
				}
			}
		}
		if err := s.propagate(ctx); err != nil {
			return err
		}
	}
	s.keepValues()
	s.findExposed()
	for i := range s.targets {
		slices.Sort(s.targets[i])
		slices.Sort(s.callbacks[i])
	}
	return nil
}

// propagate spreads values until nothing changes. Values are passed on in the order of their
// arrival, so that the result is the same in every run.
func (s *solver) propagate(ctx context.Context) error {
	for n := 0; len(s.queue) > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		batch := s.queue
		s.queue = nil
		for _, a := range batch {
			for e := s.first[a.node]; e >= 0; e = s.edges[e].next {
				s.addValue(s.edges[e].to, a.v)
			}
			for w := s.watch[a.node]; w >= 0; w = s.acts[w].next {
				s.runWatch(s.acts[w], a.v)
			}
		}
	}
	return nil
}
