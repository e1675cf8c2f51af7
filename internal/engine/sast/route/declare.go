package route

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds routes that calls declare: app.get("/x", handler), and what is
// mounted below what.

// readCallSite reads a call: it may declare a route, mount a router, or read a request. The same
// call can do several of these. Languages with spellings of their own come first.
func (r *reader) readCallSite(i int32) {
	r.readParameterCall(i)
	object, name := r.calleeOf(i)
	if name == "" {
		return
	}
	lower := strings.ToLower(name)
	switch r.f.Language {
	case "ruby":
		r.readRubyCall(i, object, name)
		return
	case "python":
		r.readPythonCall(i, object, name)
		return
	case "go":
		if name == "HandleFunc" || name == "Handle" || name == "HandlerFunc" {
			r.declareGoRoute(i, object)
			return
		}
	case "csharp":
		if strings.HasPrefix(name, "Map") && verbs[lower[3:]] != "" {
			r.declareRoute(i, object, declared{methods: []string{verbs[lower[3:]]}})
			return
		}
	}
	r.readRouterCall(i, object, name)
}

// readRouterCall reads a call by the names that most frameworks give the methods of their
// routers, in any case: get, all, match, use, route.
func (r *reader) readRouterCall(i, object int32, name string) {
	lower := strings.ToLower(name)
	if verbs[lower] != "" && r.f.Language != "csharp" {
		r.declareRoute(i, object, declared{methods: []string{verbs[lower]}})
		return
	}
	switch lower {
	case "all", "any":
		r.declareRoute(i, object, declared{})
	case "match", "map":
		if methods := r.readMethods(r.positionalArgument(i, 0)); len(methods) > 0 {
			r.declarePath(i, object, r.positionalArgument(i, 1), declared{methods: methods})
		}
	case "use", "register":
		r.addMounts(i, object)
	case "mount":
		if name == "Mount" {
			r.addMounts(i, object)
		}
	case "route":
		r.routeObject(i, object)
	}
}

// readMethods reads names of methods of requests. Words that are no methods are left out. A route
// that names no known method is one for all of them.
func (r *reader) readMethods(i int32) []string {
	var out []string
	for _, t := range r.constTexts(i) {
		if m := verbs[strings.ToLower(t)]; m != "" {
			out = append(out, m)
		}
	}
	return out
}

// declareRoute notes the route of a call whose first argument is the path, or of
// x.route(path).get(handler). Chains such as x.route(p).get(h).post(h) declare several routes of
// one path.
func (r *reader) declareRoute(i, object int32, d declared) {
	path := r.positionalArgument(i, 0)
	if r.f.Is(object, tree.Call) {
		outer, name := r.calleeOf(object)
		for r.f.Is(outer, tree.Call) && verbs[strings.ToLower(name)] != "" { // x.route(p).get(h).post(h)
			object = outer
			outer, name = r.calleeOf(object)
		}
		if strings.EqualFold(name, "route") {
			d.handler = r.handlerOf(r.argumentLast(i))
			r.addRoute(i, outer, r.positionalArgument(object, 0), d)
			return
		}
	}
	r.declarePath(i, object, path, d)
}

// argumentLast returns the last argument that has no name. Middleware stands in front of the
// handler.
func (r *reader) argumentLast(i int32) int32 {
	out := tree.None
	for n := 0; ; n++ {
		a := r.positionalArgument(i, n)
		if a < 0 {
			return out
		}
		out = a
	}
}

// declarePath notes a route whose path stands at the node, with its last argument as the handler.
// jQuery's $.get is a request of the client and no route.
func (r *reader) declarePath(i, object, path int32, d declared) {
	if o := r.f.Dotted(object); o == "$" || o == "jQuery" {
		return
	}
	handler := r.lastArgument(i)
	for handler >= 0 && r.f.Is(handler, tree.Map) { // options behind the handler
		handler = r.positionalArgument(i, 1)
		if r.f.Is(handler, tree.Map) {
			handler = r.entryValue(handler, "handler")
		}
	}
	d.handler = r.handlerOf(handler)
	r.addRoute(i, object, path, d)
}

