package pattern

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches literals, strings with parts, collections and mark-up.

// literal matches a literal: with one of the same value, or with an expression that
// is known to have it.
func (m *matcher) literal(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if p.kind == tree.Template || n.Kind == tree.Template {
		return m.template(p, t, e)
	}
	if n.Role == tree.RoleTarget && n.Kind == tree.Name {
		return nil // what is written to, not what it held before
	}
	if isLiteral(n.Kind) || n.Kind == tree.Regex {
		return m.sameLiteral(p, t, e)
	}
	if !m.options.ConstantPropagation || m.file.Scope == nil {
		return nil
	}
	switch n.Kind {
	case tree.Name, tree.Member, tree.Binary, tree.Unary, tree.Cast, tree.Conditional:
	default:
		return nil
	}
	if p.kind == tree.Regex {
		if d := m.file.Scope.Definition(t); d >= 0 && m.file.Tree.Is(d, tree.Regex) {
			return m.sameLiteral(p, d, e)
		}
		return nil
	}
	v, ok := m.file.constant(t)
	if !ok {
		if p.kind == tree.String && p.text == "..." && m.constantString(t, 0) {
			return e.only()
		}
		return nil
	}
	return m.value(p, v.Kind, v.Text, t, e)
}

// sameLiteral matches two literals.
func (m *matcher) sameLiteral(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if p.tick && p.text == "..." && !strings.HasPrefix(m.file.Tree.Code(t), "`") {
		return nil
	}
	if p.kind == tree.String && n.Kind == tree.String && p.flags&tree.Raw != 0 && n.Flags&tree.Raw == 0 &&
		p.text != "..." {
		return nil
	}
	if n.Kind == tree.Null && n.Flags&tree.Implied != 0 && p.kind == tree.String && p.text == "" {
		return e.only() // a key of YAML without a value
	}
	return m.value(p, n.Kind, n.Text, t, e)
}

// value matches a literal with a value at a node.
func (m *matcher) value(p *node, kind tree.Kind, text string, t int32, e *env) []*env {
	if p.kind != kind {
		if m.file.Language.Semantics.LooseLiterals && isLiteral(p.kind) && p.meta == "" && p.regex == nil &&
			p.text == text {
			return e.only()
		}
		return nil
	}
	switch {
	case p.kind == tree.Regex:
		return m.regexLiteral(p, text, t, e)
	case p.kind == tree.String && p.text == "...":
		return e.only()
	case p.meta != "" && (p.kind == tree.String || p.kind == tree.Character):
		return m.bindText(p.meta, text, t, e)
	case p.regex != nil:
		return m.regex(p, text, e)
	case p.text == text, p.kind == tree.Null && nulls(p.text, text), p.kind == tree.Number && sameNumber(p.text, text):
		return e.only()
	}
	return nil
}

// nulls reports whether both are the same null: undefined is another one.
func nulls(a, b string) bool { return (a == "undefined") == (b == "undefined") }

// regex matches a text with the expression of a pattern.
func (m *matcher) regex(p *node, text string, e *env) []*env {
	m.steps -= len(text)
	if ok, err := p.regex.Match(text); err != nil || !ok {
		return nil // an expression that took too long has not matched
	}
	return e.only()
}

// regexLiteral matches two literal expressions, of which the pattern's may be "/.../"
// or "/$X/"; flags that the pattern lacks do not matter.
func (m *matcher) regexLiteral(p *node, text string, t int32, e *env) []*env {
	body, flags := cutRegex(p.text)
	tbody, tflags := cutRegex(text)
	if flags != "" && flags != tflags {
		return nil
	}
	if m.file.Tree.Is(t, tree.Regex) && m.file.Tree.Nodes[t].Next > t+1 && body != "..." {
		if len(p.kids) == 0 {
			return nil // one with expressions in it is no literal
		}
		return m.children(p, t, e)
	}
	switch {
	case len(p.kids) > 0:
		return nil
	case body == "...":
		return e.only()
	case wholeMetavariable(body) != "":
		return m.bindText(body, tbody, t, e)
	case body == tbody:
		return e.only()
	}
	return nil
}

// cutRegex splits "/expression/flags".
func cutRegex(text string) (body, flags string) {
	end := strings.LastIndexByte(text, '/')
	if !strings.HasPrefix(text, "/") || end <= 0 {
		return text, ""
	}
	return text[1:end], text[end+1:]
}

