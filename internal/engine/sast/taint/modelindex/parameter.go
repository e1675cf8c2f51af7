package modelindex

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file finds what models say of the parameters of functions that a framework calls.
//
// A parameter becomes a source in four ways: an annotation of the function (@app.route), an
// annotation of the parameter (@RequestParam), names by convention ((req, res) of Express),
// and a method of a library class that is overridden (doGet of a servlet).

// IsNumberInRoute reports whether the address in an annotation of a handler lets nothing but
// a number stand for the parameter: "/items/<int:id>", "/items/{id:int}".
// A number or a UUID cannot carry an injection, so that such a parameter is no source.
func IsNumberInRoute(fn *ir.Function, name string) bool {
	t := fn.File.Tree
	// The first constant argument of any annotation is taken for the route; other annotations do
	// not contain the placeholders.
	for an := range t.All(fn.Node, tree.RoleAnnotation) {
		call := t.Child(an, tree.RoleValue)
		if !t.Is(call, tree.Call) {
			continue
		}
		route, ok := fn.File.Names.Const(t.Child(call, tree.RoleArgument))
		if !ok {
			continue
		}
		for _, kind := range []string{"int", "float", "uuid"} {
			if strings.Contains(route.Text, "<"+kind+":"+name+">") ||
				strings.Contains(route.Text, "{"+name+":"+kind+"}") {
				return true
			}
		}
	}
	return false
}

