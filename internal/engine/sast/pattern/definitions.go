package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches what declares names: functions, classes, variables, parameters,
// imports, and assignments, which declarations with a value are too.

// declarations matches a function, class or variable. A pattern without a body, type,
// or value says nothing of them; kinds that differ only by where they stand are one.
func (m *matcher) declarations(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch p.kind {
	case tree.Function:
		if name := p.child(tree.RoleName); name != nil && name.kind == tree.Ellipsis {
			if n.Kind == tree.Function || n.Kind == tree.Lambda {
				return m.unnamed(p, t, e)
			}
			return nil
		}
		switch n.Kind {
		case tree.Function:
			return m.function(p, t, e)
		case tree.Variable, tree.Field, tree.Pair:
			return m.functionValue(p, t, e)
		case tree.Export, tree.ExpressionStatement:
			return m.exported(p, t, e)
		}
	case tree.Class:
		if n.Kind == tree.Class && sameClass(p.text, n.Text) {
			return m.same(p, t, e)
		}
	case tree.Variable, tree.Field:
		if (n.Kind == tree.Variable || n.Kind == tree.Field) && m.sameKeyword(p.text, n.Text) {
			return m.variable(p, t, e)
		}
		if p.text == ":=" && n.Kind == tree.Assign && n.Text == ":=" {
			return m.same(p, t, e)
		}
	case tree.TypeAlias:
		if n.Kind == tree.TypeAlias {
			return m.same(p, t, e)
		}
	}
	return nil
}

// function matches two functions. Accessors are told apart.
func (m *matcher) function(p *node, t int32, e *env) []*env {
	switch text := m.file.Tree.Nodes[t].Text; {
	case (p.text == "getter" || p.text == "setter") && p.text != text:
		return nil
	}
	return m.same(p, t, e)
}

// functionValue matches a function with a variable or member whose value is one.
func (m *matcher) functionValue(p *node, t int32, e *env) []*env {
	if !m.options.ArrowIsFunction {
		return nil
	}
	f := m.file.Tree
	value := f.Child(t, tree.RoleValue)
	if !f.Is(value, tree.Lambda) {
		return nil
	}
	target := f.Child(t, tree.RoleTarget)
	if f.Is(t, tree.Pair) {
		target = f.Child(t, tree.RoleKey)
	}
	name := p.child(tree.RoleName)
	if name == nil || target < 0 {
		return nil
	}
	return m.then(m.node(name, target, e), func(e *env) []*env { return m.unnamed(p, value, e) })
}

// unnamed matches everything of a function but its name.
func (m *matcher) unnamed(p *node, t int32, e *env) []*env {
	out := e.only()
	for i, s := range slots[p.kind] {
		if s.roles[0] == tree.RoleName {
			continue
		}
		out = m.then(out, func(e *env) []*env { return m.slot(p, i, t, e) })
		if len(out) == 0 {
			return nil
		}
	}
	return out
}

// exported matches a function without a name with the function that is the value of
// an export or of a statement.
func (m *matcher) exported(p *node, t int32, e *env) []*env {
	value := m.file.Tree.Child(t, tree.RoleValue)
	if p.child(tree.RoleName) != nil || !m.file.Tree.Is(value, tree.Lambda) {
		return nil
	}
	return m.unnamed(p, value, e)
}

// sameClass reports whether a pattern's kind of class covers another one. A record
// and a struct are classes with a word more.
func sameClass(p, t string) bool {
	return p == t || p == "class" && (t == "record" || t == "struct" || t == "enum") || p == "interface" &&
		t == "annotation" || p == ""
}

// sameKeyword reports whether the keyword of a pattern's variable covers another.
func (m *matcher) sameKeyword(p, t string) bool {
	switch {
	case p == "" && t != ":=", p == t:
		return true
	case p == "var":
		return m.options.LetIsVar && (t == "let" || t == "const")
	}
	return false
}

// variable matches two variables.
func (m *matcher) variable(p *node, t int32, e *env) []*env { return m.same(p, t, e) }

// parameter matches two parameters. A metavariable alone is any parameter.
func (m *matcher) parameter(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if n.Kind != tree.Parameter {
		return nil
	}
	if len(p.kids) == 1 && p.kids[0].kind == tree.Metavariable && p.text == "" {
		if n.Text != "" {
			return nil
		}
		if target := m.file.Tree.Child(t, tree.RoleTarget); target >= 0 {
			return m.node(p.kids[0], target, e)
		}
		return m.node(p.kids[0], t, e)
	}
	if p.text != n.Text {
		return nil
	}
	return m.same(p, t, e)
}

