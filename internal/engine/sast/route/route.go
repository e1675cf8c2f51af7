// Package route finds the operations that a program offers over HTTP in its source:
// the routes that it declares to its framework, the functions that handle them, and
// the parameters that these read. It looks at generic trees, so one reader serves
// every language; what frameworks call things stands in tables.
//
// Each file is read alone (Read) and leaves Facts, which hold no tree. Join puts the
// facts of a program together: what is mounted where, and which function a name means.
// What is not sure, such as a path that is computed, is left out.
package route

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// A Route is an operation that the code declares. It is what a scan reports as an operation, and
// what a dynamic scan can send requests to.
type Route struct {
	Method     string // in upper case; "" is any
	Path       string // begins with a slash; parameters in braces: "/users/{id}"
	Parameters []Parameter
	Handler    Place // the function that answers
}

// A Parameter is a value of a request that a handler reads.
type Parameter struct {
	In   string // "path", "query", "form", "json", "header" or "cookie"
	Name string // of a JSON property, a pointer (RFC 6901)
	At   Place  // where it is read; of the zero Place when only the path names it
}

// String returns the parameter as "query:name".
func (p Parameter) String() string { return p.In + ":" + p.Name }

// A Place is a part of a file. Lines are kept, since the tree of the file is gone when routes are
// joined.
type Place struct {
	Path               string
	Start, End         int // bytes
	StartLine, EndLine int
}

// Holds reports whether the byte of the file is in the place.
func (p Place) Holds(path string, offset int) bool {
	return p.Path == path && p.Start <= offset && offset < p.End
}

// Facts are what one file says of routes. They are small and hold no tree, so that all files of a
// program fit in memory.
type Facts struct {
	path      string
	language  string
	declared  []declared
	mounts    []mount
	prefixes  map[string]string // by router: what its own making says
	functions []function
	reads     []read
	classes   map[string][]field
	imports   map[string]origin // by the name in the file
}

// Limits of one file, beyond which nothing more is noted.
const (
	maxDeclared = 5_000
	maxReads    = 20_000
	maxPath     = 500 // bytes
)

// declared is a route as its file tells it.
type declared struct {
	methods []string // none: any
	path    string
	router  string // what it is declared on, as a key of the file; "" for none
	handler reference
}

// A reference names a function of the program. Either the place is set, or the name.
type reference struct {
	place  Place  // of the function itself, where it stands there
	object string // what the name is a member of, as the source spells it
	name   string
}

// mount says that what a router, or a file, declares is below a path of another one.
type mount struct {
	parent string // a key of the file
	prefix string
	child  string // a key of the file; "" when it is elsewhere
	object string // of a router elsewhere: the name by which the file knows it
	module string // or the module
	whole  bool   // the prefix stands in the place of what the router's making says
}

// function is one that may handle requests. Lambdas are functions as well.
type function struct {
	name, class string
	at          Place
	parameters  []handlerParameter
}

// handlerParameter is a parameter of a function: what an annotation, or its type, says of it.
type handlerParameter struct {
	name string
	in   string // as in Parameter; "json" and "any" with a class stand for its fields
	kind string // the type's last name
	bare bool   // nothing says where it comes from
	at   Place
}

// read is a place at which a request is read. In is "any" for what is in the query or
// in the form.
type read struct {
	in, name string
	kind     string // a class that the body is read into; then the name is empty
	at       Place
}

// field is a member of a class that requests are read into.
type field struct{ name string }

// origin is where an imported name comes from.
type origin struct{ module, name string }

// Declares reports whether a file may hold something that Read finds. To ask costs less than to
// find out what the names of the file mean. Configuration and data files have none of these nodes.
func Declares(f *tree.File) bool {
	return tablesOf(f.Language) != nil && slices.ContainsFunc(f.Nodes, func(n tree.Node) bool {
		return n.Kind == tree.Function || n.Kind == tree.Class || n.Kind == tree.Call || n.Kind == tree.Index
	})
}

