package callgraph

import (
	"strings"

	"merlon/internal/engine/sast/ir"
)

// maxTypeDepth bounds how far the type of a value is followed back.
const maxTypeDepth = 8

// types finds the static types of receivers that one file alone does not tell:
// fields, variables and results that another file declares.
type types struct {
	*Graph
	globals map[string]string // types of module variables and static fields
}

// newTypes collects the declared types of variables at the top of files and of fields. Both are
// found by one name, "module.variable" and "class.field", as code spells them. They tell the type
// of a receiver where its value is not known.
func newTypes(g *Graph) *types {
	t := &types{Graph: g, globals: map[string]string{}}
	for _, f := range g.Files {
		for _, l := range f.Functions[0].Locals {
			if l.Type != "" && l.Name != "" {
				t.globals[strings.TrimPrefix(f.Module+"."+l.Name, ".")] = l.Type
			}
		}
	}
	for _, c := range g.Classes {
		for _, f := range c.Fields {
			if f.Type != "" {
				t.globals[c.Qualified+"."+f.Name] = f.Type
			}
		}
	}
	return t
}

// typeCalls gives the calls of a function the types of their receivers. Receivers with a declared
// type in the file have one already.
func (t *types) typeCalls(fn *ir.Function) {
	f := &functionTypes{types: t, Function: fn}
	for i := range fn.Calls {
		if c := &fn.Calls[i]; c.Type == "" && c.Kind == ir.CallMethod && c.Receiver != ir.NoVar {
			c.Type = f.typeOf(c.Receiver, 0)
		}
	}
}

// functionTypes finds the types of variables in one function.
type functionTypes struct {
	*types
	*ir.Function
	once map[ir.Var]int32 // the only assignments of variables; -1 where there are several
}

// onlyAssignment returns the only instruction that gives a variable its value, -1 when there are
// several. With several the type could be any of theirs.
func (f *functionTypes) onlyAssignment(v ir.Var) int32 {
	if !f.IsLocal(v) {
		return f.Def(v)
	}
	if f.once == nil {
		f.once = map[ir.Var]int32{}
		for i := range f.Code {
			d := f.Code[i].Dst
			if d == ir.NoVar || !f.IsLocal(d) {
				continue
			}
			if _, ok := f.once[d]; ok {
				f.once[d] = -1
				continue
			}
			f.once[d] = int32(i)
		}
	}
	if i, ok := f.once[v]; ok && f.Locals[v].Kind == ir.Declared {
		return i
	}
	return -1
}

// typeOf returns the type of a variable, "" when it is not known. It follows copies and calls back
// to a declaration.
func (t *functionTypes) typeOf(v ir.Var, depth int) string {
	fn := t.Function
	if v == ir.NoVar || depth > maxTypeDepth {
		return ""
	}
	if fn.IsLocal(v) && fn.Locals[v].Type != "" {
		return fn.Locals[v].Type
	}
	def := t.onlyAssignment(v)
	if def < 0 {
		return ""
	}
	switch in := &fn.Code[def]; in.Op {
	case ir.Copy, ir.Await, ir.Enter:
		return t.typeOf(in.A, depth+1)
	case ir.Cast:
		return in.Text
	case ir.LoadField:
		return t.fieldType(t.typeOf(in.A, depth+1), in.Text)
	case ir.LoadGlobal:
		return t.globals[in.Text]
	case ir.Invoke:
		if results := t.resultTypes(fn, fn.Call(in)); len(results) == 1 {
			return results[0]
		}
	case ir.LoadIndex:
		return t.elementType(fn, in)
	}
	return ""
}

// elementType returns the type of one of several results. Go's functions return several values,
// which are read by constant keys.
func (t *types) elementType(fn *ir.Function, in *ir.Instr) string {
	def := fn.Def(in.A)
	if def < 0 || fn.Code[def].Op != ir.Invoke || len(in.Text) != 1 {
		return ""
	}
	results := t.resultTypes(fn, fn.Call(&fn.Code[def]))
	if k := int(in.Text[0] - '0'); k >= 0 && k < len(results) && len(results) > 1 {
		return results[k]
	}
	return ""
}

// fieldType returns the type of a member variable of a type, or of one above it. Static fields are
// found under the same name.
func (t *types) fieldType(typ, name string) string {
	c, ok := t.classes[typ]
	if !ok {
		return ""
	}
	for _, k := range t.superclasses(c) {
		if f, ok := t.globals[t.Classes[k].Qualified+"."+name]; ok {
			return f
		}
	}
	return ""
}

// resultTypes returns the types of the results of what a call names. Of overloads the first is
// taken, since their results seldom differ.
func (t *types) resultTypes(fn *ir.Function, c *ir.Call) []string {
	if c.Direct >= 0 {
		return fn.File.Functions[c.Direct].Results
	}
	if c.Kind == ir.CallNew {
		return []string{c.Qualified}
	}
	list := t.byName[c.Qualified]
	if class, ok := t.classes[c.Type]; ok && len(list) == 0 {
		list = t.lookupMethod(class, c.Name)
	}
	if len(list) > 0 {
		return t.Functions[list[0]].Results
	}
	return nil
}