// importedRoots returns the first parts of the modules that a file imports.
// Some conventions of names are only trusted in files that import the framework ("importing.…"
// in models).
// The list is made once per file and shared by all workers.
func (r *Index) importedRoots(f *ir.File) []string {
	if list, ok := r.roots.Load(f); ok {
		return list
	}
	var roots []string
	for i := range f.Tree.Nodes {
		if f.Tree.Nodes[i].Kind != tree.Import {
			continue
		}
		root, _, _ := strings.Cut(f.Tree.Nodes[i].Text, ".")
		if root != "" && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	roots, _ = r.roots.LoadOrStore(f, roots)
	return roots
}

// parameterIs reports whether a parameter of a function that a framework calls is what a
// condition asks: bare, of a class of the program, or a text.
func (r *Index) parameterIs(fn *ir.Function, i int, c *model.Condition) bool {
	p := &fn.Params[i]
	// Conditions on other locations are decided at calls; here they do not restrict.
	if c.Place.Base != model.Parameter || c.Test != model.Is {
		return !c.Not
	}
	switch c.Word {
	case "bare":
		// Bare: without an annotation that says where the value comes from. Annotations of
		// validation and nullness say nothing about that.
		return !slices.ContainsFunc(Annotations(fn.File, p.Node), func(name string) bool {
			return !strings.Contains(name, ".validation.") && !strings.HasSuffix(name, "Nullable") &&
				!strings.HasSuffix(name, "NonNull")
		})
	// An enum of the program has a fixed set of values.
	case "own":
		class := r.Program.Class(p.Type)
		return class != nil && class.Kind != "enum"
	case "string":
		return strings.HasSuffix(strings.TrimSuffix(p.Type, "[]"), ".String")
	}
	return slices.Contains(r.TypesOf(fn, p.Type), c.Word)
}

// MatchParameterNames returns what models know of functions by the names of two parameters that
// follow each other, and where they are: "named.req.res" is what everybody calls those of
// a handler, which may have others before them (options that were bound). Handlers of
// errors are left out: they answer what was refused, and mostly to paths of the own site.
func (r *Index) MatchParameterNames(fn *ir.Function) (*model.Matches, int) {
	for i := 1; i < len(fn.Params); i++ {
		first, second := fn.Params[i-1].Name, fn.Params[i].Name
		// An error handler, (err, req, res, next), has the error in front.
		if first == "" || second == "" || i > 1 && strings.HasPrefix(fn.Params[i-2].Name, "err") {
			continue
		}
		if m := r.ModelsOf(fn).Match("named." + first + "." + second); !m.Empty() {
			return m, i - 1
		}
	}
	return &model.Matches{}, 0
}

// eachOwnAnnotation calls add for the entries of the annotations of a parameter that are
// about the parameter itself: @RequestParam.
func (r *Index) eachOwnAnnotation(fn *ir.Function, i int, add func(i int, e *model.Entry)) {
	set := r.ModelsOf(fn)
	for _, name := range Annotations(fn.File, fn.Params[i].Node) {
		m := set.Match(name)
		for _, e := range slices.Concat(m[model.Types], m[model.Sources]) {
			for _, p := range e.Places {
				// Self is the parameter that carries the annotation.
				if e.Form == model.Annotation && p.Base == model.Parameter && p.Index == model.Self {
					add(i, e)
				}
			}
		}
	}
}

// ParameterEntries returns the entries for each parameter of a function, nil when
// there are none.
func (r *Index) ParameterEntries(fn *ir.Function) [][]*model.Entry {
	out := make([][]*model.Entry, len(fn.Params))
	any := false
	add := func(i int, e *model.Entry) {
		out[i] = append(out[i], e)
		any = true
	}
	set := r.ModelsOf(fn)
	for _, name := range Annotations(fn.File, fn.Node) {
		r.eachParameter(fn, set.Match(name), model.Annotation, add)
	}
	// The index of the entry counts from the first of the two names.
	named, at := r.MatchParameterNames(fn)
	r.eachParameter(fn, named, model.Call, func(i int, e *model.Entry) {
		if i += at; i < len(out) {
			add(i, e)
		}
	})
	if len(fn.Params) > 0 && fn.Params[0].Name != "" {
		for _, root := range r.importedRoots(fn.File) {
			r.eachParameter(fn, set.Match("importing."+root+"."+fn.Params[0].Name), model.Call, add)
		}
	}
	// A function on the top level of a module that a platform calls by its name: handler of AWS
	// Lambda.
	if fn.Name != "" && fn.Class == nil && fn.Parent != nil && fn.Parent.Kind == ir.TopLevel {
		r.eachParameter(fn, set.Match("exported."+fn.Name), model.Call, add)
	}
	if fn.Class != nil {
		for _, t := range r.TypesOf(fn, fn.Class.Qualified) {
			r.eachParameter(fn, set.Match(r.MemberName(t, fn.Name)), model.Call, add)
		}
	}
	for i := range fn.Params {
		r.eachOwnAnnotation(fn, i, add)
	}
	// nil spares the caller a loop over empty lists, which is the usual case.
	if !any {
		return nil
	}
	return out
}

// eachParameter calls add for the parameters of which entries speak.
func (r *Index) eachParameter(fn *ir.Function, m *model.Matches, form model.Form, add func(int, *model.Entry)) {
	for _, e := range slices.Concat(m[model.Types], m[model.Sources]) {
		if e.Form != form {
			continue
		}
		// Conditions are evaluated for each parameter, since one entry may be about several.
		holds := func(i int) bool {
			return !slices.ContainsFunc(e.If, func(c model.Condition) bool { return r.parameterIs(fn, i, &c) == c.Not })
		}
		for _, p := range e.Places {
			if p.Base != model.Parameter || p.Index == model.Self {
				continue
			}
			for i := range fn.Params {
				// The location is one parameter, all of them, all from an index on, or one by its
				// name.
				if p.Index == model.Any || p.Index == i || p.Rest && i >= p.Index || p.Name != "" &&
					fn.Params[i].Name == p.Name {
					if !holds(i) {
						continue
					}
					add(i, e)
				}
			}
		}
	}
}

// IsEntrypoint reports whether a framework calls the function.
// Entry points are analyzed with sources even if no function of the program calls them.
func (r *Index) IsEntrypoint(fn *ir.Function) bool {
	set := r.ModelsOf(fn)
	for _, name := range Annotations(fn.File, fn.Node) {
		if len(set.Match(name)[model.Entrypoints]) > 0 {
			return true
		}
	}
	if fn.Class != nil {
		for _, t := range r.TypesOf(fn, fn.Class.Qualified) {
			if len(set.Match(r.MemberName(t, fn.Name))[model.Entrypoints]) > 0 {
				return true
			}
		}
	}
	return r.ParameterEntries(fn) != nil
}