// addRoute adds a route; the node is where it is declared, object what it is declared on. A path
// that does not begin with a slash is taken for the key of a map, except in languages whose
// routers are known by name.
func (r *reader) addRoute(i, object, path int32, d declared) {
	text, ok := r.constText(path)
	if !ok || d.handler == (reference{}) || len(r.out.declared) >= maxDeclared {
		return
	}
	if r.tables.roots == nil && !strings.HasPrefix(text, "/") && text != "" && text != "*" {
		return // a name: map.get("key", …)
	}
	if strings.Contains(text, "://") {
		return
	}
	d.path, d.router = r.groupPath(i, object, text)
	r.out.declared = append(r.out.declared, d)
}

// groupers are calls that declare what stands in a function that they are given below
// a path.
var groupers = wordSet("group route register namespace scope prefix mapgroup resources resource path")

// groupPath returns the path with those of the groups in which the node stands, and the router of
// the outermost. Groups nest: each function literal around the node may be the argument of one.
func (r *reader) groupPath(i, object int32, path string) (whole, router string) {
	router = r.routerKey(object)
	whole = path
	for l := r.f.Enclosing(i, tree.Lambda); l >= 0; l = r.f.Enclosing(l, tree.Lambda) {
		call := r.f.Nodes[l].Parent
		if !r.f.Is(call, tree.Call) {
			continue
		}
		outer, name := r.calleeOf(call)
		if !groupers[strings.ToLower(name)] || r.declaredOutside(l, object) {
			continue
		}
		if prefix, ok := r.prefixOf(call, outer, name); ok {
			whole = strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(whole, "/")
			object, router = outer, r.routerKey(outer)
		}
	}
	return whole, router
}

// declaredOutside reports whether the name is a variable that is declared outside of the function.
// Then the route belongs to that router and not to the group.
func (r *reader) declaredOutside(lambda, object int32) bool {
	if !r.f.Is(object, tree.Name) {
		return false
	}
	d := r.Declaration(object)
	return d >= 0 && !r.f.Contains(lambda, d) && r.f.Language != "php"
}

