package route

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds where requests are read.

// containerKind says what part of a request an expression is: "query", "form", "json",
// "header", "cookie", "path" or "any"; "" for none.
func (r *reader) containerKind(i int32, depth int) string {
	if i < 0 || depth > 4 {
		return ""
	}
	switch n := &r.f.Nodes[i]; n.Kind {
	case tree.Name:
		if in := r.tables.containers[n.Text]; in != "" && (strings.HasPrefix(n.Text, "$") || r.f.Language == "ruby") {
			return in
		}
		if in := r.destructuredKind(i); in != "" {
			return in
		}
		if d := r.Definition(i); d >= 0 && d != i {
			return r.containerKind(d, depth+1)
		}
	case tree.Member:
		return r.memberContainer(i)
	case tree.Call:
		return r.callContainer(i)
	case tree.Await, tree.Cast:
		return r.containerKind(r.childOf(i, tree.RoleValue), depth+1)
	case tree.Binary: // request.json or {}
		return r.containerKind(r.childOf(i, tree.RoleLeft), depth+1)
	}
	return ""
}

// memberContainer says what part of a request a member of it is. The object has to be a request.
// So "options.headers" of a client is none. Search parameters are those of the address, which is a
// member of the request itself.
func (r *reader) memberContainer(i int32) string {
	property := r.f.Text(r.childOf(i, tree.RoleProperty))
	in := r.tables.containers[property]
	if in == "" || !r.isRequest(r.childOf(i, tree.RoleObject)) {
		return ""
	}
	if r.tables == scripts && property == "searchParams" {
		return "query"
	}
	return in
}

// callContainer says what part of a request a call returns. PSR-7 and Go have methods for them.
// Other languages read a part of a request as a member, or by a call that takes the name of the
// parameter at once.
func (r *reader) callContainer(i int32) string {
	object, name := r.calleeOf(i)
	switch r.f.Language {
	case "python":
		if r.tables.bodies[name] && r.isRequest(object) {
			return "json"
		}
	case "go":
		if name == "Query" && r.positionalArgument(i, 0) < 0 || name == "Vars" {
			return r.tables.containers[name]
		}
	case "php":
		if strings.HasPrefix(name, "get") {
			return r.tables.containers[name]
		}
	}
	return ""
}

// destructuredKind returns what part of a request a name is that a pattern takes out of it:
// ({query, body}, res) => … The pattern may be that of the handler's own parameter.
func (r *reader) destructuredKind(i int32) string {
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
	key := r.f.Text(r.childOf(pair, tree.RoleKey))
	if r.f.Is(owner, tree.Parameter) || r.f.Is(owner, tree.Variable) && r.isRequest(r.childOf(owner, tree.RoleValue)) {
		return r.tables.containers[key]
	}
	return ""
}

// isRequest reports whether an expression may be a request: one of the names that a
// framework gives it, or a parameter of a function.
func (r *reader) isRequest(i int32) bool {
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
		first = r.childOf(first, tree.RoleObject)
	}
	if !r.hasRequestName(dotted, r.f.Text(first)) {
		return false
	}
	d := r.Declarator(r.Declaration(first))
	return r.f.Is(d, tree.Parameter)
}

// hasRequestName reports whether a dotted name is one that may be a request when its first
// part is a parameter.
func (r *reader) hasRequestName(dotted, first string) bool {
	if r.tables != scripts {
		return r.tables.roots == nil || strings.HasSuffix(strings.ToLower(dotted), "request")
	}
	switch rest := strings.TrimPrefix(dotted, first); rest {
	case "", ".request", ".req":
		return true
	default:
		return strings.HasSuffix(rest, "Url")
	}
}

