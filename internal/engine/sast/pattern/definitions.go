package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches what declares names: functions, classes, variables, parameters,
// imports, and assignments, which declarations with a value are too.

// matchDeclaration matches a function, class or variable. A pattern without a body, type,
// or value says nothing of them; kinds that differ only by where they stand are one.
func (m *matcher) matchDeclaration(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	switch p.kind {
	case tree.Function:
		return m.matchFunctionDeclaration(p, t, e)
	case tree.Class:
		if n.Kind == tree.Class && sameClass(p.text, n.Text) {
			return m.matchSlots(p, t, e)
		}
	case tree.Variable, tree.Field:
		if (n.Kind == tree.Variable || n.Kind == tree.Field) && m.sameKeyword(p.text, n.Text) {
			return m.matchSlots(p, t, e)
		}
		if p.text == ":=" && n.Kind == tree.Assign && n.Text == ":=" {
			return m.matchSlots(p, t, e)
		}
	case tree.TypeAlias:
		if n.Kind == tree.TypeAlias {
			return m.matchSlots(p, t, e)
		}
	}
	return nil
}

// matchFunctionDeclaration matches a function with whatever declares one. A function without a
// name in the pattern, or with an ellipsis as its name, matches function values too.
func (m *matcher) matchFunctionDeclaration(p *node, t int32, e *env) []*env {
	kind := m.file.Tree.Nodes[t].Kind
	if name := p.child(tree.RoleName); name != nil && name.kind == tree.Ellipsis {
		if kind == tree.Function || kind == tree.Lambda {
			return m.matchUnnamed(p, t, e)
		}
		return nil
	}
	switch kind {
	case tree.Function:
		return m.matchFunction(p, t, e)
	case tree.Variable, tree.Field, tree.Pair:
		return m.matchFunctionValue(p, t, e)
	case tree.Export, tree.ExpressionStatement:
		return m.matchExported(p, t, e)
	}
	return nil
}

// matchFunction matches two functions. A getter of a name is not its setter.
func (m *matcher) matchFunction(p *node, t int32, e *env) []*env {
	if (p.text == "getter" || p.text == "setter") && p.text != m.file.Tree.Nodes[t].Text {
		return nil
	}
	return m.matchSlots(p, t, e)
}

// matchFunctionValue matches a function with a variable or member whose value is one. "const f =
// () => …" is a function f in all that matters to a rule.
func (m *matcher) matchFunctionValue(p *node, t int32, e *env) []*env {
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
	return m.andThen(m.matchNode(name, target, e), func(e *env) []*env { return m.matchUnnamed(p, value, e) })
}

// matchUnnamed matches everything of a function but its name. The name was compared before, or the
// source has none.
func (m *matcher) matchUnnamed(p *node, t int32, e *env) []*env {
	out := e.asResult()
	for i, s := range slots[p.kind] {
		if s.roles[0] == tree.RoleName {
			continue
		}
		out = m.andThen(out, func(e *env) []*env { return m.matchSlot(p, i, t, e) })
		if len(out) == 0 {
			return nil
		}
	}
	return out
}

// matchExported matches a function without a name with the function that is the value of
// an export or of a statement.
func (m *matcher) matchExported(p *node, t int32, e *env) []*env {
	value := m.file.Tree.Child(t, tree.RoleValue)
	if p.child(tree.RoleName) != nil || !m.file.Tree.Is(value, tree.Lambda) {
		return nil
	}
	return m.matchUnnamed(p, value, e)
}

// sameClass reports whether a pattern's kind of class covers another one. A record and a struct
// are classes with a word more. A pattern "class $X" of Java is meant for records and enums too.
func sameClass(p, t string) bool {
	return p == t || p == "class" && (t == "record" || t == "struct" || t == "enum") || p == "interface" &&
		t == "annotation" || p == ""
}

// sameKeyword reports whether the keyword of a pattern's variable covers another. Rules written
// for "var" must find "let" and "const" unless they say otherwise.
func (m *matcher) sameKeyword(p, t string) bool {
	switch {
	case p == "" && t != ":=", p == t:
		return true
	case p == "var":
		return m.options.LetIsVar && (t == "let" || t == "const")
	}
	return false
}