// sameNumber compares numbers by their value.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseInt(a, 0, 64)
	y, err2 := strconv.ParseInt(b, 0, 64)
	if err == nil && err2 == nil {
		return x == y
	}
	f, err := strconv.ParseFloat(a, 64)
	g, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && f == g
}

// constantString reports whether the expression is a string without unknown parts,
// although its text is not known: a sum of such, or a variable that holds only such.
func (m *matcher) constantString(t int32, depth int) bool {
	f := m.file.Tree
	if t < 0 || depth > 32 || m.step() {
		return false
	}
	switch n := &f.Nodes[t]; n.Kind {
	case tree.String:
		return true
	case tree.Binary:
		l, r := f.Child(t, tree.RoleLeft), f.Child(t, tree.RoleRight)
		switch n.Text {
		case "or", "||":
			return m.constantString(r, depth+1) && (m.constantString(l, depth+1) || m.guarded(l, depth+1))
		case "+", ".", "%":
			return m.constantString(l, depth+1) && m.constantString(r, depth+1)
		case "*": // a string as many times as a number says
			return m.constantString(l, depth+1) || m.constantString(r, depth+1)
		}
	case tree.Conditional:
		return m.constantString(f.Child(t, tree.RoleThen), depth+1) &&
			m.constantString(f.Child(t, tree.RoleElse), depth+1)
	case tree.Name:
		if d := m.file.Scope.Definition(t); d >= 0 && d != t {
			return m.constantString(d, depth+1)
		}
		values := m.file.Scope.Definitions(t)
		for _, v := range values {
			if v < 0 || m.file.Tree.Contains(v, t) || !m.constantString(v, depth+8) {
				return false
			}
		}
		return len(values) > 0
	}
	return false
}

// guarded reports whether the expression is a constant string behind a condition.
func (m *matcher) guarded(t int32, depth int) bool {
	f := m.file.Tree
	return f.Is(t, tree.Binary) && (f.Text(t) == "and" || f.Text(t) == "&&") &&
		m.constantString(f.Child(t, tree.RoleRight), depth)
}

