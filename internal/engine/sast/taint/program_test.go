package taint_test

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sast/ir"
)

type Graph struct {
	Files   []*ir.File
	fns     map[string][]*ir.Function
	classes map[string]*ir.Class
	subs    map[string][]*ir.Class
}

func build(files []*ir.File) *Graph {
	g := &Graph{Files: sorted(files), fns: map[string][]*ir.Function{}, classes: map[string]*ir.Class{}, subs: map[string][]*ir.Class{}}
	for _, f := range files {
		for _, fn := range f.Functions {
			g.fns[fn.Qualified] = append(g.fns[fn.Qualified], fn)
		}
		for _, c := range f.Classes {
			if g.classes[c.Qualified] == nil {
				g.classes[c.Qualified] = c
			}
			for _, b := range c.Bases {
				g.subs[b] = append(g.subs[b], c)
			}
		}
	}
	return g
}
func (g *Graph) Class(n string) *ir.Class         { return g.classes[n] }
func (g *Graph) Function(n string) []*ir.Function { return g.fns[n] }
func (g *Graph) Method(c *ir.Class, name string) []*ir.Function {
	seen := map[*ir.Class]bool{}
	for list := []*ir.Class{c}; len(list) > 0; list = list[1:] {
		c := list[0]
		if c == nil || seen[c] {
			continue
		}
		seen[c] = true
		var out []*ir.Function
		for _, m := range c.Methods {
			if m.Name == name {
				out = append(out, m)
			}
		}
		if out != nil {
			return out
		}
		for _, b := range c.Bases {
			list = append(list, g.classes[b])
		}
	}
	return nil
}
func pick(list []*ir.Function, n int) []*ir.Function {
	var out []*ir.Function
	for _, f := range list {
		if len(f.Params) == n {
			out = append(out, f)
		}
	}
	if out == nil {
		return list
	}
	return out
}
func (g *Graph) Targets(fn *ir.Function, call *ir.Call) []*ir.Function {
	n := len(fn.Args(call))
	switch call.Kind {
	case ir.CallNew, ir.CallSelf:
		c := g.classes[call.Qualified]
		if call.Kind == ir.CallSelf {
			c = fn.Class
		}
		if c == nil {
			return nil
		}
		var out []*ir.Function
		for _, m := range c.Methods {
			if m.Kind == ir.Constructor {
				out = append(out, m)
			}
		}
		if out == nil && c.Init != nil {
			return []*ir.Function{c.Init}
		}
		return pick(out, n)
	case ir.CallInit:
		return []*ir.Function{fn.File.Functions[call.Direct]}
	case ir.CallSuper:
		if fn.Class == nil {
			return nil
		}
		for _, b := range fn.Class.Bases {
			if c := g.classes[b]; c != nil {
				if l := g.Method(c, call.Name); l != nil {
					return pick(l, n)
				}
				var out []*ir.Function
				for _, m := range c.Methods {
					if m.Kind == ir.Constructor && (call.Name == "" || call.Name == m.Name) {
						out = append(out, m)
					}
				}
				if out != nil {
					return pick(out, n)
				}
			}
		}
		return nil
	}
	if call.Qualified != "" {
		if l := g.fns[call.Qualified]; l != nil {
			return pick(l, n)
		}
	}
	if call.Type != "" {
		var out []*ir.Function
		if c := g.classes[call.Type]; c != nil {
			out = append(out, g.Method(c, call.Name)...)
		}
		var walk func(string, int)
		walk = func(t string, d int) {
			for _, c := range g.subs[t] {
				for _, m := range c.Methods {
					if m.Name == call.Name {
						out = append(out, m)
					}
				}
				if d < 5 {
					walk(c.Qualified, d+1)
				}
			}
		}
		walk(call.Type, 0)
		seen := map[*ir.Function]bool{}
		var res []*ir.Function
		for _, f := range out {
			if !seen[f] && len(f.Blocks) > 0 {
				seen[f] = true
				res = append(res, f)
			}
		}
		if len(res) > 0 {
			return pick(res, n)
		}
	}
	return nil
}
func (g *Graph) SCCs() [][]*ir.Function {
	var out [][]*ir.Function
	index, low := map[*ir.Function]int{}, map[*ir.Function]int{}
	var stack []*ir.Function
	on := map[*ir.Function]bool{}
	n := 0
	var visit func(f *ir.Function)
	visit = func(f *ir.Function) {
		n++
		index[f], low[f] = n, n
		stack = append(stack, f)
		on[f] = true
		edge := func(t *ir.Function) {
			if index[t] == 0 {
				visit(t)
				low[f] = min(low[f], low[t])
			} else if on[t] {
				low[f] = min(low[f], index[t])
			}
		}
		for i := range f.Calls {
			for _, t := range g.Targets(f, &f.Calls[i]) {
				edge(t)
			}
			if d := f.Calls[i].Direct; d >= 0 {
				edge(f.File.Functions[d])
			}
		}
		for i := range f.Code {
			if f.Code[i].Op == ir.Closure {
				edge(f.File.Functions[f.Code[i].X])
			}
		}
		if low[f] == index[f] {
			var u []*ir.Function
			for {
				t := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				on[t] = false
				u = append([]*ir.Function{t}, u...)
				if t == f {
					break
				}
			}
			out = append(out, u)
		}
	}
	for _, f := range g.Files {
		for _, fn := range f.Functions {
			if index[fn] == 0 {
				visit(fn)
			}
		}
	}
	return out
}

func program(t *testing.T, files []*ir.File) *Graph {
	t.Helper()
	return build(files)
}

func sorted(files []*ir.File) []*ir.File {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b *ir.File) int { return strings.Compare(a.Tree.Path, b.Tree.Path) })
	return files
}