// matchParameter matches two parameters. A metavariable alone is any parameter. The metavariable
// is bound to the name, so that it equals uses of the parameter in the body.
func (m *matcher) matchParameter(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if n.Kind != tree.Parameter {
		return nil
	}
	if len(p.kids) == 1 && p.kids[0].kind == tree.Metavariable && p.text == "" {
		if n.Text != "" {
			return nil
		}
		if target := m.file.Tree.Child(t, tree.RoleTarget); target >= 0 {
			return m.matchNode(p.kids[0], target, e)
		}
		return m.matchNode(p.kids[0], t, e)
	}
	if p.text != n.Text {
		return nil
	}
	return m.matchSlots(p, t, e)
}

// matchAssign matches an assignment, which a declaration with a value is too. A method of a class
// is the assignment of a function (JavaScript), if the rule asks for it.
func (m *matcher) matchAssign(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if n.Kind == tree.Function {
		return m.matchAssignFunction(p, t, e)
	}
	if !m.isAssignment(p, n) {
		return nil
	}
	target, value := f.Child(t, tree.RoleTarget), f.Child(t, tree.RoleValue)
	pt, pv := p.child(tree.RoleTarget), p.child(tree.RoleValue)
	if target < 0 || value < 0 || pt == nil || pv == nil {
		return nil
	}
	out := m.andThen(m.matchInner(pt, target, e), func(e *env) []*env { return m.matchInner(pv, value, e) })
	return m.joinResults(out, m.matchAssignEach(pt, pv, [2]int32{target, value}, e))
}

// isAssignment reports whether a node assigns in the way of the pattern: with the same
// operator, or by a declaration if the rule lets it.
func (m *matcher) isAssignment(p *node, n *tree.Node) bool {
	if p.kind != tree.Assign {
		return false
	}
	switch n.Kind {
	case tree.Assign:
		return p.text == n.Text || p.text == "=" && n.Text == ":="
	case tree.Variable, tree.Field:
		return p.text == "=" && m.options.VardefAssign
	}
	return false
}

// matchAssignEach matches an assignment with each part of one of several values to as many
// targets. In "a, b = f(), g()" the pattern "$X = f()" matches the first pair.
func (m *matcher) matchAssignEach(pt, pv *node, at [2]int32, e *env) []*env {
	f := m.file.Tree
	if !isSequence(f.Nodes[at[0]].Kind) || !isSequence(f.Nodes[at[1]].Kind) || isSequence(pt.kind) {
		return nil
	}
	if f.Count(at[0], tree.RoleElement) != f.Count(at[1], tree.RoleElement) {
		return nil
	}
	var out []*env
	value := at[1] + 1
	for target := range f.All(at[0], tree.RoleElement) {
		v := value
		out = m.joinResults(out, m.andThen(m.matchInner(pt, target, e), func(e *env) []*env {
			return m.matchInner(pv, v, e)
		}))
		value = f.Nodes[value].Next
	}
	return out
}

// isSequence reports whether the node lists several targets or values.
func isSequence(k tree.Kind) bool { return k == tree.Tuple || k == tree.List }

// matchAssignFunction matches the assignment of a function with a method. JavaScript's "class A {
// m() {} }" assigns m as "m = function () {}" does.
func (m *matcher) matchAssignFunction(p *node, t int32, e *env) []*env {
	pt, pv := p.child(tree.RoleTarget), p.child(tree.RoleValue)
	name := m.file.Tree.Child(t, tree.RoleName)
	if !m.options.FlddefAssign || pt == nil || pv == nil || pv.kind != tree.Lambda || name < 0 {
		return nil
	}
	return m.andThen(m.matchNode(pt, name, e), func(e *env) []*env { return m.matchUnnamed(pv, t, e) })
}

// matchBareAnnotation matches a call without arguments with an annotation that has none. "@A" and
// "@A()" mean the same in Java and Python.
func (m *matcher) matchBareAnnotation(p *node, t int32, e *env) []*env {
	out := m.matchArguments(p.childrenWith(tree.RoleArgument), nil, e)
	return m.andThen(out, func(e *env) []*env { return m.matchInner(p.child(tree.RoleCallee), t, e) })
}

