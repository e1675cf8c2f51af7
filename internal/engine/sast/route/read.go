package route

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds where requests are read.

// container says what part of a request an expression is: "query", "form", "json",
// "header", "cookie", "path" or "any"; "" for none.
func (r *reader) container(i int32, depth int) string {
	if i < 0 || depth > 4 {
		return ""
	}
	t := r.tables
	switch n := &r.f.Nodes[i]; n.Kind {
	case tree.Name:
		if in := t.containers[n.Text]; in != "" && (strings.HasPrefix(n.Text, "$") || r.f.Language == "ruby") {
			return in
		}
		if in := r.taken(i); in != "" {
			return in
		}
		if d := r.Definition(i); d >= 0 && d != i {
			return r.container(d, depth+1)
		}
	case tree.Member:
		property := r.f.Text(r.child(i, tree.RoleProperty))
		in := t.containers[property]
		if in == "" || !r.request(r.child(i, tree.RoleObject)) {
			return ""
		}
		if r.tables == scripts && property == "searchParams" {
			return "query"
		}
		return in
	case tree.Call:
		object, name := r.calls(i)
		switch {
		case t.bodies[name] && r.f.Language == "python" && r.request(object):
			return "json"
		case r.f.Language == "go" && name == "Query" && r.argument(i, 0) < 0, r.f.Language == "go" && name == "Vars":
			return t.containers[name]
		case r.f.Language == "php" && t.containers[name] != "" && strings.HasPrefix(name, "get"):
			return t.containers[name]
		}
	case tree.Await, tree.Cast:
		return r.container(r.child(i, tree.RoleValue), depth+1)
	case tree.Binary: // request.json or {}
		return r.container(r.child(i, tree.RoleLeft), depth+1)
	}
	return ""
}

// taken returns what part of a request a name is that a pattern takes out of it:
// ({query, body}, res) => …
func (r *reader) taken(i int32) string {
	d := r.Declaration(i)
	if d < 0 || r.tables != scripts {
		return ""
	}
	pair := r.f.Nodes[d].Parent
	if !r.f.Is(pair, tree.Pair) {
		return ""
	}
	pattern := r.f.Nodes[pair].Parent
	owner := r.f.Nodes[max(pattern, 0)].Parent
	key := r.f.Text(r.child(pair, tree.RoleKey))
	if r.f.Is(owner, tree.Parameter) || r.f.Is(owner, tree.Variable) && r.request(r.child(owner, tree.RoleValue)) {
		return r.tables.containers[key]
	}
	return ""
}

// request reports whether an expression may be a request: one of the names that a
// framework gives it, or a parameter of a function.
func (r *reader) request(i int32) bool {
	if i < 0 {
		return false
	}
	if r.f.Is(i, tree.Call) && r.tables == scripts { // c.req.raw()
		return false
	}
	dotted := r.f.Dotted(i)
	if dotted == "" {
		return false
	}
	if r.tables.roots[dotted] {
		return true
	}
	first := i
	for r.f.Is(first, tree.Member) {
		first = r.child(first, tree.RoleObject)
	}
	if r.tables.roots != nil && r.tables != scripts && !strings.HasSuffix(strings.ToLower(dotted), "request") {
		return false
	}
	if rest := strings.TrimPrefix(dotted, r.f.Text(first)); r.tables == scripts && rest != "" && rest != ".request" &&
		rest != ".req" && !strings.HasSuffix(rest, "Url") {
		return false
	}
	d := r.Declarator(r.Declaration(first))
	return r.f.Is(d, tree.Parameter)
}

// note a place at which a parameter is read.
func (r *reader) found(i int32, in, name string) {
	if name == "" || len(name) > 200 || len(r.out.reads) >= maxReads || strings.ContainsAny(name, "\r\n\x00") {
		return
	}
	if in == "json" {
		name = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	r.out.reads = append(r.out.reads, read{in: in, name: name, at: r.place(i)})
}

// member looks at x["name"] and, where members are keys, at x.name.
func (r *reader) member(i int32) {
	object := r.child(i, tree.RoleObject)
	if r.f.Is(i, tree.Index) {
		if in := r.container(object, 0); in != "" {
			if name, ok := r.text(r.child(i, tree.RoleIndex)); ok {
				r.found(i, in, name)
			}
		} else if r.f.Language == "csharp" && r.tables.roots[r.f.Dotted(object)] {
			if name, ok := r.text(r.child(i, tree.RoleIndex)); ok {
				r.found(i, "any", name)
			}
		}
		return
	}
	if r.tables != scripts {
		return
	}
	parent := r.f.Nodes[i].Parent
	if r.f.Is(parent, tree.Call) && r.f.Nodes[i].Role == tree.RoleCallee { // req.query.get()
		return
	}
	if in := r.container(object, 0); in != "" {
		r.found(i, in, r.f.Text(r.child(i, tree.RoleProperty)))
	}
}

// readCall looks at calls that read a parameter, or the body as a whole.
func (r *reader) readCall(i int32) {
	object, name := r.calls(i)
	t := r.tables
	if name == "" {
		return
	}
	if in := t.second[name]; in != "" {
		if text, ok := r.text(r.argument(i, 1)); ok {
			r.found(i, in, text)
		}
		return
	}
	if t.bodies[name] && r.f.Language == "go" {
		r.readInto(i)
	}
	if object < 0 {
		return
	}
	if t.getters[name] {
		if in := r.container(object, 0); in != "" {
			if text, ok := r.text(r.argument(i, 0)); ok {
				r.found(i, in, text)
			}
			return
		}
	}
	in := t.calls[name]
	if in == "" || r.container(object, 0) != "" || !r.receives(object) {
		return
	}
	if text, ok := r.text(r.argument(i, 0)); ok {
		r.found(i, in, text)
	}
}

// receives reports whether an expression may be what calls for parameters are made on:
// any value in languages with types, else a request.
func (r *reader) receives(i int32) bool {
	switch r.f.Language {
	case "java", "kotlin", "scala", "go":
		return true
	}
	return r.request(i) || r.f.Is(i, tree.This)
}

// readInto notes the class of a value that the body is read into: Decode(&v).
func (r *reader) readInto(i int32) {
	a := r.argument(i, 0)
	if r.f.Is(a, tree.Unary) {
		a = r.child(a, tree.RoleValue)
	}
	if a < 0 || len(r.out.reads) >= maxReads {
		return
	}
	kind := r.Type(a)
	if kind = kind[strings.LastIndexByte(kind, '.')+1:]; kind == "" {
		return
	}
	if _, name := r.calls(i); name == "Decode" && !strings.Contains(r.f.Code(r.child(i, tree.RoleCallee)), "Body") {
		return
	}
	r.out.reads = append(r.out.reads, read{in: "json", kind: kind, at: r.place(i)})
}

// destructured notes the names that a pattern takes out of a part of a request:
// const {a, b} = req.body.
func (r *reader) destructured(target, value int32) {
	in := r.container(value, 0)
	if in == "" || r.tables != scripts {
		return
	}
	for e := range r.f.All(target, tree.RoleElement) {
		if r.f.Is(e, tree.Pair) {
			r.found(e, in, r.f.Text(r.child(e, tree.RoleKey)))
		}
	}
}

// distinct removes what was read twice.
func distinct(list []Parameter) []Parameter {
	var out []Parameter
	for _, p := range list {
		if !slices.ContainsFunc(out, func(q Parameter) bool {
			return q.In == p.In && q.Name == p.Name && q.At == p.At
		}) {
			out = append(out, p)
		}
	}
	return out
}
