package libcall

import (
	"slices"

	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations that move the elements of lists.

// rearrangeList changes the order of a list in place, or cuts a part out of it and puts
// others there. It answers the list, or the part.
// The operations that only reorder (reverse, sort) return the list itself, splice returns the
// elements that it has removed.
func (m *Call) rearrangeList(op string, l *value.Value, args []*value.Value) *value.Value {
	o := m.Frame.SoleObject(m.State, l)
	list, exact := o.List()
	if op == "splice" {
		return m.spliceList(l, list, exact && !o.Weak, args)
	}
	// A sort is not computed even when all elements are constants: the comparison is often a
	// function of the program.
	if exact && !o.Weak && op == "reverse" {
		list = slices.Clone(list)
		slices.Reverse(list)
		m.setList(l.Objects[0], list)
		return l
	}
	// The elements stay, their positions are not known any more.
	for _, id := range l.Objects {
		c := m.State.Object(id).Clone()
		c.ForgetPositions()
		m.State.Put(id, c)
	}
	return l
}

// setList gives a list other elements.
func (m *Call) setList(id value.ObjectID, list []*value.Value) {
	o := m.State.Object(id).Clone()
	o.SetList(list)
	m.State.Put(id, o)
}

// spliceList removes elements from a position on, and inserts the arguments behind the
// count there.
func (m *Call) spliceList(l *value.Value, list []*value.Value, exact bool, args []*value.Value) *value.Value {
	removed := m.newResult(value.KindList)
	from, ok := constantPosition(operandAt(args, 1), len(list))
	// splice(1) without a count removes everything from the position on. With a count the elements
	// behind it (operands 3 and on) are inserted.
	n := len(list) - from
	if len(args) > 2 {
		n, ok = int(args[2].Constant.Number), ok && args[2].Constant.IsNumber()
	}
	if exact && ok && n >= 0 {
		n = min(n, len(list)-from)
		m.setList(removed.Objects[0], slices.Clone(list[from:from+n]))
		list = slices.Concat(list[:from], args[min(3, len(args)):], list[from+n:])
		m.setList(l.Objects[0], list)
		return removed
	}
	// Weak case: the part may contain any element, and the list may contain any of the inserted
	// ones.
	m.Frame.Need(operandAt(args, 1))
	m.Frame.Spread(m.State, m.Index, removed, l)
	for _, id := range l.Objects {
		o := m.State.Object(id).Clone()
		o.ForgetPositions()
		for _, v := range args[min(3, len(args)):] {
			o.Elements = value.Join(o.Elements, v)
		}
		m.State.Put(id, o)
	}
	return removed.WithTaint(m.Frame.DerivedTaint(l))
}

// joinLists makes a list of a part of one, of several one behind the other, or of one and
// the elements behind it.
func (m *Call) joinLists(op string, l *value.Value, args []*value.Value) *value.Value {
	v := m.newResult(value.KindList)
	// A slice with constant bounds keeps exact elements, so that args[1:] of a list with one
	// tainted element at 0 is clean.
	if list, ok := m.Frame.SoleObject(m.State, l).List(); op == "slice" && ok {
		if part, ok := value.CutList(list, operandOrNil(args, 1), operandOrNil(args, 2)); ok &&
			!m.Frame.SoleObject(m.State, l).Weak {
			m.setList(v.Objects[0], slices.Clone(part))
			return v
		}
	}
	// Otherwise everything of the first list may be in the result.
	m.Frame.Spread(m.State, m.Index, v, l)
	t := m.Frame.DerivedTaint(l)
	// args[k+1] is arg; k+len(m.Args)-len(args)+1 is its index in the call's arguments, which
	// begin without the receiver.
	for k, arg := range args[min(1, len(args)):] {
		switch {
		// The other operands of slice are the bounds, which are numbers.
		case op == "slice":
		case op == "concat" && m.Frame.IsCollection(m.State, arg):
			m.Frame.Spread(m.State, m.Index, v, arg)
		// Go: append(list, others...). The objects are spread, and the value itself is stored
		// under any key for what it carries without objects.
		case op == "append" && m.Args[k+len(m.Args)-len(args)+1].Many:
			m.Frame.Spread(m.State, m.Index, v, &value.Value{Objects: arg.Objects})
			m.Frame.Store(m.State, v, value.AnyKey, arg)
		// An object that is not known to be a list may be one (concat spreads lists) or an
		// element. Both are stored.
		case op == "concat" && len(arg.Objects) > 0:
			m.Frame.Store(m.State, v, value.AnyKey, m.Frame.Load(m.State, arg, value.AnyKey))
			m.Frame.Store(m.State, v, value.AnyKey, arg)
		default:
			// JavaScript concat(x) with a plain value, and append(list, x): one element at the
			// end.
			m.Frame.Push(m.State, v, arg)
		}
		if op == "concat" {
			t = t.Union(m.Frame.DerivedTaint(arg))
		}
	}
	return v.WithTaint(t)
}

// operandOrNil returns the operand, nil when there is none.
// It differs from operandAt: CutList distinguishes a bound that is missing from one that is
// not known.
func operandOrNil(args []*value.Value, i int) *value.Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}
