package taint

import (
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file knows what frameworks do with the answers of the functions that they
// call, and which answers of operators are guards.

// answers notes what arrives at whoever called a function that carries an annotation,
// "@app.route(return)" as a sink, or that the annotation of its class speaks of.
func (a *analysis) answers(st *state, in *ir.Instr) {
	v := a.read(st, in.A)
	if strings.Contains(v.api, ".") && !strings.HasSuffix(v.api, ".String") {
		return // an object of a library: what it was made of has been looked at
	}
	set := a.run.set(a.fn)
	names := annotations(a.fn.File, a.fn.Node)
	if a.fn.Class != nil && a.run.handles(a.fn) {
		names = append(names, annotations(a.fn.File, a.fn.Class.Node)...)
	}
	for _, name := range names {
		for _, e := range set.Match(name)[model.Sinks] {
			if e.Form != model.Annotation || !answered(e) || !a.answerHolds(v, e.If) {
				continue
			}
			t := a.deep(st, a.textOf(st, v))
			a.arrives(a.sinkAt(in.Node, e.Kind), a.run.kindBits(e.Kind)|a.run.opens(e), t)
		}
	}
}

// answerHolds reports whether the conditions of a sink hold for an answer: what the
// function answers with, and that it is a text.
func (a *analysis) answerHolds(v *value, list []model.Condition) bool {
	for _, c := range list {
		switch {
		case c.Test == model.Page:
			if !a.run.answersPage(a.fn) {
				return false
			}
		case c.Place.Base == model.Return && c.Test == model.Is && c.Word == "string":
			if a.answersText(v) == c.Not {
				return false
			}
		case c.Place.Base == model.Return && c.Test == model.Begins:
			if c.Like.MatchString(v.text()) == c.Not {
				return false
			}
		case c.Place.Base == model.Return && c.Test == model.Is && c.Word == "map":
			if (v.kind == kindMap) == c.Not {
				return false
			}
		}
	}
	return true
}

// answersText reports whether what a function answers is a text: its value, or what is
// declared where the value says nothing.
func (a *analysis) answersText(v *value) bool {
	if v.kind != kindAny {
		return v.kind == kindString
	}
	return len(a.fn.Results) == 1 && (strings.HasSuffix(a.fn.Results[0], ".String") || a.fn.Results[0] == "str")
}

// handles reports whether a framework calls the function for a request: it carries an
// annotation that may say with which types of content it answers.
func (r *run) handles(fn *ir.Function) bool {
	set := r.set(fn)
	return slices.ContainsFunc(annotations(fn.File, fn.Node), func(name string) bool {
		return len(set.Match(name)[model.Operations]) > 0 || len(set.Match(name)[model.Entrypoints]) > 0
	})
}

// page matches types of content, and the names of their constants, that browsers show
// as pages, or that a client may choose.
var page = regexp.MustCompile(`(?i)html|svg|\*`)

// answersPage reports whether a browser may show what the function around answers as a
// page: it handles requests, and neither it nor its class says that it answers with
// types of content of which none is one.
func (r *run) answersPage(fn *ir.Function) bool {
	for fn.Parent != nil && fn.Class == nil && fn.Node >= 0 && fn.File.Tree.Is(fn.Node, tree.Lambda) {
		fn = fn.Parent
	}
	if !r.handles(fn) {
		return false
	}
	types := r.answerTypes(fn, fn.Node)
	if len(types) == 0 && fn.Class != nil {
		types = r.answerTypes(fn, fn.Class.Node)
	}
	return len(types) == 0 || slices.ContainsFunc(types, page.MatchString)
}

// answerTypes returns the types of content that annotations of a declaration name: texts,
// or the names of constants.
func (r *run) answerTypes(fn *ir.Function, node int32) []string {
	f, set := fn.File, r.set(fn)
	var types []string
	for an := range f.Tree.All(node, tree.RoleAnnotation) {
		call := f.Tree.Child(an, tree.RoleValue)
		if !f.Tree.Is(call, tree.Call) {
			continue
		}
		callee := f.Tree.Child(call, tree.RoleCallee)
		name := f.Names.Qualified(callee)
		if name == "" {
			name = f.Tree.Dotted(callee)
		}
		for _, e := range set.Match(name)[model.Operations] {
			for _, p := range e.Places {
				if e.Kind == "answer.type" {
					types = append(types, leaves(f, annotationArgument(f.Tree, call, p))...)
				}
			}
		}
	}
	return types
}

// numberInRoute reports whether the address in an annotation of a handler lets nothing but
// a number stand for the parameter: "/items/<int:id>", "/items/{id:int}".
func numberInRoute(fn *ir.Function, name string) bool {
	t := fn.File.Tree
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
func (r *run) importedRoots(f *ir.File) []string {
	if list, ok := r.roots.Load(f); ok {
		return list.([]string)
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
	r.roots.Store(f, roots)
	return roots
}

// annotationArgument returns the argument of an annotation that the place means.
func annotationArgument(t *tree.File, call int32, p model.Place) int32 {
	n := 0
	for arg := range t.All(call, tree.RoleArgument) {
		switch name := t.Child(arg, tree.RoleName); {
		case t.Is(arg, tree.Keyword) && p.Name != "" && name >= 0 && t.Text(name) == p.Name:
			return t.Child(arg, tree.RoleValue)
		case t.Is(arg, tree.Keyword):
			continue
		case n == p.Index:
			return arg
		}
		n++
	}
	return tree.None
}

// leaves returns the texts below an expression, and the names of what is no text.
func leaves(f *ir.File, node int32) []string {
	if node < 0 {
		return nil
	}
	if c, ok := f.Names.Const(node); ok {
		return []string{c.Text}
	}
	if f.Tree.Is(node, tree.Name) || f.Tree.Is(node, tree.Member) {
		return []string{f.Tree.Dotted(node)}
	}
	var list []string
	for c := range f.Tree.Children(node) {
		list = append(list, leaves(f, c)...)
	}
	return list
}

// parameterIs reports whether a parameter of a function that a framework calls is what a
// condition asks: bare, of a class of the program, or a text.
func (r *run) parameterIs(fn *ir.Function, i int, c *model.Condition) bool {
	p := &fn.Params[i]
	if c.Place.Base != model.Parameter || c.Test != model.Is {
		return !c.Not
	}
	switch c.Word {
	case "bare":
		return !slices.ContainsFunc(annotations(fn.File, p.Node), func(name string) bool {
			return !strings.Contains(name, ".validation.") && !strings.HasSuffix(name, "Nullable") &&
				!strings.HasSuffix(name, "NonNull")
		})
	case "own":
		class := r.program.Class(p.Type)
		return class != nil && class.Kind != "enum"
	case "string":
		return strings.HasSuffix(strings.TrimSuffix(p.Type, "[]"), ".String")
	}
	return slices.Contains(r.types(fn, p.Type), c.Word)
}

// answered reports whether the entry speaks of the result.
func answered(e *model.Entry) bool {
	for _, p := range e.Places {
		if p.Base == model.Return && len(p.Steps) == 0 {
			return true
		}
	}
	return false
}

// assumeOperator cleans what a guard has approved of that is an operator: the model
// calls it by the operator's name, "in(arg1)", with the operands as arguments.
func (a *analysis) assumeOperator(st *state, in *ir.Instr, name string, holds bool) {
	m := a.run.set(a.fn).Match(name)
	if len(m[model.Guards]) == 0 {
		return
	}
	c := &callSite{a: a, st: st, in: in, call: &ir.Call{Receiver: ir.NoVar},
		names: &callNames{list: []string{name}, matches: []*model.Matches{m}}, args: []argument{
			{v: a.read(st, in.A), from: in.A, node: in.Node}, {v: a.read(st, in.B), from: in.B, node: in.Node},
		}}
	c.approve(holds)
}
