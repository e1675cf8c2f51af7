package taintset

import (
	"merlon/internal/engine/sast/ir"
)

// A NextStep is one step that is to be added: a place of a function, and the way through
// the function that is called there. The zero value adds none.
type NextStep struct {
	Function *ir.Function
	Node     int32
	Inner    *Step
}

// traceSize returns the size of a trace with the step of the way.
func (w *NextStep) traceSize(trace *Step) int32 {
	if w.Function == nil || w.Inner == nil && trace != nil && trace.Function == w.Function && trace.Node == w.Node {
		return trace.Length()
	}
	return addLengths(1, trace.Length(), w.Inner.Length())
}

// steps makes steps, several at a time: those of one taint live and die together.
type steps struct{ free []Step }

// appendStep returns the trace with the step of a way; more is how many steps may be asked
// for, with this one.
func (s *steps) appendStep(trace *Step, w *NextStep, more int) *Step {
	if w.Inner == nil && trace != nil && trace.Function == w.Function && trace.Node == w.Node {
		return trace
	}
	if len(s.free) == 0 {
		s.free = make([]Step, more)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = Step{Function: w.Function, Node: w.Node, Previous: trace, Inner: w.Inner, size: w.traceSize(trace)}
	return p
}

// A Step is one part of the way of data. Ways share their beginnings.
type Step struct {
	Function *ir.Function
	Node     int32
	Previous *Step // what came before; nil at the origin
	Inner    *Step // the way through the function that is called here
	size     int32
}

// Extend returns the way with one more step.
func Extend(prev *Step, fn *ir.Function, node int32, inner *Step) *Step {
	if inner == nil && prev != nil && prev.Function == fn && prev.Node == node {
		return prev
	}
	return &Step{Function: fn, Node: node, Previous: prev, Inner: inner,
		size: addLengths(1, prev.Length(), inner.Length())}
}

// maxLength bounds the size of a way: ways share their parts, so sizes double.
const maxLength = 1 << 30

// addLengths returns the sum of sizes, maxLength when it is more.
func addLengths(sizes ...int32) int32 {
	sum := int64(0)
	for _, n := range sizes {
		sum += int64(n)
	}
	return int32(min(sum, maxLength))
}

// Length returns the number of steps of a trace, with those through called functions.
func (s *Step) Length() int32 {
	if s == nil {
		return 0
	}
	return s.size
}

// shorterTrace returns the shorter way, the first when both are equal.
func shorterTrace(a, b *Step) *Step {
	if b.Length() < a.Length() {
		return b
	}
	return a
}
