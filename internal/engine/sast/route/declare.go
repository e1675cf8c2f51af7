package route

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds routes that calls declare: app.get("/x", handler), and what is
// mounted below what.

// call looks at a call: it may declare a route, mount a router, or read a request.
func (r *reader) call(i int32) {
	r.readCall(i)
	object, name := r.calls(i)
	if name == "" {
		return
	}
	lower := strings.ToLower(name)
	switch {
	case r.f.Language == "ruby":
		r.ruby(i, object, name)
	case r.f.Language == "python":
		r.python(i, object, name)
	case r.f.Language == "go" && (name == "HandleFunc" || name == "Handle" || name == "HandlerFunc"):
		r.handle(i, object)
	case r.f.Language == "csharp" && strings.HasPrefix(name, "Map") && verbs[lower[3:]] != "":
		r.declare(i, object, declared{methods: []string{verbs[lower[3:]]}})
	case verbs[lower] != "" && r.f.Language != "csharp":
		r.declare(i, object, declared{methods: []string{verbs[lower]}})
	case lower == "all" || lower == "any":
		r.declare(i, object, declared{})
	case lower == "match" || lower == "map":
		if methods := r.methods(r.argument(i, 0)); len(methods) > 0 {
			r.declarePath(i, object, r.argument(i, 1), declared{methods: methods})
		}
	case lower == "use" || lower == "register" || name == "Mount":
		r.mount(i, object)
	case lower == "route":
		r.routeObject(i, object)
	}
}

// methods reads names of methods of requests.
func (r *reader) methods(i int32) []string {
	var out []string
	for _, t := range r.texts(i) {
		if m := verbs[strings.ToLower(t)]; m != "" {
			out = append(out, m)
		}
	}
	return out
}

// declare notes the route of a call whose first argument is the path, or of
// x.route(path).get(handler).
func (r *reader) declare(i, object int32, d declared) {
	path := r.argument(i, 0)
	if r.f.Is(object, tree.Call) {
		outer, name := r.calls(object)
		for r.f.Is(outer, tree.Call) && verbs[strings.ToLower(name)] != "" { // x.route(p).get(h).post(h)
			object = outer
			outer, name = r.calls(object)
		}
		if strings.EqualFold(name, "route") {
			d.handler = r.reference(r.argumentLast(i))
			r.note(i, outer, r.argument(object, 0), d)
			return
		}
	}
	r.declarePath(i, object, path, d)
}

// argumentLast returns the last argument that has no name.
func (r *reader) argumentLast(i int32) int32 {
	out := tree.None
	for n := 0; ; n++ {
		a := r.argument(i, n)
		if a < 0 {
			return out
		}
		out = a
	}
}

// declarePath notes a route whose path stands at the node, with its last argument as
// the handler.
func (r *reader) declarePath(i, object, path int32, d declared) {
	if o := r.f.Dotted(object); o == "$" || o == "jQuery" {
		return
	}
	handler := r.last(i)
	for handler >= 0 && r.f.Is(handler, tree.Map) { // options behind the handler
		handler = r.argument(i, 1)
		if r.f.Is(handler, tree.Map) {
			handler = r.entry(handler, "handler")
		}
	}
	d.handler = r.reference(handler)
	r.note(i, object, path, d)
}

// note adds a route; the node is where it is declared, object what it is declared on.
func (r *reader) note(i, object, path int32, d declared) {
	text, ok := r.text(path)
	if !ok || d.handler == (reference{}) || len(r.out.declared) >= maxDeclared {
		return
	}
	if r.tables.roots == nil && !strings.HasPrefix(text, "/") && text != "" && text != "*" {
		return // a name: map.get("key", …)
	}
	if strings.Contains(text, "://") {
		return
	}
	d.path, d.router = r.below(i, object, text)
	r.out.declared = append(r.out.declared, d)
}

// groupers are calls that declare what stands in a function that they are given below
// a path.
var groupers = words("group route register namespace scope prefix mapgroup resources resource path")

// below returns the path with those of the groups in which the node stands, and the
// router of the outermost.
func (r *reader) below(i, object int32, path string) (whole, router string) {
	router = r.key(object)
	whole = path
	for l := r.f.Enclosing(i, tree.Lambda); l >= 0; l = r.f.Enclosing(l, tree.Lambda) {
		call := r.f.Nodes[l].Parent
		if !r.f.Is(call, tree.Call) {
			continue
		}
		outer, name := r.calls(call)
		if !groupers[strings.ToLower(name)] || r.declaredOutside(l, object) {
			continue
		}
		if prefix, ok := r.prefixOf(call, outer, name); ok {
			whole = strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(whole, "/")
			object, router = outer, r.key(outer)
		}
	}
	return whole, router
}

