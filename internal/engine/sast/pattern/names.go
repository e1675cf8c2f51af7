package pattern

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file matches names. A dotted name in a pattern is the name of something
// outside of the file: whatever the file calls it, through imports, aliases and
// variables that only hold it, it is meant.

// matchName matches a Name, a Member or a Type: as it is spelled, else by what it means in the
// file.
func (m *matcher) matchName(p *node, t int32, e *env) []*env {
	out := m.matchSpelling(p, t, e)
	if out != nil || p.dotted == nil {
		return out
	}
	switch m.file.Tree.Nodes[t].Kind {
	case tree.Name, tree.Member, tree.Type, tree.Index:
		return m.matchMeaning(p, t, e)
	case tree.Call:
		if p.kind == tree.Name && len(p.dotted) == 1 {
			if callee := m.file.Tree.Child(t, tree.RoleCallee); m.file.Language.Semantics.BareCalls &&
				m.file.Tree.Is(callee, tree.Name) && m.file.Tree.Count(t, tree.RoleArgument) == 0 {
				return m.matchSpelling(p, callee, e)
			}
			if q := m.qualifiedName(t); q == p.text {
				return e.asResult()
			}
		}
	}
	return nil
}

// matchSpelling matches a name as it is written. What the name means in the file is compared
// elsewhere, when the spelling differs.
func (m *matcher) matchSpelling(p *node, t int32, e *env) []*env {
	switch p.kind {
	case tree.Name:
		n := &m.file.Tree.Nodes[t]
		if p.regex != nil && (n.Kind == tree.Name || n.Kind == tree.String) {
			return m.matchRegex(p, n.Text, e)
		}
		if m.sameSpelling(p, t, n) {
			return e.asResult()
		}
	case tree.Type:
		return m.matchType(p, t, e)
	case tree.Member:
		return m.matchMember(p, t, e)
	}
	return nil
}

// sameSpelling reports whether a node is the bare word of a pattern. "this" and "self" are names
// in patterns and nodes of their own in the source.
func (m *matcher) sameSpelling(p *node, t int32, n *tree.Node) bool {
	switch n.Kind {
	case tree.Name:
		return m.sameName(p.text, n.Text)
	case tree.Type:
		return n.Next == t+1 && n.Text == p.text
	case tree.String:
		return n.Flags&tree.Implied != 0 && n.Text == p.text
	case tree.This:
		return p.text == "this" || p.text == "self"
	case tree.Super:
		return p.text == "super"
	}
	return false
}

// sameName compares two identifiers.
func (m *matcher) sameName(p, t string) bool {
	return p == t || m.file.Language.Semantics.Caseless && strings.EqualFold(p, t)
}

// matchMember matches a member, and the ellipsis in a chain of calls. The property is compared
// before the object, as it tells most candidates apart at once.
func (m *matcher) matchMember(p *node, t int32, e *env) []*env {
	f := m.file.Tree
	object := p.child(tree.RoleObject)
	if p.text == "..." && p.child(tree.RoleProperty) == nil {
		return m.matchChain(object, t, e)
	}
	if !sameAccess(p, &f.Nodes[t]) {
		return nil
	}
	property := p.child(tree.RoleProperty)
	tobject, tproperty := f.Child(t, tree.RoleObject), f.Child(t, tree.RoleProperty)
	if property == nil || tproperty < 0 || property.kind == tree.Name && f.Is(tproperty, tree.Name) &&
		property.regex == nil && !m.sameName(property.text, f.Text(tproperty)) {
		return nil // most members differ by their names: no need to build anything
	}
	return m.andThen(m.matchNode(property, tproperty, e), func(e *env) []*env {
		out := m.matchInner(object, tobject, e)
		if object.kind == tree.Member && object.text == "..." && object.child(tree.RoleProperty) == nil {
			out = m.joinResults(out, m.matchInner(object.child(tree.RoleObject), tobject, e))
		}
		return distinctEnvs(out)
	})
}

// sameAccess reports whether a node is a member that is accessed in the way of the
// pattern. "a.b" also matches "a?.b", but not the other way round.
func sameAccess(p *node, n *tree.Node) bool {
	return n.Kind == tree.Member && (p.text == n.Text || p.text == "." && n.Text == "?.") &&
		(p.flags&tree.Optional == 0 || n.Flags&tree.Optional != 0)
}

// matchChain matches the object with what is left of a chain of calls and members after any number
// of them are taken off its end. "$X. ... .execute()" skips calls in a fluent interface.
func (m *matcher) matchChain(object *node, t int32, e *env) []*env {
	f := m.file.Tree
	var out []*env
	for m.steps >= 0 {
		out = m.joinResults(out, m.matchInner(object, t, e))
		switch n := &f.Nodes[t]; {
		case n.Kind == tree.Member:
			t = f.Child(t, tree.RoleObject)
		case n.Kind == tree.Call && f.Is(f.Child(t, tree.RoleCallee), tree.Member):
			t = f.Child(f.Child(t, tree.RoleCallee), tree.RoleObject)
		default:
			return distinctEnvs(out)
		}
	}
	return out
}