// matchAnnotation matches two annotations. One without arguments has an empty list of
// them.
func (m *matcher) matchAnnotation(p *node, t int32, e *env) []*env {
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
	return m.matchInner(pv, tv, e)
}

// matchPair matches a member of an object, a named argument or an entry of a map with one another:
// they differ only by where they stand. "f(a=1)" of Python and "{a: 1}" of JavaScript are lowered
// to different kinds.
func (m *matcher) matchPair(p *node, t int32, e *env) []*env {
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
	return m.andThen(m.matchKey(pk, key, e), func(e *env) []*env { return m.matchInner(pv, value, e) })
}

// matchKey matches the key of a pair: a bare word and a string are the same one. YAML and
// JavaScript allow either; the lowering marks the bare word as Implied.
func (m *matcher) matchKey(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != tree.Other && n.Kind == tree.Other && n.Next == t+2 && f.Is(t+1, tree.Name) {
		t++ // ":a" of Ruby, which is the a of "a: 1"
		n = &f.Nodes[t]
	}
	if n.Kind != tree.Name && n.Kind != tree.String {
		return m.matchInner(p, t, e)
	}
	switch {
	case p.isKeyText():
		if n.Text == p.text && m.sameKeyForm(p, n) {
			return e.asResult()
		}
	case p.kind == tree.String && p.meta != "" && p.flags&tree.Implied != 0:
		return m.bindNode(p.meta, t, e)
	}
	return m.matchInner(p, t, e)
}

// isKeyText reports whether a key of a pattern is only its text.
func (n *node) isKeyText() bool {
	return n.kind == tree.Name || n.kind == tree.String && n.meta == "" && n.regex == nil && n.text != "..."
}

// sameKeyForm reports whether a bare word and a string mean one key: both are of one kind,
// or the language takes a bare word for a string there.
func (m *matcher) sameKeyForm(p *node, n *tree.Node) bool {
	return p.kind == n.Kind || p.flags&tree.Implied != 0 || n.Flags&tree.Implied != 0 ||
		m.file.Tree.Is(n.Parent, tree.Keyword)
}

// matchImport matches an import. The pattern may name only the beginning of what is
// imported, and how the source spells it does not matter: "import a.b" matches
// "from a import b".
func (m *matcher) matchImport(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch {
	case n.Kind == tree.Variable:
		return m.matchRequire(p, t, e)
	case n.Kind == tree.Export && n.Text != "":
	case n.Kind != tree.Import:
		return nil
	}
	alias := p.child(tree.RoleAlias)
	after := func(e *env) []*env {
		if alias == nil {
			return e.asResult()
		}
		talias := f.Child(t, tree.RoleAlias)
		if talias < 0 {
			return nil
		}
		return m.matchInner(alias, talias, e)
	}
	path := p.child(tree.RolePath)
	if path == nil {
		path = &node{kind: tree.Name, text: p.text, meta: wholeMetavariable(p.text)}
	}
	if out := m.matchImportForm(p, path, t, e, after); out != nil {
		return out
	}
	return m.andThen(m.matchJoinedImport(path, p.child(tree.RoleName), t, e), after)
}

// matchImportForm matches an import of the same form: a module with a module, a name of a
// module with a name. After matches the alias.
func (m *matcher) matchImportForm(p, path *node, t int32, e *env, after func(*env) []*env) []*env {
	f := m.file.Tree
	name, text := p.child(tree.RoleName), f.Nodes[t].Text
	tname, tpath := f.Child(t, tree.RoleName), f.Child(t, tree.RolePath)
	switch {
	case name != nil && tname >= 0:
		return m.andThen(m.matchModule(path, text, tpath, t, e), func(e *env) []*env {
			return m.andThen(m.matchInner(name, tname, e), after)
		})
	case name == nil && tname < 0:
		return m.andThen(m.matchModule(path, text, tpath, t, e), after)
	case name == nil && p.child(tree.RoleAlias) == nil && f.Is(tpath, tree.String):
		return m.matchModule(path, text, tpath, t, e)
	case name != nil && name.text == "*" && f.Child(t, tree.RoleAlias) >= 0:
		return m.andThen(m.matchModule(path, text, tpath, t, e), after)
	}
	return nil
}

