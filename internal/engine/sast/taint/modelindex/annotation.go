package modelindex

import (
	"regexp"
	"slices"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/tree"
)

// This file reads the annotations of declarations: which functions a framework calls for
// requests, and with which types of content they respond.

// HandlesRequests reports whether a framework calls the function for a request: it carries an
// annotation that may say with which types of content it answers.
func (r *Index) HandlesRequests(fn *ir.Function) bool {
	set := r.ModelsOf(fn)
	return slices.ContainsFunc(Annotations(fn.File, fn.Node), func(name string) bool {
		return len(set.Match(name)[model.Operations]) > 0 || len(set.Match(name)[model.Entrypoints]) > 0
	})
}

// page matches types of content, and the names of their constants, that browsers show
// as pages, or that a client may choose.
var page = regexp.MustCompile(`(?i)html|svg|\*`)

// AnswersPage reports whether a browser may show what the function around answers as a
// page: it handles requests, and neither it nor its class says that it answers with
// types of content of which none is one.
func (r *Index) AnswersPage(fn *ir.Function) bool {
	for fn.Parent != nil && fn.Class == nil && fn.Node >= 0 && fn.File.Tree.Is(fn.Node, tree.Lambda) {
		fn = fn.Parent
	}
	if !r.HandlesRequests(fn) {
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
func (r *Index) answerTypes(fn *ir.Function, node int32) []string {
	f, set := fn.File, r.ModelsOf(fn)
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
					types = append(types, leafTexts(f, annotationArgument(f.Tree, call, p))...)
				}
			}
		}
	}
	return types
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

// leafTexts returns the texts below an expression, and the names of what is no text.
func leafTexts(f *ir.File, node int32) []string {
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
		list = append(list, leafTexts(f, c)...)
	}
	return list
}

// Annotations returns the qualified names of the annotations of a declaration.
func Annotations(f *ir.File, node int32) []string {
	if node < 0 {
		return nil
	}
	var names []string
	for an := range f.Tree.All(node, tree.RoleAnnotation) {
		v := f.Tree.Child(an, tree.RoleValue)
		if f.Tree.Is(v, tree.Call) {
			v = f.Tree.Child(v, tree.RoleCallee)
		} else if f.Tree.Is(v, tree.New) {
			v = f.Tree.Child(v, tree.RoleType)
		}
		name := f.Names.Qualified(v)
		if name == "" {
			name = f.Tree.Dotted(v)
		}
		if f.Tree.Is(v, tree.Member) { // a method of a value: @app.route
			object := f.Tree.Child(v, tree.RoleObject)
			if t := f.Names.Type(object); t != "" {
				names = append(names, t+"."+f.Tree.Text(f.Tree.Child(v, tree.RoleProperty)))
			} else if f.Names.Qualified(object) == "" {
				names = append(names, "?."+f.Tree.Text(f.Tree.Child(v, tree.RoleProperty)))
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