// assign matches an assignment, which a declaration with a value is too.
func (m *matcher) assign(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch n.Kind {
	case tree.Assign:
		if p.kind != tree.Assign || p.text != n.Text && !(p.text == "=" && n.Text == ":=") {
			return nil
		}
	case tree.Variable, tree.Field:
		if p.kind != tree.Assign || p.text != "=" || !m.options.VardefAssign {
			return nil
		}
	case tree.Function:
		return m.assignFunction(p, t, e)
	default:
		return nil
	}
	target, value := f.Child(t, tree.RoleTarget), f.Child(t, tree.RoleValue)
	pt, pv := p.child(tree.RoleTarget), p.child(tree.RoleValue)
	if target < 0 || value < 0 || pt == nil || pv == nil {
		return nil
	}
	out := m.then(m.inner(pt, target, e), func(e *env) []*env { return m.inner(pv, value, e) })
	return m.both(out, m.assignEach(pt, pv, [2]int32{target, value}, e))
}

// assignEach matches an assignment with each part of one of several values to as many
// targets.
func (m *matcher) assignEach(pt, pv *node, at [2]int32, e *env) []*env {
	f := m.file.Tree
	if !sequence(f.Nodes[at[0]].Kind) || !sequence(f.Nodes[at[1]].Kind) || sequence(pt.kind) {
		return nil
	}
	if f.Count(at[0], tree.RoleElement) != f.Count(at[1], tree.RoleElement) {
		return nil
	}
	var out []*env
	value := at[1] + 1
	for target := range f.All(at[0], tree.RoleElement) {
		v := value
		out = m.both(out, m.then(m.inner(pt, target, e), func(e *env) []*env { return m.inner(pv, v, e) }))
		value = f.Nodes[value].Next
	}
	return out
}

func sequence(k tree.Kind) bool { return k == tree.Tuple || k == tree.List }

// assignFunction matches the assignment of a function with a method.
func (m *matcher) assignFunction(p *node, t int32, e *env) []*env {
	pt, pv := p.child(tree.RoleTarget), p.child(tree.RoleValue)
	name := m.file.Tree.Child(t, tree.RoleName)
	if !m.options.FlddefAssign || pt == nil || pv == nil || pv.kind != tree.Lambda || name < 0 {
		return nil
	}
	return m.then(m.node(pt, name, e), func(e *env) []*env { return m.unnamed(pv, t, e) })
}

// bareAnnotation matches a call without arguments with an annotation that has none.
func (m *matcher) bareAnnotation(p *node, t int32, e *env) []*env {
	out := m.arguments(p.all(tree.RoleArgument), nil, e)
	return m.then(out, func(e *env) []*env { return m.inner(p.child(tree.RoleCallee), t, e) })
}

// annotation matches two annotations. One without arguments has an empty list of
// them.
func (m *matcher) annotation(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	pv, tv := p.child(tree.RoleValue), f.Child(t, tree.RoleValue)
	if !f.Is(t, tree.Annotation) || pv == nil || tv < 0 {
		return nil
	}
	if pv.kind != tree.Call && pv.kind != tree.Ellipsis && f.Is(tv, tree.Call) {
		if f.Count(tv, tree.RoleArgument) > 0 {
			return nil
		}
		tv = f.Child(tv, tree.RoleCallee)
	}
	return m.inner(pv, tv, e)
}

// pair matches a member of an object, a named argument or an entry of a map with one
// another: they differ only by where they stand.
func (m *matcher) pair(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	pk, pv := p.child(tree.RoleKey), p.child(tree.RoleValue)
	if p.kind == tree.Keyword {
		pk = p.child(tree.RoleName)
	}
	key, value := f.Child(t, tree.RoleKey), f.Child(t, tree.RoleValue)
	if f.Is(t, tree.Keyword) {
		key = f.Child(t, tree.RoleName)
	}
	if pk == nil || pv == nil || key < 0 || value < 0 {
		return nil
	}
	return m.then(m.key(pk, key, e), func(e *env) []*env { return m.inner(pv, value, e) })
}

// key matches the key of a pair: a bare word and a string are the same one.
func (m *matcher) key(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != tree.Other && n.Kind == tree.Other && n.Next == t+2 && f.Is(t+1, tree.Name) {
		t++ // ":a" of Ruby, which is the a of "a: 1"
		n = &f.Nodes[t]
	}
	if n.Kind != tree.Name && n.Kind != tree.String {
		return m.inner(p, t, e)
	}
	switch {
	case p.kind == tree.Name || p.kind == tree.String && p.meta == "" && p.regex == nil && p.text != "...":
		if n.Text == p.text && (p.kind == n.Kind || p.flags&tree.Implied != 0 || n.Flags&tree.Implied != 0 ||
			f.Is(n.Parent, tree.Keyword)) {
			return e.only()
		}
	case p.kind == tree.String && p.meta != "" && p.flags&tree.Implied != 0:
		return m.bindNode(p.meta, t, e)
	}
	return m.inner(p, t, e)
}