// prefixOf returns the path of a group. It is false when the path is computed.
func (r *reader) prefixOf(call, outer int32, name string) (string, bool) {
	if v := r.namedArgument(call, "prefix", "path"); v >= 0 {
		return r.constText(v)
	}
	for o := outer; r.f.Is(o, tree.Call); { // Route::prefix("admin")->middleware(…)->group(…)
		next, setting := r.calleeOf(o)
		if setting == "prefix" {
			return r.constText(r.positionalArgument(o, 0))
		}
		o = next
	}
	first := r.positionalArgument(call, 0)
	text, ok := r.constText(first)
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

// handlerOf returns what function an expression means. The name is resolved when all files are
// known.
func (r *reader) handlerOf(i int32) reference {
	if i < 0 {
		return reference{}
	}
	switch n := &r.f.Nodes[i]; n.Kind {
	case tree.Lambda, tree.Function:
		return reference{place: r.placeOf(i)}
	case tree.Name:
		return reference{name: n.Text}
	case tree.Member:
		object, property := r.childOf(i, tree.RoleObject), r.f.Text(r.childOf(i, tree.RoleProperty))
		switch property {
		case "class":
			return reference{object: r.f.Dotted(object), name: "__invoke"}
		case "bind": // of a method to its object: handler.list.bind(handler)
			return r.handlerOf(object)
		}
		return reference{object: r.f.Dotted(object), name: property}
	case tree.Call:
		return r.wrappedHandler(i)
	case tree.List, tree.Tuple, tree.Map: // [Controller::class, 'show'], or middleware and handler
		return r.handlerInList(i)
	case tree.String:
		return actionOf(n.Text)
	}
	return reference{}
}

// wrappedHandler returns the function in a call that makes a handler: search(),
// asyncHandler(list), View.as_view(). The first argument that is a function is taken to be
// what the call wraps.
func (r *reader) wrappedHandler(i int32) reference {
	if object, name := r.calleeOf(i); name == "as_view" {
		return reference{object: r.f.Dotted(object), name: "*"}
	}
	for a := range r.f.All(i, tree.RoleArgument) {
		if k := r.f.Nodes[a].Kind; k == tree.Lambda || k == tree.Name || k == tree.Member {
			if ref := r.handlerOf(a); ref != (reference{}) {
				return ref
			}
		}
	}
	return r.handlerOf(r.childOf(i, tree.RoleCallee))
}

// handlerInList returns the function that a list names: a class with a method, or the last of
// several functions.
func (r *reader) handlerInList(i int32) reference {
	var elements []int32
	for e := range r.f.All(i, tree.RoleElement) {
		elements = append(elements, e)
	}
	if len(elements) == 0 {
		return reference{}
	}
	if len(elements) == 2 {
		if method, ok := r.constText(elements[1]); ok {
			return reference{object: r.f.Dotted(r.childOf(elements[0], tree.RoleObject)), name: method}
		}
	}
	return r.handlerOf(elements[len(elements)-1])
}

// actionOf reads "Controller@action", "controller#action" and "Controller:action". The signs are
// those of Laravel, Rails, and Play.
func actionOf(text string) reference {
	for _, sign := range []string{"@", "#", "::", ":"} {
		if object, name, ok := strings.Cut(text, sign); ok && object != "" && name != "" {
			if sign == "#" {
				object = camelCase(object) + "Controller"
			}
			return reference{object: object[strings.LastIndexByte(object, '\\')+1:], name: name}
		}
	}
	return reference{}
}

// camelCase returns the name of the class that "admin/user_posts" stands for, without its modules:
// "UserPosts". Rails finds controllers by that rule.
func camelCase(s string) string {
	var b strings.Builder
	for _, part := range strings.Split(s[strings.LastIndexByte(s, '/')+1:], "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// declareGoRoute notes a route of Go's own form: HandleFunc("GET /users/{id}", h), with
// Methods("GET") behind it where another package gives it. Patterns of net/http may begin with a
// method and a host (Go 1.22).
func (r *reader) declareGoRoute(i, object int32) {
	path, ok := r.constText(r.positionalArgument(i, 0))
	handler := r.handlerOf(r.positionalArgument(i, 1))
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
			if _, name := r.calleeOf(outer); name == "Methods" {
				for a := range r.f.All(outer, tree.RoleArgument) {
					d.methods = append(d.methods, r.methodsOf(a)...)
				}
			}
		}
	}
	d.path, d.router = r.groupPath(i, object, path)
	r.out.declared = append(r.out.declared, d)
}

// methodsOf reads a method of requests: "GET", http.MethodGet, RequestMethod.POST. A list of them
// is read element by element.
func (r *reader) methodsOf(i int32) []string {
	if t, ok := r.constText(i); ok {
		if m := verbs[strings.ToLower(t)]; m != "" {
			return []string{m}
		}
		return nil
	}
	if r.f.Is(i, tree.List) || r.f.Is(i, tree.New) || r.f.Is(i, tree.Tuple) {
		var out []string
		for c := range r.f.Children(i) {
			out = append(out, r.methodsOf(c)...)
		}
		return out
	}
	name := r.f.Dotted(i)
	if m := verbs[strings.TrimPrefix(strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), "method")]; m != "" {
		return []string{m}
	}
	return nil
}

// addMounts notes that a router is below a path: app.use("/api", router). All arguments are tried,
// as middleware may stand among them.
func (r *reader) addMounts(i, object int32) {
	prefix, _ := r.constText(r.positionalArgument(i, 0)) // none: app.use(router)
	if v := r.namedArgument(i, "prefix", "url_prefix"); v >= 0 {
		prefix, _ = r.constText(v)
	}
	for a := range r.f.All(i, tree.RoleArgument) {
		if m, ok := r.mountedRouter(a); ok && len(r.out.mounts) < maxDeclared {
			m.prefix, m.parent = r.groupPath(i, object, prefix)
			r.out.mounts = append(r.out.mounts, m)
		}
	}
}

// mountedRouter returns what an expression mounts. It is false for what is no router, such as a
// middleware function of another package.
func (r *reader) mountedRouter(i int32) (mount, bool) {
	switch r.f.Nodes[i].Kind {
	case tree.Name, tree.Member:
		return r.mountedName(i)
	case tree.Call:
		return r.mountedCall(i)
	}
	return mount{}, false
}