// Read finds what a file says of routes. The nodes are visited in their order, so that a router is
// known before its routes.
func Read(names *scope.Info) *Facts {
	r := &reader{Info: names, f: names.File, out: &Facts{
		path: names.File.Path, language: names.File.Language, prefixes: map[string]string{},
		classes: map[string][]field{}, imports: map[string]origin{},
	}}
	r.tables = tablesOf(r.f.Language)
	if r.tables == nil {
		return r.out
	}
	for i := int32(0); i < int32(len(r.f.Nodes)); i++ {
		switch r.f.Nodes[i].Kind {
		case tree.Import:
			r.addImport(i)
		case tree.Function, tree.Lambda:
			r.addFunction(i)
		case tree.Class:
			r.addClass(i)
		case tree.Variable, tree.Assign:
			r.readAssignment(i)
		case tree.Call:
			r.readCallSite(i)
		case tree.Index, tree.Member:
			r.readMember(i)
		}
	}
	r.addPageRoute()
	return r.out
}

// reader reads one file.
type reader struct {
	*scope.Info
	f      *tree.File
	tables *tables
	out    *Facts
}

// childOf returns the first child with the role; none of no node.
func (r *reader) childOf(i int32, role tree.Role) int32 {
	if i < 0 {
		return tree.None
	}
	return r.f.Child(i, role)
}

// nodeName returns the name of a node, "" of no node.
func (r *reader) nodeName(i int32) string { return r.f.Text(r.childOf(i, tree.RoleName)) }

// placeOf returns where a node stands.
func (r *reader) placeOf(i int32) Place {
	n := &r.f.Nodes[i]
	return Place{Path: r.f.Path, Start: int(n.Start), End: int(n.End), StartLine: r.f.Line(n.Start),
		EndLine: r.f.Line(max(n.End, n.Start+1) - 1)}
}

// constText returns the constant text of an expression. Of a symbol it is its name. Texts beyond
// the longest path are none.
func (r *reader) constText(i int32) (string, bool) {
	if i < 0 {
		return "", false
	}
	if n := &r.f.Nodes[i]; n.Kind == tree.Other && n.Text == "symbol" {
		return r.f.Text(r.childOf(i, tree.RoleElement)), true
	}
	v, ok := r.Const(i)
	if !ok || v.Kind != tree.String || len(v.Text) > maxPath {
		return "", false
	}
	return v.Text, true
}

// constTexts returns the constants of an expression, or of a list of them. Elements that are
// computed are left out.
func (r *reader) constTexts(i int32) []string {
	var out []string
	if r.f.Is(i, tree.List) || r.f.Is(i, tree.Tuple) || r.f.Is(i, tree.Set) {
		for e := range r.f.All(i, tree.RoleElement) {
			if t, ok := r.constText(e); ok {
				out = append(out, t)
			}
		}
		return out
	}
	if r.f.Is(i, tree.New) {
		for e := range r.f.All(i, tree.RoleArgument) {
			if t, ok := r.constText(e); ok {
				out = append(out, t)
			}
		}
		return out
	}
	if t, ok := r.constText(i); ok {
		return []string{t}
	}
	return nil
}

// positionalArgument returns the n-th argument that has no name, from 0. None when there are
// fewer.
func (r *reader) positionalArgument(call int32, n int) int32 {
	for a := range r.f.All(call, tree.RoleArgument) {
		if k := r.f.Nodes[a].Kind; k == tree.Keyword || k == tree.Pair {
			continue
		}
		if n == 0 {
			return a
		}
		n--
	}
	return tree.None
}

// lastArgument returns the last argument, if it is not the first. A single argument is the path.
// Named arguments are options of the route, and none is its handler.
func (r *reader) lastArgument(call int32) int32 {
	out := tree.None
	n := 0
	for a := range r.f.All(call, tree.RoleArgument) {
		if k := r.f.Nodes[a].Kind; k != tree.Keyword {
			out = a
		}
		n++
	}
	if n < 2 {
		return tree.None
	}
	return out
}

// namedArgument returns the value of an argument with one of the names: a keyword, or a member of
// an object that is an argument. JavaScript gives names to arguments by an object.
func (r *reader) namedArgument(call int32, names ...string) int32 {
	for a := range r.f.All(call, tree.RoleArgument) {
		if r.f.Is(a, tree.Keyword) && slices.Contains(names, r.nodeName(a)) {
			return r.childOf(a, tree.RoleValue)
		}
		if r.f.Is(a, tree.Map) {
			if v := r.entryValue(a, names...); v >= 0 {
				return v
			}
		}
	}
	return tree.None
}

