package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches names. A dotted name in a pattern is the name of something
// outside of the file: whatever the file calls it, through imports, aliases and
// variables that only hold it, it is meant.

// name matches a Name, a Member or a Type.
func (m *matcher) name(p *node, t int32, e *env) []*env {
	out := m.spelled(p, t, e)
	if out != nil || p.dotted == nil {
		return out
	}
	switch m.file.Tree.Nodes[t].Kind {
	case tree.Name, tree.Member, tree.Type, tree.Index:
		return m.meant(p, t, e)
	case tree.Call:
		if p.kind == tree.Name && len(p.dotted) == 1 {
			if callee := m.file.Tree.Child(t, tree.RoleCallee); m.file.Language.Semantics.BareCalls &&
				m.file.Tree.Is(callee, tree.Name) && m.file.Tree.Count(t, tree.RoleArgument) == 0 {
				return m.spelled(p, callee, e)
			}
			if q := m.qualified(t); q == p.text {
				return e.only()
			}
		}
	}
	return nil
}

// spelled matches a name as it is written.
func (m *matcher) spelled(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	switch p.kind {
	case tree.Name:
		switch {
		case p.regex != nil && (n.Kind == tree.Name || n.Kind == tree.String):
			return m.regex(p, n.Text, e)
		case n.Kind == tree.Name && m.sameName(p.text, n.Text):
			return e.only()
		case n.Kind == tree.Type && n.Next == t+1 && n.Text == p.text:
			return e.only()
		case n.Kind == tree.String && n.Flags&tree.Implied != 0 && n.Text == p.text:
			return e.only()
		case n.Kind == tree.This && (p.text == "this" || p.text == "self"), n.Kind == tree.Super && p.text == "super":
			return e.only()
		}
	case tree.Type:
		return m.typeNode(p, t, e)
	case tree.Member:
		return m.member(p, t, e)
	}
	return nil
}

// sameName compares two identifiers.
func (m *matcher) sameName(p, t string) bool {
	return p == t || m.file.Language.Semantics.Caseless && strings.EqualFold(p, t)
}

// member matches a member, and the ellipsis in a chain of calls.
func (m *matcher) member(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	n := &f.Nodes[t]
	object := p.child(tree.RoleObject)
	if p.text == "..." && p.child(tree.RoleProperty) == nil {
		return m.chain(object, t, e)
	}
	if n.Kind != tree.Member || p.text != n.Text && !(p.text == "." && n.Text == "?.") || p.flags&tree.Optional != 0 &&
		n.Flags&tree.Optional == 0 {
		return nil
	}
	property := p.child(tree.RoleProperty)
	tobject, tproperty := f.Child(t, tree.RoleObject), f.Child(t, tree.RoleProperty)
	if property == nil || tproperty < 0 || property.kind == tree.Name && f.Is(tproperty, tree.Name) &&
		property.regex == nil && !m.sameName(property.text, f.Text(tproperty)) {
		return nil
	}
	return m.then(m.node(property, tproperty, e), func(e *env) []*env {
		out := m.inner(object, tobject, e)
		if object.kind == tree.Member && object.text == "..." && object.child(tree.RoleProperty) == nil {
			out = m.both(out, m.inner(object.child(tree.RoleObject), tobject, e))
		}
		return distinct(out)
	})
}

// chain matches the object with what is left of a chain of calls and members after
// any number of them are taken off its end.
func (m *matcher) chain(object *node, t int32, e *env) []*env {
	f := m.file.Tree
	var out []*env
	for m.steps >= 0 {
		out = m.both(out, m.inner(object, t, e))
		switch n := &f.Nodes[t]; {
		case n.Kind == tree.Member:
			t = f.Child(t, tree.RoleObject)
		case n.Kind == tree.Call && f.Is(f.Child(t, tree.RoleCallee), tree.Member):
			t = f.Child(f.Child(t, tree.RoleCallee), tree.RoleObject)
		default:
			return distinct(out)
		}
	}
	return out
}

