package pattern

import (
	"strconv"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches literals, strings with parts, collections and mark-up.

// matchLiteral matches a literal: with one of the same value, or with an expression that
// is known to have it.
func (m *matcher) matchLiteral(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if p.kind == tree.Template || n.Kind == tree.Template {
		return m.matchTemplate(p, t, e)
	}
	if n.Role == tree.RoleTarget && n.Kind == tree.Name {
		return nil // what is written to, not what it held before
	}
	if isLiteral(n.Kind) || n.Kind == tree.Regex {
		return m.matchSameLiteral(p, t, e)
	}
	if !m.options.ConstantPropagation || m.file.Scope == nil {
		return nil
	}
	switch n.Kind {
	case tree.Name, tree.Member, tree.Binary, tree.Unary, tree.Cast, tree.Conditional:
		return m.matchConstant(p, t, e)
	}
	return nil
}

// matchConstant matches a literal with an expression by its constant value. A variable that is
// known to hold "md5" matches the pattern "md5".
func (m *matcher) matchConstant(p *node, t int32, e *env) []*env {
	if p.kind == tree.Regex {
		if d := m.file.Scope.Definition(t); d >= 0 && m.file.Tree.Is(d, tree.Regex) {
			return m.matchSameLiteral(p, d, e)
		}
		return nil
	}
	v, ok := m.file.constantOf(t)
	if !ok {
		if p.kind == tree.String && p.text == "..." && m.isConstantString(t, 0) {
			return e.asResult()
		}
		return nil
	}
	return m.matchValue(p, v.Kind, v.Text, t, e)
}

// matchSameLiteral matches two literals. A raw string (r'…' of Python) in the pattern asks for a
// raw string.
func (m *matcher) matchSameLiteral(p *node, t int32, e *env) []*env {
	n := &m.file.Tree.Nodes[t]
	if p.tick && p.text == "..." && !strings.HasPrefix(m.file.Tree.Code(t), "`") {
		return nil
	}
	if p.kind == tree.String && n.Kind == tree.String && p.flags&tree.Raw != 0 && n.Flags&tree.Raw == 0 &&
		p.text != "..." {
		return nil
	}
	if n.Kind == tree.Null && n.Flags&tree.Implied != 0 && p.kind == tree.String && p.text == "" {
		return e.asResult() // a key of YAML without a value
	}
	return m.matchValue(p, n.Kind, n.Text, t, e)
}

// matchValue matches a literal with a value at a node. A string pattern may be an ellipsis, a
// metavariable for the content, or a regular expression.
func (m *matcher) matchValue(p *node, kind tree.Kind, text string, t int32, e *env) []*env {
	if p.kind != kind {
		if m.file.Language.Semantics.LooseLiterals && isLiteral(p.kind) && p.meta == "" && p.regex == nil &&
			p.text == text {
			return e.asResult()
		}
		return nil
	}
	switch {
	case p.kind == tree.Regex:
		return m.matchRegexLiteral(p, text, t, e)
	case p.kind == tree.String && p.text == "...":
		return e.asResult()
	case p.meta != "" && (p.kind == tree.String || p.kind == tree.Character):
		return m.bindText(p.meta, text, t, e)
	case p.regex != nil:
		return m.matchRegex(p, text, e)
	case p.sameValue(text):
		return e.asResult()
	}
	return nil
}

// sameValue reports whether a literal has the value of the text. Numbers are compared by value,
// all others by text.
func (n *node) sameValue(text string) bool {
	switch {
	case n.text == text:
		return true
	case n.kind == tree.Null:
		return sameNull(n.text, text)
	case n.kind == tree.Number:
		return sameNumber(n.text, text)
	}
	return false
}

// sameNull reports whether both are the same null: undefined is another one. JavaScript has both
// null and undefined.
func sameNull(a, b string) bool { return (a == "undefined") == (b == "undefined") }

// matchRegex matches a text with the expression of a pattern. The text counts as steps.
func (m *matcher) matchRegex(p *node, text string, e *env) []*env {
	m.steps -= len(text)
	if ok, err := p.regex.Match(text); err != nil || !ok {
		return nil // an expression that took too long has not matched
	}
	return e.asResult()
}

// matchRegexLiteral matches two literal expressions, of which the pattern's may be "/.../"
// or "/$X/"; flags that the pattern lacks do not matter.
func (m *matcher) matchRegexLiteral(p *node, text string, t int32, e *env) []*env {
	body, flags := cutRegex(p.text)
	tbody, tflags := cutRegex(text)
	if flags != "" && flags != tflags {
		return nil
	}
	if m.file.Tree.Is(t, tree.Regex) && m.file.Tree.Nodes[t].Next > t+1 && body != "..." {
		if len(p.kids) == 0 {
			return nil // one with expressions in it is no literal
		}
		return m.matchChildren(p, t, e)
	}
	switch {
	case len(p.kids) > 0:
		return nil
	case body == "...":
		return e.asResult()
	case wholeMetavariable(body) != "":
		return m.bindText(body, tbody, t, e)
	case body == tbody:
		return e.asResult()
	}
	return nil
}

// cutRegex splits "/expression/flags". The expression may contain slashes itself.
func cutRegex(text string) (body, flags string) {
	end := strings.LastIndexByte(text, '/')
	if !strings.HasPrefix(text, "/") || end <= 0 {
		return text, ""
	}
	return text[1:end], text[end+1:]
}

// sameNumber compares numbers by their value. "0x10" is 16 and "1.0" is 1, however they are
// written.
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

// isConstantString reports whether the expression is a string without unknown parts,
// although its text is not known: a sum of such, or a variable that holds only such.
func (m *matcher) isConstantString(t int32, depth int) bool {
	f := m.file.Tree
	if t < 0 || depth > 32 || m.countStep() {
		return false
	}
	switch f.Nodes[t].Kind {
	case tree.String:
		return true
	case tree.Binary:
		return m.isConstantOperation(t, depth)
	case tree.Conditional:
		return m.isConstantString(f.Child(t, tree.RoleThen), depth+1) &&
			m.isConstantString(f.Child(t, tree.RoleElse), depth+1)
	case tree.Name:
		if d := m.file.Scope.Definition(t); d >= 0 && d != t {
			return m.isConstantString(d, depth+1)
		}
		values := m.file.Scope.Definitions(t)
		for _, v := range values {
			if v < 0 || m.file.Tree.Contains(v, t) || !m.isConstantString(v, depth+8) {
				return false
			}
		}
		return len(values) > 0
	}
	return false
}

// isConstantOperation reports whether an operator makes a string of constant strings. "x or
// 'default'" is constant only if x is.
func (m *matcher) isConstantOperation(t int32, depth int) bool {
	f := m.file.Tree
	l, r := f.Child(t, tree.RoleLeft), f.Child(t, tree.RoleRight)
	switch f.Nodes[t].Text {
	case "or", "||":
		return m.isConstantString(r, depth+1) && (m.isConstantString(l, depth+1) || m.isGuarded(l, depth+1))
	case "+", ".", "%":
		return m.isConstantString(l, depth+1) && m.isConstantString(r, depth+1)
	case "*": // a string as many times as a number says
		return m.isConstantString(l, depth+1) || m.isConstantString(r, depth+1)
	}
	return false
}

// isGuarded reports whether the expression is a constant string behind a condition. "cond and 'a'
// or 'b'" was the conditional expression of older Python.
func (m *matcher) isGuarded(t int32, depth int) bool {
	f := m.file.Tree
	return f.Is(t, tree.Binary) && (f.Text(t) == "and" || f.Text(t) == "&&") &&
		m.isConstantString(f.Child(t, tree.RoleRight), depth)
}

// matchTemplate matches strings with parts. In a pattern a part "..." is any number of
// parts, and the texts between the others are compared.
func (m *matcher) matchTemplate(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != tree.Template {
		return m.matchTemplateValue(p, t, e)
	}
	if n.Kind != tree.Template || p.text != n.Text {
		return nil
	}
	positions := []position{{0, e, false}}
	start := len(m.stack)
	for c := range f.All(t, tree.RolePart) {
		m.stack = append(m.stack, c)
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	for _, part := range p.kids {
		part = templatePart(part)
		if positions = m.advanceAll(part, ts, m.withoutTexts(part, ts, positions)); len(positions) == 0 {
			break
		}
	}
	m.stack = m.stack[:start]
	var out []*env
	for _, pl := range positions {
		if pl.open || pl.at == len(ts) {
			out = m.joinResults(out, pl.env.asResult())
		}
	}
	return out
}

// matchTemplateValue matches a literal of a pattern with a string with parts, by the value
// that the parts are known to make.
func (m *matcher) matchTemplateValue(p *node, t int32, e *env) []*env {
	if p.tick && p.text == "..." {
		return e.asResult()
	}
	if p.kind != tree.String || !m.options.ConstantPropagation || m.file.Scope == nil {
		return nil
	}
	v, ok := m.file.constantOf(t)
	if !ok {
		return nil
	}
	return m.matchValue(p, v.Kind, v.Text, t, e)
}

// templatePart returns what a part of a pattern's string stands for: the text "..." is an
// ellipsis, and "$...X" binds several parts.
func templatePart(part *node) *node {
	switch {
	case part.kind != tree.String || part.quoted:
	case part.text == "...":
		return &node{kind: tree.Ellipsis}
	case strings.HasPrefix(part.meta, "$..."):
		return &node{kind: tree.MetaEllipsis, meta: part.meta}
	}
	return part
}

// withoutTexts drops the places at which a metavariable or a literal would stand for a text of the
// string, and not for an expression in it. A metavariable that is Raw stands for texts, too.
// "`${$X}`" asks for an interpolated expression, which is what an injection needs.
func (m *matcher) withoutTexts(part *node, ts []int32, places []position) []position {
	if part.kind == tree.Metavariable && part.flags&tree.Raw != 0 || part.kind != tree.Metavariable &&
		!(part.kind == tree.String && part.quoted) {
		return places
	}
	var out []position
	for _, pl := range places {
		for at := pl.at; at < len(ts); at++ {
			if !m.file.Tree.Is(ts[at], tree.String) || startsQuoted(m.file.Tree.Code(ts[at])) {
				out = append(out, position{at, pl.env, false})
			}
			if !pl.open {
				break
			}
		}
	}
	return out
}

// matchContainer matches lists in order, and sets and maps in any order. An empty "{}" is a set in
// one grammar and a map in another, so they match each other.
func (m *matcher) matchContainer(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if p.kind != n.Kind {
		lone := len(p.kids) == 1 && p.kids[0].isEllipsis()
		if n.Kind == tree.Comprehension && lone && containers[n.Text] == p.kind {
			return e.asResult()
		}
		if !isBraced(p.kind) || !isBraced(n.Kind) || len(p.kids) != 0 && !lone {
			return nil // "{}" and "{...}" are a set or a map
		}
	}
	start := len(m.stack)
	for c := range f.All(t, tree.RoleElement) {
		m.stack = append(m.stack, c)
	}
	ts := m.stack[start:len(m.stack):len(m.stack)]
	var out []*env
	switch {
	case p.kind == tree.Map && m.file.Language.Semantics.OpenObjects:
		out = m.matchObject(p, ts, e)
	case isBraced(p.kind):
		out = m.matchSubset(p.kids, ts, e, false)
	default:
		out = m.matchList(p.kids, ts, e, false)
	}
	m.stack = m.stack[:start]
	return out
}

// isBraced reports whether a collection of the kind is written in braces.
func isBraced(k tree.Kind) bool { return k == tree.Set || k == tree.Map }

// matchObject matches the members of an object that may have more. A block that is a member may be
// nested in others. The blocks of HCL are lowered to calls.
func (m *matcher) matchObject(p *node, ts []int32, e *env) []*env {
	out := m.matchSubset(p.kids, ts, e, m.options.ImplicitEllipsis)
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
	out = m.matchSubset(rest, ts, e, m.options.ImplicitEllipsis)
	for _, c := range calls {
		out = m.andThen(out, func(e *env) []*env {
			var found []*env
			for _, t := range ts {
				found = m.joinResults(found, m.matchShallow(c, t, e))
			}
			return found
		})
	}
	return out
}

// containers are the collections that comprehensions make, by their texts.
var containers = map[string]tree.Kind{"list": tree.List, "set": tree.Set, "map": tree.Map}

// matchElement matches an element of mark-up: attributes in any order, the source may have more;
// children in order, and a pattern without children says nothing of them. This is what rules for
// JSX and HTML are made of.
func (m *matcher) matchElement(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	if n.Kind != tree.Element || !m.options.XMLSingletonLoose && p.single != strings.HasSuffix(f.Code(t), "/>") {
		return nil
	}
	out := m.matchElementName(p, t, e)
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
	out = m.andThen(out, func(e *env) []*env {
		return m.matchSubset(attributes, ts, e, m.options.XMLAttrsImplicitEllips)
	})
	m.stack = m.stack[:start]
	if len(out) == 0 || len(parts) == 0 {
		return out
	}
	return m.andThen(out, func(e *env) []*env { return m.matchElementParts(parts, t, e) })
}

// matchElementName matches the names of two elements. Components (JSX) have an expression as their
// name, elements of HTML a word.
func (m *matcher) matchElementName(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	name, tname := p.child(tree.RoleName), f.Child(t, tree.RoleName)
	switch {
	case name != nil && tname >= 0:
		return m.matchInner(name, tname, e)
	case name == nil && p.text == f.Nodes[t].Text:
		return e.asResult()
	}
	return nil
}

// matchElementParts matches the children of two elements. White space around texts and
// between elements does not matter.
func (m *matcher) matchElementParts(parts []*node, t int32, e *env) []*env {
	f := m.file.Tree
	ps := elementPatterns(parts)
	var ts []int32
	for c := range f.All(t, tree.RolePart) {
		if !f.Is(c, tree.String) || strings.TrimSpace(f.Nodes[c].Text) != "" || hasMany(ps) {
			ts = append(ts, c)
		}
	}
	if len(ps) == 0 {
		return e.asResult()
	}
	if m.options.XMLChildrenOrdered {
		return m.matchList(ps, ts, e, true)
	}
	return m.matchSubset(ps, ts, e, true)
}

// elementPatterns returns what the children of an element in a pattern stand for; a text
// may be an ellipsis or a metavariable.
func elementPatterns(parts []*node) []*node {
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
	return ps
}
