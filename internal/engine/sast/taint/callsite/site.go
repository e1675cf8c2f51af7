// Package callsite gathers what is known of a call: its arguments, the names by which
// models may know it, the functions of the program that it may mean, and whether the
// conditions of model entries hold.
package callsite

import (
	"cmp"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/value"
)

// A Site is a call that is interpreted, with what is known of its parts.
type Site struct {
	Frame       *frame.Frame
	State       *frame.State
	Index       int32
	Instruction *ir.Instr
	Call        *ir.Call
	Args        []Argument
	Receiver    *value.Value
	Function    *value.Value          // the function value that is called, nil for a method
	Names       *modelindex.CallNames // by which models may know it
}

// An Argument is one argument of a call. After a spread one, positions are not
// known.
type Argument struct {
	Value *value.Value
	Name  string
	From  ir.Var
	Node  int32
	Many  bool // stands for any number of arguments
}

// New gathers the parts of a call.
func New(a *frame.Frame, st *frame.State, i int32) *Site {
	in := &a.Function.Code[i]
	c := &Site{Frame: a, State: st, Index: i, Instruction: in, Call: a.Function.Call(in)}
	for _, arg := range a.Function.Args(c.Call) {
		v := a.Read(st, arg.Value)
		switch arg.Rest {
		case ir.Positional:
			if list, ok := a.SoleObject(st, v).List(); ok {
				for _, e := range list {
					c.Args = append(c.Args, Argument{Value: value.OrUnknown(e), From: ir.NoVar, Node: arg.Node})
				}
				continue
			}
			c.Args = append(c.Args, Argument{Value: a.Load(st, v, value.AnyKey), From: ir.NoVar, Node: arg.Node,
				Many: true})
		case ir.Keywords:
			c.spreadKeywords(v, arg)
		default:
			c.Args = append(c.Args, Argument{Value: v, Name: arg.Name, From: arg.Value, Node: arg.Node})
		}
	}
	if c.Call.Receiver != ir.NoVar {
		c.Receiver = a.Read(st, c.Call.Receiver)
	}
	if c.Call.Callee != ir.NoVar {
		c.Function = a.Read(st, c.Call.Callee)
	}
	c.Names = c.FindNames()
	return c
}

// spreadKeywords adds the pairs of a map as named arguments.
func (c *Site) spreadKeywords(v *value.Value, arg ir.Arg) {
	if o := c.Frame.SoleObject(c.State, v); o != nil {
		for _, f := range o.Fields {
			c.Args = append(c.Args, Argument{Value: value.OrUnknown(f.Value), Name: f.Name, From: ir.NoVar,
				Node: arg.Node})
		}
		if o.Elements == nil {
			return
		}
	}
	c.Args = append(c.Args, Argument{Value: c.Frame.Load(c.State, v, value.AnyKey), Name: "**", From: ir.NoVar,
		Node: arg.Node,
		Many: true})
}

// Matches returns the entries of a section for the call, whose conditions hold.
func (c *Site) Matches(s model.Section) []*model.Entry {
	return c.Entries(s, model.Call)
}

// Entries returns the entries of a section for the call that have the form.
func (c *Site) Entries(s model.Section, form model.Form) []*model.Entry {
	var list []*model.Entry
	for _, m := range c.Names.Matches {
		for _, e := range m[s] {
			if e.Form == form {
				list = append(list, e)
			}
		}
	}
	return list
}

// ResultType names what a call returns for the models.
func (c *Site) ResultType() string {
	if t := c.Frame.StaticType(c.Instruction.Node); t != "" {
		return t
	}
	if len(c.Names.Names) == 0 || c.Names.Names[0] == "" {
		return ""
	}
	name := strings.TrimSuffix(c.Names.Names[0], ".new")
	last := model.Last(name)
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' && strings.Contains(name, ".") || c.Call.Kind == ir.CallNew {
		return name
	}
	if strings.Count(name, "()") >= 3 {
		return ""
	}
	return name + "()"
}

// FindNames returns the names by which models may know a call.
func (c *Site) FindNames() *modelindex.CallNames {
	a, call := c.Frame, c.Call
	k := modelindex.CallKey{NameKey: modelindex.NameKey{Language: a.Function.File.Lang, Name: call.Name},
		Kind: call.Kind, Qualified: call.Qualified,
		Type: call.Type}
	if c.Receiver != nil {
		k.HasReceiver, k.ReceiverAPI = true, cmp.Or(c.Receiver.API, a.BasicType(c.Receiver))
	}
	if c.Function != nil {
		k.HasFunction, k.FunctionAPI = true, c.Function.API
		k.ProgramFunction = call.Kind != ir.CallNew && a.IsFunction(c.Function) // one that is called "exec" is no other
	}
	if call.Callee != ir.NoVar && k.Qualified == "" && k.FunctionAPI == "" && !k.ProgramFunction {
		k.FunctionAPI = a.Run.ConventionalName(a.Function, survey.WrittenName(a.Function, call.Callee, 0))
	}
	n := a.Scratch.Calls[k]
	if n == nil {
		n = a.Run.FindCallNames(a.Function, &k)
		a.Scratch.Calls[k] = n
	}
	if n.Untyped {
		a.NeedType(c.Receiver)
	}
	return n
}