// declaredOutside reports whether the name is a variable that is declared outside of
// the function.
func (r *reader) declaredOutside(lambda, object int32) bool {
	if !r.f.Is(object, tree.Name) {
		return false
	}
	d := r.Declaration(object)
	return d >= 0 && !r.f.Contains(lambda, d) && r.f.Language != "php"
}

// prefixOf returns the path of a group.
func (r *reader) prefixOf(call, outer int32, name string) (string, bool) {
	if v := r.named(call, "prefix", "path"); v >= 0 {
		return r.text(v)
	}
	for o := outer; r.f.Is(o, tree.Call); { // Route::prefix("admin")->middleware(…)->group(…)
		next, setting := r.calls(o)
		if setting == "prefix" {
			return r.text(r.argument(o, 0))
		}
		o = next
	}
	first := r.argument(call, 0)
	text, ok := r.text(first)
	switch {
	case ok && name == "resources": // a member of the resource
		return text + "/:id", true
	case ok:
		return text, true
	case r.f.Is(first, tree.Lambda):
		return "", true
	}
	return "", false
}

// reference returns what function an expression means.
func (r *reader) reference(i int32) reference {
	if i < 0 {
		return reference{}
	}
	switch n := &r.f.Nodes[i]; n.Kind {
	case tree.Lambda, tree.Function:
		return reference{place: r.place(i)}
	case tree.Name:
		return reference{name: n.Text}
	case tree.Member:
		property := r.f.Text(r.child(i, tree.RoleProperty))
		if property == "class" {
			return reference{object: r.f.Dotted(r.child(i, tree.RoleObject)), name: "__invoke"}
		}
		if property == "bind" { // of a method to its object: handler.list.bind(handler)
			return r.reference(r.child(i, tree.RoleObject))
		}
		return reference{object: r.f.Dotted(r.child(i, tree.RoleObject)), name: property}
	case tree.Call: // what makes the handler: search(), asyncHandler(list), View.as_view()
		if object, name := r.calls(i); name == "as_view" {
			return reference{object: r.f.Dotted(object), name: "*"}
		}
		for a := range r.f.All(i, tree.RoleArgument) {
			if k := r.f.Nodes[a].Kind; k == tree.Lambda || k == tree.Name || k == tree.Member {
				if ref := r.reference(a); ref != (reference{}) {
					return ref
				}
			}
		}
		return r.reference(r.child(i, tree.RoleCallee))
	case tree.List, tree.Tuple, tree.Map: // [Controller::class, 'show'], or middleware and handler
		return r.listed(i)
	case tree.String:
		return actionOf(n.Text)
	}
	return reference{}
}

// listed returns the function that a list names: a class with a method, or the last of
// several functions.
func (r *reader) listed(i int32) reference {
	var elements []int32
	for e := range r.f.All(i, tree.RoleElement) {
		elements = append(elements, e)
	}
	if len(elements) == 0 {
		return reference{}
	}
	if len(elements) == 2 {
		if method, ok := r.text(elements[1]); ok {
			return reference{object: r.f.Dotted(r.child(elements[0], tree.RoleObject)), name: method}
		}
	}
	return r.reference(elements[len(elements)-1])
}

// actionOf reads "Controller@action", "controller#action" and "Controller:action".
func actionOf(text string) reference {
	for _, sign := range []string{"@", "#", "::", ":"} {
		if object, name, ok := strings.Cut(text, sign); ok && object != "" && name != "" {
			if sign == "#" {
				object = camel(object) + "Controller"
			}
			return reference{object: object[strings.LastIndexByte(object, '\\')+1:], name: name}
		}
	}
	return reference{}
}