// imports matches an import. The pattern may name only the beginning of what is
// imported, and how the source spells it does not matter: "import a.b" matches
// "from a import b".
func (m *matcher) imports(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case n.Kind == tree.Variable:
		return m.required(p, t, e)
	case n.Kind == tree.Export && n.Text != "":
	case n.Kind != tree.Import:
		return nil
	}
	name, alias := p.child(tree.RoleName), p.child(tree.RoleAlias)
	tname, talias := f.Child(t, tree.RoleName), f.Child(t, tree.RoleAlias)
	after := func(e *env) []*env {
		if alias == nil {
			return e.only()
		}
		if talias < 0 {
			return nil
		}
		return m.inner(alias, talias, e)
	}
	path := p.child(tree.RolePath)
	if path == nil {
		path = &node{kind: tree.Name, text: p.text, meta: wholeMetavariable(p.text)}
	}
	tpath := f.Child(t, tree.RolePath)
	var out []*env
	switch {
	case name != nil && tname >= 0:
		out = m.then(m.module(path, n.Text, tpath, t, e), func(e *env) []*env {
			return m.then(m.inner(name, tname, e), after)
		})
	case name == nil && tname < 0:
		out = m.then(m.module(path, n.Text, tpath, t, e), after)
	case name == nil && alias == nil && f.Is(tpath, tree.String):
		out = m.module(path, n.Text, tpath, t, e)
	case name != nil && name.text == "*" && talias >= 0:
		out = m.then(m.module(path, n.Text, tpath, t, e), after)
	}
	if out != nil {
		return out
	}
	return m.then(m.joined(path, name, t, e), after)
}

// joined compares the module and the name of both as one dotted name.
func (m *matcher) joined(path, name *node, t int32, e *env) []*env {
	f := m.file.Tree
	parts := importParts(path)
	if parts == nil {
		return nil
	}
	if name != nil {
		if name.dotted == nil || name.text == "*" {
			return nil
		}
		parts = append(parts, name.dotted...)
	}
	code := strings.Split(f.Nodes[t].Text, ".")
	if tname := f.Child(t, tree.RoleName); tname >= 0 && f.Text(tname) != "*" {
		code = append(code, f.Text(tname))
	}
	if path.kind == tree.String || f.Is(f.Child(t, tree.RolePath), tree.String) {
		return nil
	}
	return m.prefixOf(parts, code, t, e)
}

// importParts returns the parts of a module's name in a pattern.
func importParts(path *node) []string {
	if path.dotted != nil {
		return append([]string(nil), path.dotted...)
	}
	if path.text != "" {
		return strings.Split(path.text, ".")
	}
	return nil
}

// prefixOf matches dotted parts with the beginning of others. A last metavariable is
// the whole rest.
func (m *matcher) prefixOf(parts, code []string, t int32, e *env) []*env {
	if len(parts) > len(code) {
		return nil
	}
	out := e.only()
	for i, part := range parts {
		text := code[i]
		switch {
		case part == "...":
			return out
		case wholeMetavariable(part) != "":
			if i == len(parts)-1 {
				text = strings.Join(code[i:], ".")
			}
			out = m.then(out, func(e *env) []*env { return m.bindText(part, text, t, e) })
		case part != text:
			return nil
		}
	}
	return out
}

// module matches the module of an import: a string as strings match, a dotted name
// by its beginning.
func (m *matcher) module(p *node, text string, path, t int32, e *env) []*env {
	switch {
	case p.kind == tree.Ellipsis:
		return e.only()
	case p.kind == tree.Metavariable || p.meta != "":
		if path >= 0 && p.kind != tree.String {
			return m.bindNode(p.meta, path, e)
		}
		return m.bindText(p.meta, text, max(path, t), e)
	case p.kind == tree.String && (p.regex != nil || p.text == "..."):
		return m.value(p, tree.String, text, max(path, t), e)
	case p.kind == tree.String || m.file.Tree.Is(path, tree.String):
		if p.text == text || strings.HasPrefix(text, p.text+"/") {
			return e.only()
		}
		return nil
	}
	return m.prefixOf(importParts(p), strings.Split(text, "."), t, e)
}

// required matches an import with a variable that is the result of importing by a
// call.
func (m *matcher) required(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	value, target := f.Child(t, tree.RoleValue), f.Child(t, tree.RoleTarget)
	path, name := p.child(tree.RolePath), p.child(tree.RoleName)
	if m.file.Scope == nil || m.file.Language.Semantics.ImportFunction == "" || !f.Is(value, tree.Call) || path == nil ||
		p.child(tree.RoleAlias) != nil {
		return nil
	}
	callee, arg := f.Child(value, tree.RoleCallee), f.Child(value, tree.RoleArgument)
	if !f.Is(callee, tree.Name) || f.Text(callee) != m.file.Language.Semantics.ImportFunction ||
		!f.Is(arg, tree.String) || path.kind != tree.String {
		return nil
	}
	out := m.literal(path, arg, e)
	if name == nil || len(out) == 0 || f.Is(target, tree.Name) {
		if name != nil && name.text != "default" && name.text != "*" {
			return nil
		}
		return out
	}
	if !f.Is(target, tree.Map) {
		return nil
	}
	var all []*env
	for pair := range f.All(target, tree.RoleElement) {
		if f.Is(pair, tree.Pair) && f.Text(f.Child(pair, tree.RoleKey)) == f.Text(f.Child(pair, tree.RoleValue)) {
			v := f.Child(pair, tree.RoleValue)
			all = m.both(all, m.then(out, func(e *env) []*env { return m.inner(name, v, e) }))
		}
	}
	return all
}
