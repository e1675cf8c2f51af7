package libcall

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/value"
)

// This file computes the operations of lists that models name "list.…": append and remove of
// Python, push and shift of JavaScript, add and get of Java.
//
// An object keeps its elements one by one (exact) only while one object is meant and each
// change happens at a constant position. Otherwise the positions are forgotten and all
// elements share one value, Elements, so that no flow is lost when an index is not known.

// listOperation computes with a list.
// It returns false for an operation that it does not know; the general rules for library calls
// then apply.
func (m *Call) listOperation(op string, args []*value.Value) (*value.Value, bool) {
	switch op {
	case "new", "of", "copy":
		return m.newList(op, args), true
	}
	l := operandAt(args, 0)
	switch op {
	// The new elements are in the object. What add and set return is a count or a truth value.
	case "add", "prepend", "insert", "addall", "set", "clear":
		m.changeList(op, l, args)
		return value.Unknown, true
	case "remove", "pop", "shift":
		return m.takeFrom(op, l, args), true
	case "get", "first", "last":
		return m.elementAt(op, l, args), true
	case "size":
		// A weak object stands for several runs of the same allocation (a loop), so its length is
		// the length of none of them.
		if list, ok := m.Frame.SoleObject(m.State, l).List(); ok && !m.Frame.SoleObject(m.State, l).Weak {
			return value.FromInt(float64(len(list))), true
		}
		return &value.Value{Kind: value.KindNumber}, true
	case "contains":
		return &value.Value{Kind: value.KindBool}, true
	case "reverse", "sort", "splice":
		return m.rearrangeList(op, l, args), true
	case "slice", "concat", "append":
		return m.joinLists(op, l, args), true
	case "elements":
		// "elements" is the iterator of a list. It is an object of its own, with all elements
		// under one key, since the order in which a program takes them does not matter.
		v := m.newResult(value.KindObject)
		m.Frame.Store(m.State, v, value.AnyKey, m.Frame.Load(m.State, l, value.AnyKey))
		return v, true
	}
	return nil, false
}

// newList makes a list: empty, of the arguments, or of the elements of one.
// A constructor call has its object already: the receiver that the instruction allocated. A
// function such as List.of gets a new one.
func (m *Call) newList(op string, args []*value.Value) *value.Value {
	v := m.Receiver
	if v == nil || m.Call.Kind != ir.CallNew {
		v = m.newResult(value.KindList)
	}
	id := v.Objects[0]
	m.Frame.Objects[id].Kind, m.Frame.Objects[id].Complete = value.KindList, true
	o := &value.Object{}
	switch op {
	// List.of(array) and Arrays.asList(array) have variable arguments: the only argument that is a
	// collection is the list of the arguments, not the first element.
	case "of":
		if len(args) == 1 && m.Frame.IsCollection(m.State, args[0]) {
			return args[0]
		}
		o.SetList(slices.Clone(args))
	case "copy":
		from := operandAt(args, 0)
		if list, ok := m.Frame.SoleObject(m.State, from).List(); ok {
			o.SetList(list)
		} else {
			// The source is not known exactly: the copy has any length and contains whatever the
			// source contains.
			o.Size = value.Unsized
			if len(args) > 0 {
				o.Elements = m.Frame.Load(m.State, from, value.AnyKey)
			}
		}
	}
	// In a loop the same instruction makes the list again. The list of an earlier round may still
	// be alive, so that the object has the elements of both.
	if old := m.State.Object(id); old != nil && old.Weak {
		o = m.Frame.JoinObjects(&m.Frame.Objects[id], old, o).Clone()
		o.Weak = true
	}
	m.State.Put(id, o)
	return &value.Value{Objects: []value.ObjectID{id}, Kind: value.KindList, API: v.API}
}

// changeList changes a list in place.
// args[0] is the list, the others are the position, if there is one, and the new elements.
func (m *Call) changeList(op string, l *value.Value, args []*value.Value) {
	for _, id := range l.Objects {
		o := m.State.Object(id).Clone()
		// A strong update needs one object and one instance of it. With two possible lists, either
		// may be the one that did not change.
		list, exact := o.List()
		exact = exact && len(l.Objects) == 1 && !o.Weak
		if exact {
			list, exact = m.changedElements(op, list, args)
		}
		switch {
		case exact:
			o.SetList(list)
		case op == "clear":
			// Only a list that is certainly this one becomes empty. Otherwise the old elements may
			// still be there, and dropping them would lose a flow.
			if len(l.Objects) == 1 && !o.Weak {
				*o = value.Object{}
			}
		// Weak update: the new elements join the old ones. For "set" and "insert" the position is
		// joined too, which does no harm since a number has no taint.
		default:
			o.ForgetPositions()
			for _, v := range args[1:] {
				if op == "addall" {
					v = m.Frame.Load(m.State, v, value.AnyKey)
				}
				o.Elements = value.Join(o.Elements, v)
			}
		}
		m.State.Put(id, o)
	}
}

