package frame

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
	"merlon/internal/engine/sast/tree"
)

// This file gives values what models say of globals, members and literals. What
// functions of a program call is mostly the same: each worker keeps what it has looked
// up, because a table that workers share costs more than most of what is done with it.

// NoteExpression notes an expression that needs exponential time where it is written: what it
// is matched with may be out of sight. Where a match is seen, that is told instead. One in
// a table of many is data: whoever reads the table decides what is matched with it. One
// of which the source is taken is a part of another.
func (a *Frame) NoteExpression(node int32, t taintset.Set) {
	file := a.Function.File.Tree
	if at := file.Nodes[node].Parent; file.Is(at, tree.Pair) || file.Is(at, tree.List) || file.Is(at, tree.Member) {
		return
	}
	t = t.Filter(func(e *taintset.Element) bool {
		return e.Origin.Source != nil && e.Origin.Source.Kind == model.ExponentialExpression
	})
	if len(t) > 0 {
		a.NoteSink(a.SinkAt(node, model.Match), 0, t)
	}
}

// RegexLiteral returns the value of a literal expression.
func (a *Frame) RegexLiteral(in *ir.Instr) *value.Value {
	if a.Run.Plain {
		return value.Unknown
	}
	v := a.Run.RegexValue(a.Function, in)
	if a.Noting {
		a.NoteExpression(in.Node, v.Taint)
	}
	return v
}

// Lookups is what a worker has looked up.
type Lookups struct {
	Calls    map[modelindex.CallKey]*modelindex.CallNames
	globals  map[modelindex.NameKey]*modelindex.MemberInfo
	members  map[modelindex.NameKey]*modelindex.MemberInfo // of values of which nothing is known
	literals map[modelindex.NameKey][]*model.Entry
}

// NewLookups returns empty tables.
func NewLookups() Lookups {
	return Lookups{Calls: map[modelindex.CallKey]*modelindex.CallNames{},
		globals: map[modelindex.NameKey]*modelindex.MemberInfo{},
		members: map[modelindex.NameKey]*modelindex.MemberInfo{}, literals: map[modelindex.NameKey][]*model.Entry{}}
}

// maxLiterals bounds the texts of literals that a worker keeps.
const maxLiterals = 1 << 14

// BasicType names the type of a value that is known to be a text, a list or a regular
// expression, in languages whose programs do not say so.
func (a *Frame) BasicType(v *value.Value) string {
	m := &a.Function.File.Lang.Semantics
	switch {
	case m.TextType == "":
	case v.Kind == value.KindString:
		return m.TextType
	case v.Kind == value.KindList:
		return m.Literals[tree.List]
	case v.Constant.Kind == value.RegexConstant:
		return m.Literals[tree.Regex]
	}
	return ""
}

// GlobalValue gives a global that was read what the models say of it.
func (a *Frame) GlobalValue(in *ir.Instr, v *value.Value) *value.Value {
	k := modelindex.NameKey{Language: a.Function.File.Lang, Name: in.Text}
	x := a.Scratch.globals[k]
	if x == nil {
		x = &modelindex.MemberInfo{}
		x.Add(a.Run.ModelsOf(a.Function).Match(in.Text))
		a.Scratch.globals[k] = x
	}
	return x.Apply(a.Run.Index, a.Function, in.Node, v)
}

// UnknownMember gives a member of a value of which nothing is known what the models say
// of all members with that name: "?.length".
func (a *Frame) UnknownMember(node int32, name string, v *value.Value) *value.Value {
	k := modelindex.NameKey{Language: a.Function.File.Lang, Name: name}
	x := a.Scratch.members[k]
	if x == nil {
		x = &modelindex.MemberInfo{}
		x.Add(a.Run.ModelsOf(a.Function).Match("?." + name))
		a.Scratch.members[k] = x
	}
	if len(x.Sanitizers) > 0 { // a number, a text: it has no parts that would not be clean
		v = &value.Value{Taint: v.Taint, Constant: v.Constant, Kind: v.Kind}
	}
	return x.Apply(a.Run.Index, a.Function, node, v)
}

// LiteralSource makes a literal a source when a model says so.
func (a *Frame) LiteralSource(in *ir.Instr, v *value.Value) *value.Value {
	k := modelindex.NameKey{Language: a.Function.File.Lang, Name: v.Constant.Text}
	entries, ok := a.Scratch.literals[k]
	if !ok {
		if len(a.Scratch.literals) >= maxLiterals {
			clear(a.Scratch.literals)
		}
		entries = a.Run.LiteralEntries(a.Function, v.Constant.Text)
		a.Scratch.literals[k] = entries
	}
	return a.Run.LiteralValue(a.Function, in, v, entries)
}

// MemberValue gives a member that was read what the models say of it.
func (a *Frame) MemberValue(i int32, owner, name string, v *value.Value) *value.Value {
	return a.Run.MemberInfo(a.Function, owner, name).Apply(a.Run.Index, a.Function, a.Function.Code[i].Node, v)
}

// ParameterValue gives a parameter what the models say of it: what the framework that
// calls the function passes.
func (a *Frame) ParameterValue(st *State, i int, v *value.Value) *value.Value {
	r := a.Run
	list, ok := r.Parameters.Load(a.Function)
	if !ok {
		list, _ = r.Parameters.LoadOrStore(a.Function, r.ParameterEntries(a.Function))
	}
	if list == nil {
		return v
	}
	for _, e := range list[i] {
		switch e.Section {
		case model.Types:
			w := *v
			w.API = e.Type
			v = &w
		case model.Sources:
			if e.Form == model.Annotation && a.Function.File.Lang.Semantics.Decorators &&
				(r.IsHarmlessType(a.Function.Params[i].Type) ||
					modelindex.IsNumberInRoute(a.Function, a.Function.Params[i].Name)) {
				continue
			}
			s := r.SourceValue(a.Function, e, a.Function.Params[i].Node)
			v = v.WithTaint(v.Taint.Union(s.Taint))
			a.TaintObject(st, v, s.Taint)
		}
	}
	return v
}