// camel returns the name of the class that "admin/user_posts" stands for, without its
// modules: "UserPosts".
func camel(s string) string {
	var b strings.Builder
	for _, part := range strings.Split(s[strings.LastIndexByte(s, '/')+1:], "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// handle notes a route of Go's own form: HandleFunc("GET /users/{id}", h), with
// Methods("GET") behind it where another package gives it.
func (r *reader) handle(i, object int32) {
	path, ok := r.text(r.argument(i, 0))
	handler := r.reference(r.argument(i, 1))
	if !ok || handler == (reference{}) || len(r.out.declared) >= maxDeclared {
		return
	}
	d := declared{handler: handler}
	if method, rest, ok := strings.Cut(path, " "); ok && verbs[strings.ToLower(method)] != "" {
		d.methods, path = []string{method}, strings.TrimSpace(rest)
	}
	if at := strings.IndexByte(path, '/'); at > 0 {
		path = path[at:] // behind a host
	}
	if member := r.f.Nodes[i].Parent; r.f.Is(member, tree.Member) {
		if outer := r.f.Nodes[member].Parent; r.f.Is(outer, tree.Call) {
			if _, name := r.calls(outer); name == "Methods" {
				for a := range r.f.All(outer, tree.RoleArgument) {
					d.methods = append(d.methods, r.method(a)...)
				}
			}
		}
	}
	d.path, d.router = r.below(i, object, path)
	r.out.declared = append(r.out.declared, d)
}

// method reads a method of requests: "GET", http.MethodGet, RequestMethod.POST.
func (r *reader) method(i int32) []string {
	if t, ok := r.text(i); ok {
		if m := verbs[strings.ToLower(t)]; m != "" {
			return []string{m}
		}
		return nil
	}
	if r.f.Is(i, tree.List) || r.f.Is(i, tree.New) || r.f.Is(i, tree.Tuple) {
		var out []string
		for c := range r.f.Children(i) {
			out = append(out, r.method(c)...)
		}
		return out
	}
	name := r.f.Dotted(i)
	if m := verbs[strings.TrimPrefix(strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), "method")]; m != "" {
		return []string{m}
	}
	return nil
}

// mount notes that a router is below a path: app.use("/api", router).
func (r *reader) mount(i, object int32) {
	prefix, _ := r.text(r.argument(i, 0)) // none: app.use(router)
	if v := r.named(i, "prefix", "url_prefix"); v >= 0 {
		prefix, _ = r.text(v)
	}
	for a := range r.f.All(i, tree.RoleArgument) {
		if m, ok := r.mounted(a); ok && len(r.out.mounts) < maxDeclared {
			m.prefix, m.parent = r.below(i, object, prefix)
			r.out.mounts = append(r.out.mounts, m)
		}
	}
}

// mounted returns what an expression mounts.
func (r *reader) mounted(i int32) (mount, bool) {
	switch n := &r.f.Nodes[i]; n.Kind {
	case tree.Name, tree.Member:
		first, _, _ := strings.Cut(r.f.Dotted(i), ".")
		if first == "" {
			return mount{}, false
		}
		if v := r.Definition(i); r.f.Is(v, tree.Call) { // const users = require("./users")
			if m, ok := r.mounted(v); ok && m.module != "" {
				return m, true
			}
		}
		if _, ok := r.out.imports[first]; ok {
			return mount{object: first}, true
		}
		return mount{child: r.key(i)}, true
	case tree.Call:
		object, name := r.calls(i)
		if object < 0 && name != "" && name == r.Semantics.ImportFunction {
			module, ok := r.text(r.argument(i, 0))
			return mount{module: module}, ok
		}
		if object >= 0 && (name == "routes" || name == "middleware" || name == "default") {
			return r.mounted(object)
		}
		if object < 0 { // a function that makes the router: require("./users")(settings)
			callee := r.child(i, tree.RoleCallee)
			if m, ok := r.mounted(callee); ok && m.child == "" &&
				(r.f.Is(callee, tree.Name) || r.f.Is(callee, tree.Call)) {
				return m, true
			}
		}
	}
	return mount{}, false
}

// routeObject notes routes that objects describe: route({method, url, handler}), also
// in a list.
func (r *reader) routeObject(i, object int32) {
	first := r.argument(i, 0)
	list := []int32{first}
	if r.f.Is(first, tree.List) {
		list = slices.Collect(r.f.All(first, tree.RoleElement))
	}
	for _, o := range list {
		if !r.f.Is(o, tree.Map) {
			continue
		}
		d := declared{methods: r.methods(r.entry(o, "method"))}
		handler := r.entry(o, "handler")
		if options := r.entry(o, "options", "config"); handler < 0 && r.f.Is(options, tree.Map) {
			handler = r.entry(options, "handler")
		}
		d.handler = r.reference(handler)
		r.note(i, object, r.entry(o, "url", "path"), d)
	}
}

// assigned looks at what makes a router: api = Blueprint("x", url_prefix="/api"), or
// g := r.Group("/v1").
func (r *reader) assigned(i int32) {
	target, value := r.child(i, tree.RoleTarget), r.child(i, tree.RoleValue)
	if r.f.Is(target, tree.Map) {
		r.destructured(target, value)
		return
	}
	if !r.f.Is(value, tree.Call) && !r.f.Is(value, tree.New) || len(r.out.mounts) >= maxDeclared {
		return
	}
	key := r.key(target)
	if key == "" {
		return
	}
	if v := r.named(value, "url_prefix", "prefix"); v >= 0 {
		if prefix, ok := r.text(v); ok {
			r.out.prefixes[key] = prefix
		}
		return
	}
	if !r.f.Is(value, tree.Call) {
		return
	}
	object, name := r.calls(value)
	if name == "Subrouter" && r.f.Is(object, tree.Call) {
		value = object
		object, name = r.calls(value)
	}
	switch name {
	case "Group", "group", "MapGroup", "PathPrefix", "basePath", "Party":
		if prefix, ok := r.text(r.argument(value, 0)); ok && object >= 0 {
			m := mount{child: key}
			m.prefix, m.parent = r.below(value, object, prefix)
			r.out.mounts = append(r.out.mounts, m)
		}
	}
}
