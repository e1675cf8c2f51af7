package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches types and typed metavariables.

// matchType matches two types. A type without arguments in the pattern is not one with
// arguments in the source.
func (m *matcher) matchType(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.meta != "" && len(p.kids) == 0 {
		return m.bindNode(p.meta, t, e)
	}
	switch n.Kind {
	case tree.Type:
	case tree.Name, tree.Member:
		if len(p.kids) == 0 && f.Dotted(t) == p.text {
			return e.asResult()
		}
		return nil
	default:
		return nil
	}
	if p.meta != "" {
		return m.andThen(m.bindText(p.meta, n.Text, t, e), func(e *env) []*env { return m.matchChildren(p, t, e) })
	}
	if p.text != n.Text {
		if strings.Contains(p.text, "$") && len(p.kids) == 0 {
			return m.matchParts(strings.Split(p.text, "."), strings.Split(n.Text, "."), t, e)
		}
		if len(p.kids) == 0 || !m.sameTypeName(p.text, t) {
			return nil
		}
	}
	return m.matchChildren(p, t, e)
}

// sameTypeName reports whether a type's own name is the one of a pattern. An import may have given
// it another name.
func (m *matcher) sameTypeName(want string, t int32) bool {
	return m.file.Tree.Nodes[t].Text == want || m.qualifiedName(t) == want
}

// matchTyped matches a metavariable that must have a type. "(String $X).equals(...)" asks for one.
// The type is asked first: it is cheap, and rejects most nodes. Statements have none.
func (m *matcher) matchTyped(p *node, t int32, e *env) []*env {
	kind, value := p.child(tree.RoleType), p.child(tree.RoleValue)
	if kind == nil || value == nil {
		return nil
	}
	if n := &m.file.Tree.Nodes[t]; !n.Kind.Expression() {
		return nil
	}
	return m.andThen(m.hasType(kind, t, e), func(e *env) []*env { return m.matchNode(value, t, e) })
}

// hasType matches the type of a value: the declared one as types match, else the one
// that scope infers by name, and its supertypes in the file.
func (m *matcher) hasType(p *node, t int32, e *env) []*env {
	decl := m.declaredType(t)
	if p.kind == tree.Type && p.text == "*" && len(p.kids) == 1 {
		return m.hasPointer(p, decl, t, e)
	}
	if decl >= 0 {
		if out := m.matchInner(p, decl, e); out != nil {
			return out
		}
		if p.kind == tree.Metavariable || p.meta != "" && len(p.kids) == 0 {
			return nil // what is declared is another type than before
		}
		if m.isDerived(p, m.file.typeName(decl)) {
			return e.asResult()
		}
	}
	if m.file.Scope == nil {
		return nil
	}
	if m.hasBasicType(p, t) {
		return e.asResult()
	}
	return m.hasInferredType(p, t, e)
}

// hasBasicType reports whether a constant has the basic type of the pattern. JavaScript has one
// type of number, so an integer is a float there.
func (m *matcher) hasBasicType(p *node, t int32) bool {
	basic := m.basicType(t)
	if basic == "" || p.dotted == nil || len(p.kids) > 0 {
		return false
	}
	switch want := builtinTypes[lastPart(p.text)]; want {
	case basic:
		return true
	case "number":
		return basic == "int" || basic == "float"
	case "float":
		return basic == "int" && m.file.Language.Semantics.OneNumber
	}
	return false
}

// hasInferredType matches the type that scope infers for an expression; a class itself
// has its own name.
func (m *matcher) hasInferredType(p *node, t int32, e *env) []*env {
	name := m.file.Scope.Type(t)
	if name == "" {
		name = m.file.Scope.Qualified(t)
	}
	switch {
	case name == "":
	case p.kind == tree.Metavariable || p.meta != "":
		return m.bindText(p.meta, lastPart(name), t, e)
	case m.isDerived(p, name):
		return e.asResult()
	}
	return nil
}

