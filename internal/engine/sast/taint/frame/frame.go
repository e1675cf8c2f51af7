// Package frame is the abstract memory of one function: its variables, the table of its
// objects, and what it notes of sinks. The heap of a function begins with its inputs,
// whose parts come into being when they are read.
package frame

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// ReadOptional reads a variable that may be missing.
func (a *Frame) ReadOptional(st *State, v ir.Var) *value.Value {
	if v == ir.NoVar {
		return nil
	}
	return a.Read(st, v)
}

// Captured returns the cell of a variable that a function value shares. A variable
// that is captured before the analysis knows it as shared is read.
func (a *Frame) Captured(st *State, outer ir.Var) *value.Value {
	if outer < 0 {
		return value.Unknown
	}
	return a.cellOf(outer)
}

// A Frame is one function, in one context, as its analysis sees it: the table of its
// objects, the inputs that it was asked for, and what it notes. What is known at one
// point of the function is a state.
type Frame struct {
	Run      *Run
	Function *ir.Function
	Context  summary.Facts
	Scratch  *Scratch

	ids     map[value.ObjectKey]value.ObjectID
	Objects []value.ObjectInfo
	inputs  map[*taintset.Origin]*value.Value
	parts   map[partKey]*value.Value
	// inputIDs has the objects of inputs.
	inputIDs map[*taintset.Origin]value.ObjectID
	detail
	places varPlaces
	Boxed  map[ir.Var]bool // variables that live in cells, because functions share them

	Noting  bool // the last round
	Pending map[summary.SinkKey]*summary.PendingSink
	Needs   map[*taintset.Origin]bool
	Applied map[value.ObjectID]bool // function values that were called
}

// A Scratch is what one worker uses again for every function: memory, and what it has
// looked up. It counts what the work takes.
type Scratch struct {
	idle []*State // whose memory is used again
	Lookups

	Arriving, Deep taintset.Builder // of what calls bring, and of what parts of values hold
	walk           int64            // counts the walks through parts of values
	Steps          int64            // counts the instructions, and what joining states costs
}

// New begins the analysis of a function.
func New(r *Run, s *Scratch, fn *ir.Function, ctx summary.Facts) *Frame {
	whole := r.Marks[fn] != nil || len(fn.Blocks) <= 1 // a state between blocks has all variables
	return &Frame{
		Run: r, Function: fn, Context: ctx, Scratch: s,
		ids: map[value.ObjectKey]value.ObjectID{}, inputs: map[*taintset.Origin]*value.Value{},
		parts: map[partKey]*value.Value{}, inputIDs: map[*taintset.Origin]value.ObjectID{},
		detail: DetailOf(r.UnitOf[fn]), places: r.placeVars(fn, whole), Boxed: r.Boxed[fn],
		Pending: map[summary.SinkKey]*summary.PendingSink{}, Needs: map[*taintset.Origin]bool{},
		Applied: map[value.ObjectID]bool{},
	}
}

// A detail is how much of what functions do is told apart. Functions that call each
// other pass every part of what they are given to each other, in every combination: the
// more there are, the less is told apart.
type detail struct {
	reach  int // parts of a path
	Kept   int // objects of a summary together with their fields
	walk   int // objects whose parts are looked at for the data in a value
	Rounds int // in which functions that call each other are computed
}

// DetailOf returns the detail for functions that call each other.
func DetailOf(unit []*ir.Function) detail {
	switch {
	case len(unit) <= SomeFunctions:
		return detail{taintset.MaxPath, maxKept, maxWalk, MaxRounds}
	case len(unit) <= manyFunctions:
		return detail{2, maxKept / 2, maxWalk / 2, 3}
	}
	return detail{1, maxKept / 5, maxWalk / 8, 2}
}

// These are few enough, and many, to call each other.
const (
	SomeFunctions = 4
	manyFunctions = 16
)

// cellOf returns the object that holds a shared variable.
func (a *Frame) cellOf(v ir.Var) *value.Value {
	if a.Function.Locals[v].Kind == ir.Captured {
		for k, c := range a.Function.Captures {
			if c.Inner == v {
				return a.Input(taintset.Input{Kind: taintset.Capture, Index: int32(k)}, "")
			}
		}
	}
	return &value.Value{Objects: []value.ObjectID{a.ObjectOf(value.ObjectKey{Instruction: -1, Sub: int32(v)},
		value.ObjectInfo{Complete: true})}}
}

