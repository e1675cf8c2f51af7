package frame

import (
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/summary"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
	"merlon/internal/engine/sast/tree"
)

// This file notes data that arrives at sinks.

// NoteSink notes that data arrived at a sink.
func (a *Frame) NoteSink(k summary.SinkKey, block uint64, t taintset.Set) {
	t = t.Filter(func(e *taintset.Element) bool { return e.Clean&block == 0 })
	if k.Kind == model.Inherited {
		t = onlyPicked(t)
	}
	if len(t) == 0 {
		return
	}
	if p := a.Pending[k]; p != nil {
		a.Pending[k] = &summary.PendingSink{SinkKey: k, Harmless: p.Harmless, Taint: p.Taint.Union(t)}
		return
	}
	a.Pending[k] = &summary.PendingSink{SinkKey: k, Harmless: block, Taint: t}
}

// SinkAt returns the key of a model's sink. A call whose name is on another line
// than its beginning is found at its name.
func (a *Frame) SinkAt(node int32, kind string) summary.SinkKey {
	return summary.SinkKey{Function: a.Function, Node: shownNode(a.Function.File.Tree, node), Kind: kind, Rule: -1}
}

// shownNode returns the node to show for a call: the call, or its name when it stands
// on a later line.
func shownNode(f *tree.File, node int32) int32 {
	callee := f.Child(node, tree.RoleCallee)
	if !f.Is(callee, tree.Member) {
		return node
	}
	name := f.Child(callee, tree.RoleProperty)
	if name < 0 || f.Line(f.Nodes[name].Start) == f.Line(f.Nodes[node].Start) {
		return node
	}
	return name
}

// assignedIs evaluates the conditions of a property on what is assigned: whether it is
// known to be a map, a list, a text.
func (a *Frame) assignedIs(x *value.Value, list []model.Condition) bool {
	for i := range list {
		cond := &list[i]
		if cond.Test != model.Is || cond.Type || cond.Place.Base != model.Assigned {
			continue
		}
		kind := x.Kind
		if id, ok := x.SoleObject(); ok && kind == value.KindAny {
			kind = a.Objects[id].Kind
		}
		if want, ok := value.KindByWord[cond.Word]; ok && (kind == want) == cond.Not {
			return false
		}
	}
	return true
}

// NoteAssignment notes what arrives at a property that is a sink.
func (a *Frame) NoteAssignment(st *State, i int32, owner, name string, x *value.Value) {
	if a.Noting {
		a.NoteAssignmentAt(st, a.Function.Code[i].Node, owner, name, x)
	}
}

// NoteAssignmentAt is assigns for a place of the source.
func (a *Frame) NoteAssignmentAt(st *State, node int32, owner, name string, x *value.Value) {
	r := a.Run
	set := r.ModelsOf(a.Function)
	seen := false
	check := func(full string) {
		for _, e := range set.Match(full)[model.Sinks] {
			if e.Form == model.Assignment && a.assignedIs(x, e.If) {
				seen = true
				a.NoteSink(a.SinkAt(node, e.Kind), r.KindBits(e.Kind)|r.OpeningBits(e),
					a.DeepTaint(st, a.TextOf(st, x)))
			}
		}
	}
	for _, t := range r.TypesOf(a.Function, owner) {
		check(r.MemberName(t, name))
	}
	if !seen && r.Program.Class(owner) == nil {
		check("?." + name)
	}
}