// hasPointer matches a type of pointers with that of a value: the declared one; any for null;
// characters for a string; and for a value without a declared type the one that it points to.
// Pointers are part of the types of C, Go and Rust.
func (m *matcher) hasPointer(p *node, decl, t int32, e *env) []*env {
	switch n := &m.file.Tree.Nodes[t]; {
	case decl >= 0:
		return m.matchInner(p, decl, e)
	case n.Kind == tree.Null:
		return e.asResult()
	case n.Kind == tree.String:
		if p.kids[0].kind == tree.Metavariable {
			return m.bindText(p.kids[0].meta, "char", t, e)
		}
		if p.kids[0].text == "char" {
			return e.asResult()
		}
		return nil
	case isLiteral(n.Kind), m.file.Scope == nil,
		m.file.Scope.Binding(t) >= 0 && p.kids[0].kind == tree.Metavariable:

		return nil
	}
	return m.hasType(p.kids[0], t, e)
}

// basicType returns the basic type of a constant, in the words of builtinTypes. Only what is
// certain from the expression alone counts.
func (m *matcher) basicType(t int32) string {
	if v, ok := m.file.constantOf(t); ok {
		switch v.Kind {
		case tree.String:
			return "string"
		case tree.Bool:
			return "bool"
		case tree.Number:
			if strings.ContainsAny(v.Text, ".") && !strings.HasPrefix(v.Text, "0x") {
				return "float"
			}
			return "int"
		}
	}
	switch n := &m.file.Tree.Nodes[t]; n.Kind {
	case tree.TypeTest:
		return "bool"
	case tree.Unary:
		if n.Text == "!" || n.Text == "not" {
			return "bool"
		}
	case tree.Binary:
		return m.operationType(t, n.Text)
	}
	return ""
}

// operationType returns the basic type of the result of an operator. "+" joins strings in most
// languages as soon as one operand is one.
func (m *matcher) operationType(t int32, op string) string {
	f := m.file.Tree
	switch op {
	case "==", "!=", "===", "!==", "<", ">", "<=", ">=", "&&", "||", "instanceof", "in":
		return "bool"
	case "+", "-":
		l, r := m.basicType(f.Child(t, tree.RoleLeft)), m.basicType(f.Child(t, tree.RoleRight))
		if l == "string" || r == "string" {
			return "string"
		} else if l == r {
			return l
		}
	}
	return ""
}

// declaredType returns the Type with which the variable that the expression names was declared,
// None when there is none. Types that only say "infer it" are none.
func (m *matcher) declaredType(t int32) int32 {
	if m.file.Scope == nil {
		return tree.None
	}
	f := m.file.Tree
	d := m.file.Scope.Binding(t)
	if d < 0 {
		return tree.None
	}
	by := m.file.Scope.Declarator(d)
	if by < 0 {
		return tree.None
	}
	decl := f.Child(by, tree.RoleType)
	if f.Text(decl) == "var" || f.Text(decl) == "auto" {
		return tree.None
	}
	return decl
}

// isDerived reports whether a type of the name is the one of the pattern, or has it among the
// supertypes that the file declares. The search is bounded, as source may declare a circle of
// supertypes.
func (m *matcher) isDerived(p *node, name string) bool {
	if len(p.kids) > 0 || p.dotted == nil && p.text == "" {
		return false
	}
	want := p.text
	if p.dotted != nil {
		want = strings.Join(p.dotted, ".")
	}
	seen := map[string]bool{}
	queue := []string{name}
	for len(queue) > 0 && len(seen) < 100 {
		name, queue = queue[0], queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if sameType(want, name) {
			return true
		}
		queue = append(queue, m.file.supertypesOf(lastPart(name))...)
	}
	return false
}

// sameType compares two names of types, of which either may lack its package. Rules often give the
// simple name where the source has the full one, or the other way round.
func sameType(want, name string) bool {
	if want == name || strings.HasSuffix(name, "/"+want) {
		return true
	}
	if !strings.Contains(want, ".") {
		return lastPart(name) == want || builtinTypes[want] != "" && builtinTypes[want] == builtinTypes[lastPart(name)]
	}
	return !strings.Contains(name, ".") && lastPart(want) == name
}

// builtinTypes are names that languages have for the same basic types, which rules
// mix up.
var builtinTypes = map[string]string{
	"str": "string", "string": "string", "String": "string",
	"int": "int", "Integer": "int", "Int": "int",
	"bool": "bool", "boolean": "bool", "Boolean": "bool",
	"number": "number", "float": "float", "double": "float", "Double": "float", "Float": "float",
}

// lastPart returns the last part of a dotted name.
func lastPart(dotted string) string { return dotted[strings.LastIndexByte(dotted, '.')+1:] }