// changedElements returns the elements after a change, false when they are not known.
func (m *Call) changedElements(op string, list, args []*value.Value) ([]*value.Value, bool) {
	list = slices.Clone(list)
	switch op {
	case "add":
		return append(list, args[1:]...), true
	case "prepend":
		return append(slices.Clone(args[1:]), list...), true
	case "clear":
		return nil, true
	case "addall":
		more, ok := m.Frame.SoleObject(m.State, operandAt(args, 1)).List()
		return append(list, more...), ok
	}
	// An insertion or assignment at a position. Need asks the callers for the position where it
	// hangs on a parameter: with a constant from there the list stays exact.
	i, ok := constantPosition(operandAt(args, 1), len(list))
	if !ok || len(args) < 3 {
		m.Frame.Need(operandAt(args, 1))
		return nil, false
	}
	if op == "insert" {
		return slices.Insert(list, i, args[2]), true
	}
	// An assignment at len(list) has no element to replace; the list stays as it is.
	if i < len(list) {
		list[i] = args[2]
	}
	return list, true
}

// constantPosition returns a constant index into n elements, or behind them.
func constantPosition(v *value.Value, n int) (int, bool) {
	if !v.Constant.IsNumber() {
		return 0, false
	}
	// Python and Ruby count negative indexes from the end: list[-1].
	i := int(v.Constant.Number)
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i <= n
}

// takeFrom removes an element and returns it.
func (m *Call) takeFrom(op string, l *value.Value, args []*value.Value) *value.Value {
	// The element is read first, since the removal below changes what the position refers to.
	v := m.elementAt(op, l, args)
	for _, id := range l.Objects {
		o := m.State.Object(id)
		list, exact := o.List()
		if o == nil {
			continue
		}
		i, ok := m.elementIndex(op, args, len(list))
		o = o.Clone()
		// With an exact list and a constant index the element is gone: a value that was tainted
		// and popped does not taint later reads of the list.
		if exact && ok && len(l.Objects) == 1 && !o.Weak && i < len(list) {
			o.SetList(append(slices.Clone(list[:i]), list[i+1:]...))
		} else {
			o.ForgetPositions()
		}
		m.State.Put(id, o)
	}
	return v
}

// elementIndex returns which of n elements an operation speaks of.
func (m *Call) elementIndex(op string, args []*value.Value, n int) (int, bool) {
	switch op {
	case "first", "shift":
		return 0, n > 0
	case "last", "pop":
		// Python: pop(i) takes the element at i, pop() the last one.
		if op == "pop" && len(args) > 1 {
			break
		}
		return n - 1, n > 0
	}
	i, ok := constantPosition(operandAt(args, 1), n)
	return i, ok && i < n
}

// elementAt returns the element that an operation speaks of.
func (m *Call) elementAt(op string, l *value.Value, args []*value.Value) *value.Value {
	if list, ok := m.Frame.SoleObject(m.State, l).List(); ok {
		// Elements is not nil beside an exact list when something was stored under an unknown key:
		// the value at the position may be that one.
		if i, ok := m.elementIndex(op, args, len(list)); ok {
			o := m.Frame.SoleObject(m.State, l)
			v := value.OrUnknown(list[i])
			if o.Elements != nil {
				v = value.Join(v, o.Elements)
			}
			// Self is the taint of the list as a whole, for example of a list that a library has
			// parsed from a request. Each element has it too.
			return v.WithTaint(v.Taint.Union(o.Self).Union(m.Frame.DerivedTaint(l)))
		}
	}
	// The position decides which element it is; the callers may know it.
	if len(args) > 1 {
		m.Frame.Need(args[1])
	}
	// The list came in from the caller and nothing has touched it here. The load names the part of
	// the input ("the first element of parameter 0"), so that each caller decides whether it is
	// tainted.
	if len(l.Objects) == 1 && m.Frame.Objects[l.Objects[0]].Input != nil && m.State.Object(l.Objects[0]) == nil {
		if i, ok := m.inputIndex(op, args); ok {
			m.Frame.Need(l)
			return m.Frame.Load(m.State, l, i)
		}
	}
	return m.Frame.Load(m.State, l, value.AnyKey)
}

// inputIndex returns the part of an input that an operation speaks of.
// "last" and "pop" are left out: the length of the caller's list is not known here.
func (m *Call) inputIndex(op string, args []*value.Value) (string, bool) {
	switch op {
	case "first", "shift":
		return value.IndexKey(0), true
	case "get", "remove":
		if i := operandAt(args, 1); i.Constant.IsNumber() && i.Constant.Number >= 0 {
			return i.Constant.String(), true
		}
	}
	return "", false
}