// entryValue returns the value of a key of an object. A method of the object counts as its value.
// The first entry with one of the names counts: frameworks have several spellings, of which an
// object uses one.
func (r *reader) entryValue(object int32, names ...string) int32 {
	for e := range r.f.All(object, tree.RoleElement) {
		if r.f.Is(e, tree.Pair) {
			if key, ok := r.constText(r.childOf(e, tree.RoleKey)); ok && slices.Contains(names, key) {
				return r.childOf(e, tree.RoleValue)
			}
		}
		if r.f.Is(e, tree.Function) && slices.Contains(names, r.nodeName(e)) {
			return e
		}
	}
	return tree.None
}

// routerKey names a router within the file. It is the declaration of a variable, so that two
// variables of one name are two routers.
func (r *reader) routerKey(i int32) string {
	switch {
	case i < 0:
		return ""
	case r.f.Is(i, tree.Name):
		if d := r.Declaration(i); d >= 0 {
			return "#" + itoa(d)
		}
		return r.f.Text(i)
	case r.f.Is(i, tree.Call): // a chain of settings: r.route("/x").get(h)
		return ""
	}
	return r.f.Dotted(i)
}

// calleeOf returns the object and the name of what is called. The object is None for a bare
// function.
func (r *reader) calleeOf(call int32) (object int32, name string) {
	callee := r.childOf(call, tree.RoleCallee)
	if r.f.Is(callee, tree.Member) {
		return r.childOf(callee, tree.RoleObject), r.f.Text(r.childOf(callee, tree.RoleProperty))
	}
	if r.f.Is(callee, tree.Name) {
		return tree.None, r.f.Text(callee)
	}
	return tree.None, ""
}

// addImport notes where a name comes from. Default exports are known by the name that the file
// gives them.
func (r *reader) addImport(i int32) {
	bound := r.Bound(i)
	if bound == "" {
		if d := r.childOf(i, tree.RoleName); d >= 0 && r.f.Text(d) == "default" {
			bound = r.f.Text(r.childOf(i, tree.RoleAlias))
		}
	}
	if bound == "" || len(r.out.imports) >= maxDeclared {
		return
	}
	r.out.imports[bound] = origin{r.f.Text(i), r.f.Text(r.childOf(i, tree.RoleName))}
}

// cleanPath writes a path as all routes are written: with a slash in front, parameters in
// braces. It returns "" for what is no path of one operation.
func cleanPath(path string) string {
	path = strings.TrimPrefix(path, "~") // of ASP.NET: from the root
	var out []string
	for _, s := range strings.Split(strings.Trim(path, "/"), "/") {
		if s == "" {
			continue
		}
		if s = cleanSegment(s); s == "" {
			return ""
		}
		out = append(out, s)
	}
	return "/" + strings.Join(out, "/")
}

// cleanSegment writes one segment of a path: ":id", "<int:id>", "{id:int}", "{id?}" and
// "*rest" are parameters. It returns "" for expressions, and for what a browser would
// not send.
func cleanSegment(s string) string {
	name, isParameter := segmentName(s)
	if isParameter {
		name = strings.Trim(name, "?*+=$.")
		if cut := strings.IndexAny(name, "(<=?"); cut > 0 {
			name = name[:cut]
		}
	}
	for _, c := range name {
		if c <= ' ' || c > '~' || strings.ContainsRune(`\^$()[]|?*+<>"#{}`, c) {
			return ""
		}
	}
	if name != "" && isParameter {
		return "{" + name + "}"
	}
	return name
}

// segmentName returns the name in a segment, and whether it is that of a parameter in one
// of the spellings of frameworks.
func segmentName(s string) (name string, isParameter bool) {
	switch {
	case strings.HasPrefix(s, ":"):
		return s[1:], true
	case strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">"):
		name = s[1 : len(s)-1]
		if _, after, ok := strings.Cut(name, ":"); ok {
			name = after
		}
		return name, true
	case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
		name, _, _ = strings.Cut(s[1:len(s)-1], ":")
		return name, true
	case strings.HasPrefix(s, "*"):
		return strings.Trim(s, "*"), true
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"): // of files: [id].js
		return strings.Trim(s, "[]."), true
	}
	return s, false
}