// distinct drops environments that are in the result twice.
func distinct(es []*env) []*env {
	if len(es) < 2 {
		return es
	}
	out := es[:0:0]
next:
	for _, e := range es {
		for _, o := range out {
			if o == e {
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}

// qualified returns the dotted name of what a node refers to, "" when that is the
// same as its spelling or not known.
func (m *matcher) qualified(t int32) string {
	if m.file.Scope == nil {
		return ""
	}
	q := m.file.Scope.Qualified(t)
	if q == "" || q == m.file.Tree.Dotted(t) {
		return ""
	}
	return q
}

// meant matches a dotted name with what the node means.
func (m *matcher) meant(p *node, t int32, e *env) []*env {
	if len(p.dotted) == 1 && p.kind != tree.Name && p.kind != tree.Type ||
		m.file.Tree.Nodes[t].Role == tree.RoleTarget {
		return nil
	}
	last := p.dotted[len(p.dotted)-1]
	if q := m.qualified(t); q != "" && (wholeMetavariable(last) != "" || strings.HasSuffix(q, last)) {
		if out := m.parts(p.dotted, splitName(q, len(p.dotted)), t, e); out != nil {
			return out
		}
		if m.file.Language.Semantics.ImportsFolders {
			if out := m.parts(p.dotted, strings.Split(packageName(q), "."), t, e); out != nil {
				return out
			}
		}
		if split := strings.ReplaceAll(q, "/", "."); strings.ContainsAny(q, "/@") && strings.Contains(split, ".") {
			if out := m.parts(p.dotted, strings.Split(split, "."), t, e); out != nil {
				return out
			}
		}
	}
	return m.wildcard(p, t, e)
}

// packageName returns a qualified name with the usual name of its package in the place
// of its path: "yaml.Load" for "gopkg.in/yaml.v3.Load" and for "example.org/go-yaml/v3.Load".
func packageName(q string) string {
	slash := strings.LastIndexByte(q, '/')
	if slash < 0 {
		return q
	}
	name, rest, _ := strings.Cut(q[slash+1:], ".")
	if version(name) {
		path := q[:slash]
		name = path[strings.LastIndexByte(path, '/')+1:]
	} else if first, after, ok := strings.Cut(rest, "."); ok && version(first) {
		rest = after
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "go-"), "-go")
	return name + "." + rest
}

// version reports whether a part of a path is a major version: "v3".
func version(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// splitName splits a qualified name into as many parts as the pattern has, from its
// end: the first part is a module, whose own name may hold dots.
func splitName(q string, n int) []string {
	parts := strings.Split(q, ".")
	if strings.ContainsAny(q, "/@") && len(parts) > n {
		head := len(parts) - n + 1
		parts = append([]string{strings.Join(parts[:head], ".")}, parts[head:]...)
	}
	return parts
}

// parts matches the parts of a dotted name, some of which may be metavariables.
func (m *matcher) parts(ps, ts []string, t int32, e *env) []*env {
	if len(ps) > len(ts) || len(ps) < len(ts) && wholeMetavariable(ps[0]) == "" {
		return nil
	}
	out := e.only()
	extra := len(ts) - len(ps)
	if extra > 0 {
		ts = append([]string{strings.Join(ts[:extra+1], ".")}, ts[extra+1:]...)
	}
	for i, p := range ps {
		if wholeMetavariable(p) == "" && p != ts[i] {
			return nil
		}
	}
	for i, p := range ps {
		if wholeMetavariable(p) != "" {
			if i == 0 && len(ps) == 1 {
				return nil // a metavariable alone is what is written
			}
			text := ts[i]
			if i == len(ps)-1 {
				last := t
				if m.file.Tree.Is(t, tree.Member) {
					last = m.file.Tree.Child(t, tree.RoleProperty)
				}
				out = m.then(out, func(e *env) []*env { return m.bindNode(p, last, e) })
				continue
			}
			out = m.then(out, func(e *env) []*env { return m.bindText(p, text, t, e) })
		}
	}
	return out
}

// wildcard matches a dotted name with one that may come from a module that the file
// imports as a whole.
func (m *matcher) wildcard(p *node, t int32, e *env) []*env {
	if m.file.Scope == nil || len(p.dotted) < 2 || len(m.file.Scope.Wildcards) == 0 {
		return nil
	}
	f := m.file.Tree
	for _, part := range p.dotted {
		if wholeMetavariable(part) != "" {
			return nil
		}
	}
	dotted := f.Dotted(t)
	if dotted == "" || m.known(t) {
		return nil
	}
	want := strings.Join(p.dotted, ".")
	if !strings.HasSuffix(want, dotted) {
		return nil
	}
	for _, w := range m.file.Scope.Wildcards {
		if w+"."+dotted == want {
			return e.only()
		}
	}
	return nil
}

// known reports whether the file itself declares the first part of a name.
func (m *matcher) known(t int32) bool {
	f := m.file.Tree
	for f.Is(t, tree.Member) {
		t = f.Child(t, tree.RoleObject)
	}
	return m.file.Scope.Declaration(t) >= 0
}