// MakeCell makes a cell that holds a value.
func (a *Frame) MakeCell(st *State, i int32, v *value.Value) *value.Value {
	cell := a.Allocate(st, i, 0, value.ObjectInfo{Kind: value.KindObject, Complete: true},
		&value.Object{Size: value.Unsized})
	o := st.Object(cell.Objects[0]).Clone()
	o.Weak = false // the cell of an earlier round is given back
	o.Self = nil
	o.Set(value.CellContent, v, value.MaxFields)
	st.Put(cell.Objects[0], o)
	return cell
}

// ContentOf returns what is in a value that is a cell, and any other value as it is.
func (a *Frame) ContentOf(st *State, v *value.Value) *value.Value {
	id, ok := v.SoleObject()
	if !ok || a.Objects[id].Input != nil {
		return v
	}
	if x, ok := st.Object(id).Get(value.CellContent); ok {
		return value.OrUnknown(x).WithTaint(value.OrUnknown(x).Taint.Union(st.Object(id).Self))
	}
	return v
}

// Read returns the value of a variable.
func (a *Frame) Read(st *State, v ir.Var) *value.Value {
	if v < 0 {
		return value.Unknown
	}
	if a.Function.IsLocal(v) && (a.Boxed[v] || a.Function.Locals[v].Kind == ir.Captured) {
		out := a.Load(st, a.cellOf(v), value.CellContent)
		if out != nil {
			return out.WithAPI(a.Function.Locals[v].Type)
		}
	}
	if x := a.lookUpVariable(st, v); x != nil {
		return x
	}
	return value.Unknown
}

// lookUpVariable returns what a state has of a variable, nil for nothing.
func (a *Frame) lookUpVariable(st *State, v ir.Var) *value.Value {
	if k := int(a.places.of[v]); k < len(st.Vars) {
		return st.Vars[k]
	}
	return nil
}

// Assign sets a variable.
func (a *Frame) Assign(st *State, v ir.Var, x *value.Value) {
	if v < 0 {
		return
	}
	if x == nil {
		x = value.Unknown
	}
	if a.Function.IsLocal(v) {
		l := &a.Function.Locals[v]
		x = x.WithAPI(l.Type)
		if a.Boxed[v] || l.Kind == ir.Captured {
			a.Store(st, a.cellOf(v), value.CellContent, x)
			return
		}
	}
	st.Vars[a.places.of[v]] = x
}

// Need notes that more could be said if the inputs in the value were known.
func (a *Frame) Need(v *value.Value) {
	if v == nil || v.IsKnown() {
		return
	}
	for _, e := range v.Taint {
		if e.Origin.Source == nil && !e.Origin.Deep && !e.Origin.Picked && e.Origin.In.Kind != taintset.Global &&
			strings.Count(e.Origin.Path, taintset.Separator) <= 2 {
			a.Needs[e.Origin] = true
		}
	}
}

// NeedType notes that it would help to know as what models know a parameter.
func (a *Frame) NeedType(v *value.Value) {
	for _, e := range v.Taint {
		if e.Origin.Source == nil && !e.Origin.Deep && !e.Origin.Picked &&
			(e.Origin.In.Kind == taintset.Parameter && (e.Origin.Path == "" || isSharedVariable(e.Origin)) ||
				e.Origin.In.Kind == taintset.Capture && e.Origin.Path == taintset.Separator+value.CellContent ||
				e.Origin.In.Kind == taintset.Receiver && e.Origin.Path != "" &&
					strings.Count(e.Origin.Path, taintset.Separator) == 1) {
			a.Needs[e.Origin] = true
		}
	}
}

// isSharedVariable reports whether an input is a variable that a function value shares, which the
// function was given.
func isSharedVariable(at *taintset.Origin) bool {
	return strings.Count(at.Path, taintset.Separator) == 2 && at.Path[len(taintset.Separator)] == '#' &&
		strings.HasSuffix(at.Path, taintset.Separator+value.CellContent)
}

// StaticType returns the type of an expression as the source says it.
func (a *Frame) StaticType(node int32) string {
	if node < 0 {
		return ""
	}
	return a.Function.File.Names.Type(node)
}

// classOf returns the class of an input, "" when it is not known.
func (a *Frame) classOf(at *taintset.Origin) string {
	if at.In.Kind == taintset.Receiver && at.Path == "" && a.Function.Class != nil {
		return a.Function.Class.Qualified
	}
	return ""
}

// maxKept bounds the objects of a summary together with their fields: it is what each
// call of the function costs. Where many functions call each other it is less.
const maxKept = 120

// MaxRounds bounds how often functions that call each other are computed, and globals.
const MaxRounds = 4