// matchJoinedImport compares the module and the name of both as one dotted name. So that "import
// a.b.c" matches "from a.b import c", whose lowering splits the name elsewhere. Modules that are
// paths in quotes have no dotted name.
func (m *matcher) matchJoinedImport(path, name *node, t int32, e *env) []*env {
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
	return m.matchPrefix(parts, code, t, e)
}

// importParts returns the parts of a module's name in a pattern. The result is a copy: the caller
// appends to it.
func importParts(path *node) []string {
	if path.dotted != nil {
		return append([]string(nil), path.dotted...)
	}
	if path.text != "" {
		return strings.Split(path.text, ".")
	}
	return nil
}

// matchPrefix matches dotted parts with the beginning of others. A last metavariable is the whole
// rest. An ellipsis ends the comparison, "import a. ...".
func (m *matcher) matchPrefix(parts, code []string, t int32, e *env) []*env {
	if len(parts) > len(code) {
		return nil
	}
	out := e.asResult()
	for i, part := range parts {
		text := code[i]
		switch {
		case part == "...":
			return out
		case wholeMetavariable(part) != "":
			if i == len(parts)-1 {
				text = strings.Join(code[i:], ".")
			}
			out = m.andThen(out, func(e *env) []*env { return m.bindText(part, text, t, e) })
		case part != text:
			return nil
		}
	}
	return out
}

// matchModule matches the module of an import: a string as strings match, a dotted name by its
// beginning. A path in quotes also matches modules below it: 'lodash' covers 'lodash/merge'.
func (m *matcher) matchModule(p *node, text string, path, t int32, e *env) []*env {
	switch {
	case p.kind == tree.Ellipsis:
		return e.asResult()
	case p.kind == tree.Metavariable || p.meta != "":
		if path >= 0 && p.kind != tree.String {
			return m.bindNode(p.meta, path, e)
		}
		return m.bindText(p.meta, text, max(path, t), e)
	case p.kind == tree.String && (p.regex != nil || p.text == "..."):
		return m.matchValue(p, tree.String, text, max(path, t), e)
	case p.kind == tree.String || m.file.Tree.Is(path, tree.String):
		if p.text == text || strings.HasPrefix(text, p.text+"/") {
			return e.asResult()
		}
		return nil
	}
	return m.matchPrefix(importParts(p), strings.Split(text, "."), t, e)
}

// matchRequire matches an import with a variable that is the result of importing by a
// call: "const x = require('m')" and "const {y} = require('m')" (JavaScript).
func (m *matcher) matchRequire(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	arg := m.requiredModule(p, f.Child(t, tree.RoleValue))
	if arg < 0 {
		return nil
	}
	target, name := f.Child(t, tree.RoleTarget), p.child(tree.RoleName)
	out := m.matchLiteral(p.child(tree.RolePath), arg, e)
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
			all = m.joinResults(all, m.andThen(out, func(e *env) []*env { return m.matchInner(name, v, e) }))
		}
	}
	return all
}

// requiredModule returns the string that names the module in a call which imports one;
// None for any other value, or when the pattern has no such module.
func (m *matcher) requiredModule(p *node, value int32) int32 {
	f := m.file.Tree
	path := p.child(tree.RolePath)
	if m.file.Scope == nil || !f.Is(value, tree.Call) || path == nil || path.kind != tree.String ||
		p.child(tree.RoleAlias) != nil {
		return tree.None
	}
	function := m.file.Language.Semantics.ImportFunction
	callee, arg := f.Child(value, tree.RoleCallee), f.Child(value, tree.RoleArgument)
	if function == "" || !f.Is(callee, tree.Name) || f.Text(callee) != function || !f.Is(arg, tree.String) {
		return tree.None
	}
	return arg
}
