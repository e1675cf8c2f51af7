package modelindex

import (
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/tree"
)

// componentsOf returns the names of the components of a record: the parameters of the class
// itself.
func componentsOf(t *tree.File, class int32) (names []string) {
	for p := range t.All(class, tree.RoleParameter) {
		if target := t.Child(p, tree.RoleTarget); t.Is(target, tree.Name) {
			names = append(names, t.Text(target))
		}
	}
	return names
}

// DeclaredFields returns the names that the body of a class and those of its bases assign
// or declare, the bases' first: those with a type, and all.
func (r *Index) DeclaredFields(fn *ir.Function, class *ir.Class) (typed, all []string) {
	for _, name := range slices.Backward(r.TypesOf(fn, class.Qualified)) {
		k := r.Program.Class(name)
		if k == nil {
			continue
		}
		t := k.File.Tree
		components := componentsOf(t, k.Node)
		typed, all = append(typed, components...), append(all, components...)
		for i := k.Node + 1; i < t.Nodes[k.Node].Next; i++ {
			if t.Is(i, tree.Function) || t.Is(i, tree.Class) || t.Is(i, tree.Lambda) {
				i = t.Nodes[i].Next - 1
				continue
			}
			target := t.Child(i, tree.RoleTarget)
			if !t.Is(i, tree.Variable) && !t.Is(i, tree.Assign) && !t.Is(i, tree.Field) || !t.Is(target, tree.Name) {
				continue
			}
			name := t.Text(target)
			if t.Child(i, tree.RoleType) >= 0 && !slices.Contains(typed, name) {
				typed = append(typed, name)
			}
			all = append(all, name)
		}
	}
	return typed, all
}

// A Program is what the analysis asks about the whole program. Package callgraph
// implements it.
type Program interface {
	// SCCs returns the functions in groups that call each other, callees first.
	SCCs() [][]*ir.Function
	// Targets returns the functions that a call may mean, by its types.
	Targets(fn *ir.Function, call *ir.Call) []*ir.Function
	// FunctionValues returns the functions that a variable may hold.
	FunctionValues(fn *ir.Function, v ir.Var) []*ir.Function
	// Exposed returns the functions that the value of a module holds.
	Exposed(module string) []*ir.Function
	// Function returns the functions with the qualified name.
	Function(name string) []*ir.Function
	// Class returns the class with the qualified name, nil when there is none.
	Class(name string) *ir.Class
	// Method returns the methods that the name means for an object of the class;
	// several when it is overloaded.
	Method(class *ir.Class, name string) []*ir.Function
}

// FindMethod returns the method that an object of the class has for so many arguments.
func (r *Index) FindMethod(class, name string, args int) *ir.Function {
	c := r.Program.Class(class)
	if c == nil {
		return nil
	}
	list := r.Program.Method(c, name)
	for _, fn := range list {
		if len(fn.Params) == args {
			return fn
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// FindFunction returns the function of the program with the name, nil when there is
// none.
func (r *Index) FindFunction(name string) *ir.Function {
	if list := r.Program.Function(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// SoleMethod returns the method of a class that stands for a function: the only
// one that is no constructor.
func (r *Index) SoleMethod(class string) *ir.Function {
	c := r.Program.Class(class)
	if c == nil {
		return nil
	}
	var sole *ir.Function
	for _, fn := range c.Methods {
		switch {
		case fn.Kind == ir.Constructor || fn.Static:
		case sole != nil:
			return nil
		default:
			sole = fn
		}
	}
	return sole
}

// StructOf returns the struct of the program that a field holds, nil for anything else:
// a pointer to one is nil until it is set.
func (r *Index) StructOf(class *ir.Class, f *ir.ClassField) *ir.Class {
	t := class.File.Tree
	if f.Node < 0 || f.Static {
		return nil
	}
	typ := t.Child(f.Node, tree.RoleType)
	if typ < 0 || t.Is(typ, tree.Type) && t.Child(typ, tree.RoleElement) >= 0 {
		return nil
	}
	c := r.Program.Class(f.Type)
	if c == nil || c.Kind != "struct" {
		return nil
	}
	return c
}