// template matches strings with parts. In a pattern a part "..." is any number of
// parts, and the texts between the others are compared.
func (m *matcher) template(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != tree.Template {
		if p.tick && p.text == "..." {
			return e.only()
		}
		if p.kind != tree.String || !m.options.ConstantPropagation || m.file.Scope == nil {
			return nil
		}
		v, ok := m.file.constant(t)
		if !ok {
			return nil
		}
		return m.value(p, v.Kind, v.Text, t, e)
	}
	if n.Kind != tree.Template || p.text != n.Text {
		return nil
	}
	places := []place{{0, e, false}}
	start := len(m.stack)
	for c := range f.All(t, tree.RolePart) {
		m.stack = append(m.stack, c)
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	for _, part := range p.kids {
		if part.kind == tree.String && part.text == "..." && !part.quoted {
			part = &node{kind: tree.Ellipsis}
		} else if part.kind == tree.String && part.meta != "" && !part.quoted && strings.HasPrefix(part.meta, "$...") {
			part = &node{kind: tree.MetaEllipsis, meta: part.meta}
		}
		if places = m.advance(part, ts, m.withoutTexts(part, ts, places)); len(places) == 0 {
			break
		}
	}
	m.stack = m.stack[:start]
	var out []*env
	for _, pl := range places {
		if pl.open || pl.at == len(ts) {
			out = m.both(out, pl.env.only())
		}
	}
	return out
}

// withoutTexts drops the places at which a metavariable or a literal would stand for a
// text of the string, and not for an expression in it. A metavariable that is Raw
// stands for texts, too.
func (m *matcher) withoutTexts(part *node, ts []int32, places []place) []place {
	if part.kind == tree.Metavariable && part.flags&tree.Raw != 0 || part.kind != tree.Metavariable &&
		!(part.kind == tree.String && part.quoted) {
		return places
	}
	var out []place
	for _, pl := range places {
		for at := pl.at; at < len(ts); at++ {
			if !m.file.Tree.Is(ts[at], tree.String) || startsQuoted(m.file.Tree.Code(ts[at])) {
				out = append(out, place{at, pl.env, false})
			}
			if !pl.open {
				break
			}
		}
	}
	return out
}

// container matches lists in order, and sets and maps in any order.
func (m *matcher) container(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != n.Kind {
		if n.Kind == tree.Comprehension && len(p.kids) == 1 && p.kids[0].isEllipsis() && containers[n.Text] == p.kind {
			return e.only()
		}
		if !(p.kind == tree.Set && n.Kind == tree.Map || p.kind == tree.Map && n.Kind == tree.Set) {
			return nil
		}
		if len(p.kids) != 0 && !(len(p.kids) == 1 && p.kids[0].isEllipsis()) {
			return nil
		}
	}
	start := len(m.stack)
	for c := range f.All(t, tree.RoleElement) {
		m.stack = append(m.stack, c)
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	var out []*env
	if p.kind == tree.Map && m.file.Language.Semantics.OpenObjects {
		out = m.object(p, ts, e)
	} else if p.kind == tree.Set || p.kind == tree.Map {
		out = m.subset(p.kids, ts, e, false)
	} else {
		out = m.list(p.kids, ts, e, false)
	}
	m.stack = m.stack[:start]
	return out
}

// object matches the members of an object that may have more. A block that is a member
// may be nested in others.
func (m *matcher) object(p *node, ts []int32, e *env) []*env {
	out := m.subset(p.kids, ts, e, m.options.ImplicitEllipsis)
	if len(out) > 0 {
		return out
	}
	var calls, rest []*node
	for _, k := range p.kids {
		if k.kind == tree.Call {
			calls = append(calls, k)
		} else {
			rest = append(rest, k)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	out = m.subset(rest, ts, e, m.options.ImplicitEllipsis)
	for _, c := range calls {
		out = m.then(out, func(e *env) []*env {
			var found []*env
			for _, t := range ts {
				found = m.both(found, m.shallow(c, t, e))
			}
			return found
		})
	}
	return out
}

// containers are the collections that comprehensions make, by their texts.
var containers = map[string]tree.Kind{"list": tree.List, "set": tree.Set, "map": tree.Map}

// element matches an element of mark-up: attributes in any order, the source may have
// more; children in order, and a pattern without children says nothing of them.
func (m *matcher) element(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if n.Kind != tree.Element || !m.options.XMLSingletonLoose && p.single != strings.HasSuffix(f.Code(t), "/>") {
		return nil
	}
	out := m.elementName(p, t, e)
	if len(out) == 0 {
		return nil
	}
	var attributes, parts []*node
	for _, k := range p.kids {
		switch k.role {
		case tree.RoleAttribute:
			attributes = append(attributes, k)
		case tree.RolePart:
			parts = append(parts, k)
		}
	}
	start := len(m.stack)
	for c := range f.All(t, tree.RoleAttribute) {
		m.stack = append(m.stack, c)
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	out = m.then(out, func(e *env) []*env {
		return m.subset(attributes, ts, e, m.options.XMLAttrsImplicitEllips)
	})
	m.stack = m.stack[:start]
	if len(out) == 0 || len(parts) == 0 {
		return out
	}
	return m.then(out, func(e *env) []*env { return m.elementParts(parts, t, e) })
}

// elementName matches the names of two elements.
func (m *matcher) elementName(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	name, tname := p.child(tree.RoleName), f.Child(t, tree.RoleName)
	switch {
	case name != nil && tname >= 0:
		return m.inner(name, tname, e)
	case name == nil && p.text == f.Nodes[t].Text:
		return e.only()
	}
	return nil
}

// elementParts matches the children of two elements. White space around texts and between
// elements does not matter.
func (m *matcher) elementParts(parts []*node, t int32, e *env) []*env {
	f := m.file.Tree
	var ps []*node
	for _, p := range parts {
		switch text := strings.TrimSpace(p.text); {
		case p.kind != tree.String:
			ps = append(ps, p)
		case text == "...":
			ps = append(ps, &node{kind: tree.Ellipsis})
		case strings.HasPrefix(text, "$...") && wholeMetavariable(text) != "":
			ps = append(ps, &node{kind: tree.MetaEllipsis, meta: text})
		case wholeMetavariable(text) != "":
			ps = append(ps, &node{kind: tree.String, text: text, meta: text})
		case text != "":
			ps = append(ps, p)
		}
	}
	var ts []int32
	for c := range f.All(t, tree.RolePart) {
		if !f.Is(c, tree.String) || strings.TrimSpace(f.Nodes[c].Text) != "" || hasMany(ps) {
			ts = append(ts, c)
		}
	}
	if len(ps) == 0 {
		return e.only()
	}
	if m.options.XMLChildrenOrdered {
		return m.list(ps, ts, e, true)
	}
	return m.subset(ps, ts, e, true)
}