// distinctEnvs drops environments that are in the result twice. Two ways through a chain often end
// with the same bindings; environments are compared by identity.
func distinctEnvs(es []*env) []*env {
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

// qualifiedName returns the dotted name of what a node refers to, "" when that is the same as its
// spelling or not known. A name that is spelled in full was compared before.
func (m *matcher) qualifiedName(t int32) string {
	if m.file.Scope == nil {
		return ""
	}
	q := m.file.Scope.Qualified(t)
	if q == "" || q == m.file.Tree.Dotted(t) {
		return ""
	}
	return q
}

// matchMeaning matches a dotted name with what the node means. So "subprocess.run(...)" matches
// run(...) after "from subprocess import run". Targets of assignments are left out: they give the
// name a new meaning.
func (m *matcher) matchMeaning(p *node, t int32, e *env) []*env {
	if len(p.dotted) == 1 && p.kind != tree.Name && p.kind != tree.Type ||
		m.file.Tree.Nodes[t].Role == tree.RoleTarget {
		return nil
	}
	last := p.dotted[len(p.dotted)-1]
	if q := m.qualifiedName(t); q != "" && (wholeMetavariable(last) != "" || strings.HasSuffix(q, last)) {
		if out := m.matchQualified(p.dotted, q, t, e); out != nil {
			return out
		}
	}
	return m.matchWildcard(p, t, e)
}

// matchQualified matches the parts of a dotted name with a qualified name: as it is, with
// the name of its package in the place of the package's path, and with the path as dots.
func (m *matcher) matchQualified(dotted []string, q string, t int32, e *env) []*env {
	if out := m.matchParts(dotted, splitName(q, len(dotted)), t, e); out != nil {
		return out
	}
	if m.file.Language.Semantics.ImportsFolders {
		if out := m.matchParts(dotted, strings.Split(packageName(q), "."), t, e); out != nil {
			return out
		}
	}
	if split := strings.ReplaceAll(q, "/", "."); strings.ContainsAny(q, "/@") && strings.Contains(split, ".") {
		return m.matchParts(dotted, strings.Split(split, "."), t, e)
	}
	return nil
}

// packageName returns a qualified name with the usual name of its package in the place
// of its path: "yaml.Load" for "gopkg.in/yaml.v3.Load" and for "example.org/go-yaml/v3.Load".
func packageName(q string) string {
	slash := strings.LastIndexByte(q, '/')
	if slash < 0 {
		return q
	}
	name, rest, _ := strings.Cut(q[slash+1:], ".")
	if isVersion(name) {
		path := q[:slash]
		name = path[strings.LastIndexByte(path, '/')+1:]
	} else if first, after, ok := strings.Cut(rest, "."); ok && isVersion(first) {
		rest = after
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "go-"), "-go")
	return name + "." + rest
}

// isVersion reports whether a part of a path is a major version: "v3".
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// splitName splits a qualified name into as many parts as the pattern has, from its end: the first
// part is a module, whose own name may hold dots. "github.com/a/b.F" has two parts and not four.
func splitName(q string, n int) []string {
	parts := strings.Split(q, ".")
	if strings.ContainsAny(q, "/@") && len(parts) > n {
		head := len(parts) - n + 1
		parts = append([]string{strings.Join(parts[:head], ".")}, parts[head:]...)
	}
	return parts
}

// matchParts matches the parts of a dotted name, some of which may be metavariables. Literal parts
// are compared before anything is bound. Behind a metavariable in front, several parts of the
// source may be one.
func (m *matcher) matchParts(ps, ts []string, t int32, e *env) []*env {
	if len(ps) > len(ts) || len(ps) < len(ts) && wholeMetavariable(ps[0]) == "" {
		return nil
	}
	if extra := len(ts) - len(ps); extra > 0 {
		ts = append([]string{strings.Join(ts[:extra+1], ".")}, ts[extra+1:]...)
	}
	for i, p := range ps {
		if wholeMetavariable(p) == "" && p != ts[i] {
			return nil
		}
	}
	if len(ps) == 1 && wholeMetavariable(ps[0]) != "" {
		return nil // a metavariable alone is what is written
	}
	out := e.asResult()
	for i, p := range ps {
		if wholeMetavariable(p) == "" {
			continue
		}
		if i == len(ps)-1 {
			last := t
			if m.file.Tree.Is(t, tree.Member) {
				last = m.file.Tree.Child(t, tree.RoleProperty)
			}
			out = m.andThen(out, func(e *env) []*env { return m.bindNode(p, last, e) })
			continue
		}
		text := ts[i]
		out = m.andThen(out, func(e *env) []*env { return m.bindText(p, text, t, e) })
	}
	return out
}

// matchWildcard matches a dotted name with one that may come from a module that the file imports
// as a whole. After "from os import *" the name "system" may be os.system. What the file declares
// itself is not.
func (m *matcher) matchWildcard(p *node, t int32, e *env) []*env {
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
	if dotted == "" || m.isDeclared(t) {
		return nil
	}
	want := strings.Join(p.dotted, ".")
	if !strings.HasSuffix(want, dotted) {
		return nil
	}
	for _, w := range m.file.Scope.Wildcards {
		if w+"."+dotted == want {
			return e.asResult()
		}
	}
	return nil
}

// isDeclared reports whether the file itself declares the first part of a name. Such a name
// shadows whatever a wildcard import brings.
func (m *matcher) isDeclared(t int32) bool {
	f := m.file.Tree
	for f.Is(t, tree.Member) {
		t = f.Child(t, tree.RoleObject)
	}
	return m.file.Scope.Declaration(t) >= 0
}