// note a place at which a parameter is read. Names that no request could carry are constants of
// another meaning.
func (r *reader) addRead(i int32, in, name string) {
	if name == "" || len(name) > 200 || len(r.out.reads) >= maxReads || strings.ContainsAny(name, "\r\n\x00") {
		return
	}
	if in == "json" {
		name = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	r.out.reads = append(r.out.reads, read{in: in, name: name, at: r.placeOf(i)})
}

// readMember looks at x["name"] and, where members are keys, at x.name. A member that is called is
// a method of the container.
func (r *reader) readMember(i int32) {
	object := r.childOf(i, tree.RoleObject)
	if r.f.Is(i, tree.Index) {
		if in := r.containerKind(object, 0); in != "" {
			if name, ok := r.constText(r.childOf(i, tree.RoleIndex)); ok {
				r.addRead(i, in, name)
			}
		} else if r.f.Language == "csharp" && r.tables.roots[r.f.Dotted(object)] {
			if name, ok := r.constText(r.childOf(i, tree.RoleIndex)); ok {
				r.addRead(i, "any", name)
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
	if in := r.containerKind(object, 0); in != "" {
		r.addRead(i, in, r.f.Text(r.childOf(i, tree.RoleProperty)))
	}
}

// readParameterCall reads a call that reads a parameter, or the body as a whole. Containers have
// getters that take a name; requests have methods for each kind.
func (r *reader) readParameterCall(i int32) {
	object, name := r.calleeOf(i)
	t := r.tables
	if name == "" {
		return
	}
	if in := t.second[name]; in != "" {
		r.addReadArgument(i, 1, in)
		return
	}
	if t.bodies[name] && r.f.Language == "go" {
		r.readInto(i)
	}
	if object < 0 {
		return
	}
	if t.getters[name] {
		if in := r.containerKind(object, 0); in != "" {
			r.addReadArgument(i, 0, in)
			return
		}
	}
	in := t.calls[name]
	if in == "" || r.containerKind(object, 0) != "" || !r.mayBeReceiver(object) {
		return
	}
	r.addReadArgument(i, 0, in)
}

// addReadArgument adds a read of the parameter that an argument names.
func (r *reader) addReadArgument(i int32, n int, in string) {
	if text, ok := r.constText(r.positionalArgument(i, n)); ok {
		r.addRead(i, in, text)
	}
}

// mayBeReceiver reports whether an expression may be what calls for parameters are made on: any
// value in languages with types, else a request. Their types would have to be resolved otherwise.
func (r *reader) mayBeReceiver(i int32) bool {
	switch r.f.Language {
	case "java", "kotlin", "scala", "go":
		return true
	}
	return r.isRequest(i) || r.f.Is(i, tree.This)
}

// readInto notes the class of a value that the body is read into: Decode(&v). Only a body counts
// for Decode, which reads other streams too.
func (r *reader) readInto(i int32) {
	a := r.positionalArgument(i, 0)
	if r.f.Is(a, tree.Unary) {
		a = r.childOf(a, tree.RoleValue)
	}
	if a < 0 || len(r.out.reads) >= maxReads {
		return
	}
	kind := r.Type(a)
	if kind = kind[strings.LastIndexByte(kind, '.')+1:]; kind == "" {
		return
	}
	if _, name := r.calleeOf(i); name == "Decode" && !strings.Contains(r.f.Code(r.childOf(i, tree.RoleCallee)),
		"Body") {
		return
	}
	r.out.reads = append(r.out.reads, read{in: "json", kind: kind, at: r.placeOf(i)})
}

// readPattern notes the names that a pattern takes out of a part of a request: const {a, b} =
// req.body. The rest of the pattern names no parameter.
func (r *reader) readPattern(target, value int32) {
	in := r.containerKind(value, 0)
	if in == "" || r.tables != scripts {
		return
	}
	for e := range r.f.All(target, tree.RoleElement) {
		if r.f.Is(e, tree.Pair) {
			r.addRead(e, in, r.f.Text(r.childOf(e, tree.RoleKey)))
		}
	}
}

// distinctParameters removes what was read twice. The same parameter at two places stays twice.
// The places matter: the data of a finding is traced to one of them. The lists are short.
func distinctParameters(list []Parameter) []Parameter {
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
