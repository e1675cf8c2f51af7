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

// calls gives the calls of a function the types of their receivers.
func (t *types) calls(fn *ir.Function) {
	f := &typed{types: t, Function: fn}
	for i := range fn.Calls {
		if c := &fn.Calls[i]; c.Type == "" && c.Kind == ir.CallMethod && c.Receiver != ir.NoVar {
			c.Type = f.of(c.Receiver, 0)
		}
	}
}

// typed finds types in one function.
type typed struct {
	*types
	*ir.Function
	once map[ir.Var]int32 // the only assignments of variables; -1 where there are several
}

// assignment returns the only instruction that gives a variable its value, -1 when
// there are several.
func (f *typed) assignment(v ir.Var) int32 {
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

// of returns the type of a variable, "" when it is not known.
func (t *typed) of(v ir.Var, depth int) string {
	fn := t.Function
	if v == ir.NoVar || depth > maxTypeDepth {
		return ""
	}
	if fn.IsLocal(v) && fn.Locals[v].Type != "" {
		return fn.Locals[v].Type
	}
	def := t.assignment(v)
	if def < 0 {
		return ""
	}
	switch in := &fn.Code[def]; in.Op {
	case ir.Copy, ir.Await, ir.Enter:
		return t.of(in.A, depth+1)
	case ir.Cast:
		return in.Text
	case ir.LoadField:
		return t.field(t.of(in.A, depth+1), in.Text)
	case ir.LoadGlobal:
		return t.globals[in.Text]
	case ir.Invoke:
		if results := t.results(fn, fn.Call(in)); len(results) == 1 {
			return results[0]
		}
	case ir.LoadIndex:
		return t.element(fn, in)
	}
	return ""
}

// element returns the type of one of several results.
func (t *types) element(fn *ir.Function, in *ir.Instr) string {
	def := fn.Def(in.A)
	if def < 0 || fn.Code[def].Op != ir.Invoke || len(in.Text) != 1 {
		return ""
	}
	results := t.results(fn, fn.Call(&fn.Code[def]))
	if k := int(in.Text[0] - '0'); k >= 0 && k < len(results) && len(results) > 1 {
		return results[k]
	}
	return ""
}

// field returns the type of a member variable of a type, or of one above it.
func (t *types) field(typ, name string) string {
	c, ok := t.classes[typ]
	if !ok {
		return ""
	}
	for _, k := range t.above(c) {
		if f, ok := t.globals[t.Classes[k].Qualified+"."+name]; ok {
			return f
		}
	}
	return ""
}

// results returns the types of the results of what a call names.
func (t *types) results(fn *ir.Function, c *ir.Call) []string {
	if c.Direct >= 0 {
		return fn.File.Functions[c.Direct].Results
	}
	if c.Kind == ir.CallNew {
		return []string{c.Qualified}
	}
	list := t.byName[c.Qualified]
	if class, ok := t.classes[c.Type]; ok && len(list) == 0 {
		list = t.lookup(class, c.Name)
	}
	if len(list) > 0 {
		return t.Functions[list[0]].Results
	}
	return nil
}