// mountedName returns the router that a name means: an import, a module that is required,
// or a variable of the file.
func (r *reader) mountedName(i int32) (mount, bool) {
	first, _, _ := strings.Cut(r.f.Dotted(i), ".")
	if first == "" {
		return mount{}, false
	}
	if v := r.Definition(i); r.f.Is(v, tree.Call) { // const users = require("./users")
		if m, ok := r.mountedRouter(v); ok && m.module != "" {
			return m, true
		}
	}
	if _, ok := r.out.imports[first]; ok {
		return mount{object: first}, true
	}
	return mount{child: r.routerKey(i)}, true
}

// mountedCall returns the router that a call returns: an imported module, the routes of a
// router (Koa), or what a function of another file makes.
func (r *reader) mountedCall(i int32) (mount, bool) {
	object, name := r.calleeOf(i)
	if object >= 0 {
		if name == "routes" || name == "middleware" || name == "default" {
			return r.mountedRouter(object)
		}
		return mount{}, false
	}
	if name != "" && name == r.Semantics.ImportFunction {
		module, ok := r.constText(r.positionalArgument(i, 0))
		return mount{module: module}, ok
	}
	callee := r.childOf(i, tree.RoleCallee) // a function that makes the router: require("./users")(settings)
	if m, ok := r.mountedRouter(callee); ok && m.child == "" &&
		(r.f.Is(callee, tree.Name) || r.f.Is(callee, tree.Call)) {
		return m, true
	}
	return mount{}, false
}

// routeObject notes routes that objects describe: route({method, url, handler}), also in a list.
// Fastify and hapi declare routes so.
func (r *reader) routeObject(i, object int32) {
	first := r.positionalArgument(i, 0)
	list := []int32{first}
	if r.f.Is(first, tree.List) {
		list = slices.Collect(r.f.All(first, tree.RoleElement))
	}
	for _, o := range list {
		if !r.f.Is(o, tree.Map) {
			continue
		}
		d := declared{methods: r.readMethods(r.entryValue(o, "method"))}
		handler := r.entryValue(o, "handler")
		if options := r.entryValue(o, "options", "config"); handler < 0 && r.f.Is(options, tree.Map) {
			handler = r.entryValue(options, "handler")
		}
		d.handler = r.handlerOf(handler)
		r.addRoute(i, object, r.entryValue(o, "url", "path"), d)
	}
}

// readAssignment reads what makes a router: api = Blueprint("x", url_prefix="/api"), or
// g := r.Group("/v1"), and patterns that take parameters out of a request.
func (r *reader) readAssignment(i int32) {
	target, value := r.childOf(i, tree.RoleTarget), r.childOf(i, tree.RoleValue)
	if r.f.Is(target, tree.Map) {
		r.readPattern(target, value)
		return
	}
	if !r.f.Is(value, tree.Call) && !r.f.Is(value, tree.New) || len(r.out.mounts) >= maxDeclared {
		return
	}
	key := r.routerKey(target)
	if key == "" {
		return
	}
	if v := r.namedArgument(value, "url_prefix", "prefix"); v >= 0 {
		if prefix, ok := r.constText(v); ok {
			r.out.prefixes[key] = prefix
		}
		return
	}
	if r.f.Is(value, tree.Call) {
		r.addGroup(key, value)
	}
}

// addGroup mounts a router that a method of another one makes for a path. Routes that are declared
// on it are below the path.
func (r *reader) addGroup(key string, value int32) {
	object, name := r.calleeOf(value)
	if name == "Subrouter" && r.f.Is(object, tree.Call) {
		value = object
		object, name = r.calleeOf(value)
	}
	switch name {
	case "Group", "group", "MapGroup", "PathPrefix", "basePath", "Party":
		if prefix, ok := r.constText(r.positionalArgument(value, 0)); ok && object >= 0 {
			m := mount{child: key}
			m.prefix, m.parent = r.groupPath(value, object, prefix)
			r.out.mounts = append(r.out.mounts, m)
		}
	}
}
