// Package survey makes one pass over the program before the analysis. It finds the
// variables that functions share, globals and fields that hold one constant, globals
// that hold an API of a library, and the methods of prototypes.
package survey

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// ReceiverPath is the path by which the fields of an object are known that nobody in
// the program makes: there is one for each class, "" for a function of none.
func (r *Survey) ReceiverPath(fn *ir.Function) string {
	if fn.Class != nil {
		return taintset.Separator + "this " + fn.Class.Qualified
	}
	if owner := r.Owners[fn]; owner != "" {
		return taintset.Separator + "this " + owner
	}
	return ""
}

// Declares reports whether the program sets the global.
func (r *Survey) Declares(name string) bool { return r.declared[name] }

// A Survey is what one pass over the program finds before the analysis: the variables
// that functions share, and the globals and fields that hold one constant for ever.
type Survey struct {
	*modelindex.Index
	*rulematch.Set
	Boxed     map[*ir.Function]map[ir.Var]bool
	declared  map[string]bool         // globals that the program sets
	Accessors map[string]bool         // names of the program's getters and setters
	globals   map[string]*value.Value // constants
	lists     map[string]bool         // globals that hold a collection of constants
	fields    map[string]*value.Value // constants, by class and field
	APIs      map[string]string       // by global: the function of a library that it holds

	Written map[string]bool // names of fields that the program sets

	Owners map[*ir.Function]string // of methods and makers of prototypes: the name of the maker
}

// ConstantGlobal returns the constant that a global holds for ever, nil when it may change.
func (r *Survey) ConstantGlobal(name string) *value.Value { return r.globals[name] }

// ConstantField returns the constant that a field of a class holds, nil when it may change.
func (r *Survey) ConstantField(class, name string) *value.Value {
	if class == "" {
		return nil
	}
	return r.fields[class+"."+name]
}

// Scan finds the variables that functions share, and the globals and fields that
// hold one constant for ever.
func (r *Survey) Scan(units [][]*ir.Function) {
	r.declared, r.Accessors = map[string]bool{}, map[string]bool{}
	r.Boxed, r.globals, r.fields = map[*ir.Function]map[ir.Var]bool{}, map[string]*value.Value{},
		map[string]*value.Value{}
	r.lists, r.APIs, r.Owners = map[string]bool{}, map[string]string{}, map[*ir.Function]string{}
	stores, names, modules := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, unit := range units {
		for _, fn := range unit {
			if fn.Accessor != ir.NoAccessor {
				r.Accessors[fn.Name] = true
			}
			modules[fn.File.Module] = true
			r.noteShared(fn)
			r.noteMethods(fn)
			r.noteConstants(fn, stores, names)
		}
	}
	for name, n := range stores {
		if n > 1 {
			delete(r.globals, name)
			delete(r.lists, name)
		}
	}
	r.Written = make(map[string]bool, len(names))
	for name := range names {
		r.Written[name] = true
	}
	r.passedOnly(stores, modules)
	for name := range r.fields {
		if names[model.Last(name)] > 1 {
			delete(r.fields, name)
		}
	}
}

// noteShared notes the variables that a function takes from the one around it.
func (r *Survey) noteShared(fn *ir.Function) {
	if fn.Parent == nil {
		return
	}
	for _, c := range fn.Captures {
		if c.Outer < 0 {
			continue
		}
		if r.Boxed[fn.Parent] == nil {
			r.Boxed[fn.Parent] = map[ir.Var]bool{}
		}
		r.Boxed[fn.Parent][c.Outer] = true
	}
}

// noteConstants notes what a function stores to globals and fields.
func (r *Survey) noteConstants(fn *ir.Function, stores, names map[string]int) {
	members := held{}
	for i := range fn.Code {
		in := &fn.Code[i]
		switch in.Op {
		case ir.StoreGlobal:
			stores[in.Text]++
			r.declared[in.Text] = true
			r.notePassed(fn, in, members)
			if v := r.constantOf(fn, in.B, 0); v != nil {
				r.globals[in.Text] = v
			} else if r.constantList(fn, in.B, 0) {
				r.lists[in.Text] = true
			}
		case ir.StoreField:
			names[in.Text]++
			members.noteMember(r, fn, in)
			if fn.Class != nil && (fn.Kind == ir.Initializer || fn.Kind == ir.Constructor) {
				if v := r.constantOf(fn, in.B, 0); v != nil {
					r.fields[fn.Class.Qualified+"."+in.Text] = v
				}
			}
		}
	}
}
