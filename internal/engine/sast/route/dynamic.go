package route

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
	"merlon/internal/lazyregexp"
)

// This file knows the ways of Python and Ruby, and files that are routes themselves.

// readPythonCall reads a call that Python's frameworks know. Decorators are read with the function
// that they decorate.
func (r *reader) readPythonCall(i, object int32, name string) {
	switch name {
	case "register_blueprint", "include_router", "mount":
		r.pythonMount(i, object, name)
	case "path", "re_path", "url":
		if object < 0 {
			r.addDjangoRoute(i, name)
		}
	case "add_url_rule":
		handler := r.namedArgument(i, "view_func")
		if handler < 0 {
			handler = r.positionalArgument(i, 2)
		}
		r.addRoute(i, object, r.positionalArgument(i, 0),
			declared{methods: r.readMethods(r.namedArgument(i, "methods")), handler: r.handlerOf(handler)})
	case "add_resource": // the class, and its paths
		ref := reference{object: r.f.Dotted(r.positionalArgument(i, 0)), name: "*"}
		for n := 1; r.positionalArgument(i, n) >= 0; n++ {
			r.addRoute(i, object, r.positionalArgument(i, n), declared{handler: ref})
		}
	case "add_get", "add_post", "add_put", "add_delete", "add_patch":
		r.addRoute(i, object, r.positionalArgument(i, 0),
			declared{methods: []string{verbs[name[4:]]}, handler: r.handlerOf(r.positionalArgument(i, 1))})
	case "add_route":
		r.addPythonRoute(i, object)
	case "Application":
		r.addTornadoRoutes(i)
	case "get", "post", "put", "delete", "patch": // aiohttp: web.get("/x", handler)
		if r.f.Text(object) == "web" {
			r.addRoute(i, tree.None, r.positionalArgument(i, 0),
				declared{methods: []string{verbs[name]}, handler: r.handlerOf(r.positionalArgument(i, 1))})
		}
	}
}

// addPythonRoute adds the route of add_route(path, handler), or of add_route(method, path,
// handler) of aiohttp.
func (r *reader) addPythonRoute(i, object int32) {
	first, second := r.positionalArgument(i, 0), r.positionalArgument(i, 1)
	if methods := r.readMethods(first); len(methods) > 0 {
		r.addRoute(i, object, second, declared{methods: methods, handler: r.handlerOf(r.positionalArgument(i, 2))})
		return
	}
	r.addRoute(i, object, first, declared{handler: r.handlerOf(second)})
}

// addTornadoRoutes adds the routes of a Tornado application: a list of path and class.
func (r *reader) addTornadoRoutes(i int32) {
	for e := range r.f.All(r.argumentOr(i, 0), tree.RoleElement) {
		parts := slices.Collect(r.f.All(e, tree.RoleElement))
		if r.f.Is(e, tree.Tuple) && len(parts) >= 2 {
			r.addRoute(i, tree.None, parts[0], declared{handler: reference{object: r.f.Dotted(parts[1]), name: "*"}})
		}
	}
}

// argumentOr returns the n-th argument, or the call itself, which has no elements.
func (r *reader) argumentOr(i int32, n int) int32 {
	if a := r.positionalArgument(i, n); a >= 0 {
		return a
	}
	return i
}

// pythonMount notes a blueprint or router that is registered. The prefix at the registration
// replaces that of the blueprint in Flask, and is put in front of it in FastAPI.
func (r *reader) pythonMount(i, object int32, name string) {
	child := r.positionalArgument(i, 0)
	prefix := ""
	if v := r.namedArgument(i, "url_prefix", "prefix"); v >= 0 {
		prefix, _ = r.constText(v)
	} else if name == "register_blueprint" {
		prefix = "\x00" // what the blueprint's making says
	}
	if child < 0 {
		return
	}
	m, ok := r.mountedRouter(child)
	if !ok {
		return
	}
	m.parent, m.prefix, m.whole = r.routerKey(object), prefix, name == "register_blueprint"
	if m.prefix == "\x00" {
		m.prefix, m.whole = "", false
	}
	r.out.mounts = append(r.out.mounts, m)
}

// patterns are the parameters of paths that are regular expressions, and their ends.
var patterns = lazyregexp.New(`\(\?P<([A-Za-z0-9_]+)>[^()]*\)|\([^()?][^()]*\)`)

// addDjangoRoute notes an entry of urlpatterns. Older paths are regular expressions, whose groups
// are parameters.
func (r *reader) addDjangoRoute(i int32, name string) {
	text, ok := r.constText(r.positionalArgument(i, 0))
	if !ok || len(r.out.declared) >= maxDeclared {
		return
	}
	if name != "path" || strings.HasPrefix(text, "^") {
		text = patterns.ReplaceAllString(text, "{$1}")
		text = strings.ReplaceAll(strings.Trim(strings.TrimSuffix(text, "/?$"), "^$"), "{}", "{value}")
		text = strings.ReplaceAll(text, `\.`, ".")
	}
	view := r.positionalArgument(i, 1)
	if r.f.Is(view, tree.Call) {
		if _, called := r.calleeOf(view); called == "include" {
			r.addInclude(text, r.positionalArgument(view, 0))
			return
		}
	}
	if ref := r.handlerOf(view); ref != (reference{}) {
		r.out.declared = append(r.out.declared, declared{path: withSlash(text), router: urlpatterns, handler: ref})
	}
}

// withSlash keeps the slash at the end of a path, which Django asks for. Without it a scan would
// be redirected at each request.
func withSlash(path string) string { return "/" + strings.TrimPrefix(path, "/") }

// urlpatterns stands for the routes of a file that other files include.
const urlpatterns = "urlpatterns"

// addInclude mounts the urlpatterns of another module below a prefix. The module may stand in a
// tuple with the name of its application.
func (r *reader) addInclude(prefix string, module int32) {
	if r.f.Is(module, tree.Tuple) {
		for e := range r.f.All(module, tree.RoleElement) {
			module = e
			break
		}
	}
	m := mount{parent: urlpatterns, prefix: withSlash(prefix)}
	if text, ok := r.constText(module); ok {
		m.module = text
	} else if dotted := r.f.Dotted(module); dotted != "" {
		m.object, _, _ = strings.Cut(dotted, ".")
	} else {
		return
	}
	r.out.mounts = append(r.out.mounts, m)
}

// restful are the routes of a resource of Rails: action, method, and whether it is about
// one of them.
var restful = []struct {
	action, method, path string
}{
	{"index", "GET", ""}, {"create", "POST", ""}, {"new", "GET", "/new"}, {"show", "GET", "/{id}"},
	{"edit", "GET", "/{id}/edit"},
	{"update", "PATCH", "/{id}"}, {"update", "PUT", "/{id}"}, {"destroy", "DELETE", "/{id}"},
}

// readRubyCall reads a call that Rails or Sinatra know. The member and collection blocks of
// resources change the path.
func (r *reader) readRubyCall(i, object int32, name string) {
	if object >= 0 || len(r.out.declared) >= maxDeclared {
		return
	}
	if name == "resources" || name == "resource" {
		r.addResources(i, name)
		return
	}
	method := verbs[name]
	if method == "" && name != "match" && name != "root" {
		return
	}
	text, handler, ok := r.rubyRoute(i, name)
	if !ok || handler == (reference{}) {
		return
	}
	d := declared{handler: handler}
	if method != "" {
		d.methods = []string{method}
	} else if name == "match" {
		d.methods = r.readMethods(r.namedArgument(i, "via"))
	}
	if on, _ := r.constText(r.namedArgument(i, "on")); on == "collection" {
		text = "\x00" + text
	}
	d.path, _ = r.groupPath(i, tree.None, text)
	if before, after, found := strings.Cut(d.path, "\x00"); found {
		d.path = strings.TrimSuffix(before, ":id/") + after
	}
	r.out.declared = append(r.out.declared, d)
}

// rubyRoute returns the path and the handler of a route of Ruby, which it may give in four
// ways: get "/x", to: "y#z"; get "/x" => "y#z"; get "users/show"; and a block.
func (r *reader) rubyRoute(i int32, name string) (path string, handler reference, ok bool) {
	handler = r.rubyHandler(i)
	path, ok = r.constText(r.positionalArgument(i, 0))
	if pair := r.pathPair(i); pair >= 0 {
		path, ok = r.constText(r.childOf(pair, tree.RoleKey))
		handler = r.handlerOf(r.childOf(pair, tree.RoleValue))
	}
	if name == "root" {
		path, ok = "/", true
	}
	if trimmed := strings.Trim(path, "/"); handler == (reference{}) && strings.Count(trimmed, "/") == 1 {
		handler = actionOf(strings.Replace(trimmed, "/", "#", 1))
	}
	return path, handler, ok
}

// rubyHandler returns the function of a route of Ruby: the block behind it, or what "to" names.
// The file may name it as "controller#action".
func (r *reader) rubyHandler(i int32) reference {
	if v := r.namedArgument(i, "to"); v >= 0 {
		return r.handlerOf(v)
	}
	for a := range r.f.All(i, tree.RoleArgument) {
		if r.f.Is(a, tree.Lambda) {
			return r.handlerOf(a)
		}
	}
	return reference{}
}

// pathPair returns an argument that is a path with its action: get "/x" => "y#z".
func (r *reader) pathPair(i int32) int32 {
	for a := range r.f.All(i, tree.RoleArgument) {
		if r.f.Is(a, tree.Pair) {
			return a
		}
	}
	return tree.None
}

// addResources notes the routes of resources :users, only: [:index]. One line declares the seven
// actions of Rails.
func (r *reader) addResources(i int32, name string) {
	only, except := r.constTexts(r.namedArgument(i, "only")), r.constTexts(r.namedArgument(i, "except"))
	for a := range r.f.All(i, tree.RoleArgument) {
		noun, ok := r.constText(a)
		if !ok {
			continue
		}
		controller := noun
		if name == "resource" {
			controller += "s"
		}
		if c, ok := r.constText(r.namedArgument(i, "controller")); ok {
			controller = c
		}
		for _, one := range restful {
			if len(only) > 0 && !slices.Contains(only, one.action) || slices.Contains(except, one.action) ||
				name == "resource" && one.action == "index" {
				continue
			}
			tail := one.path
			if name == "resource" {
				tail = strings.TrimPrefix(tail, "/{id}")
			}
			d := declared{methods: []string{one.method},
				handler: reference{object: camelCase(controller) + "Controller",
					name: one.action}}
			d.path, _ = r.groupPath(i, tree.None, noun+tail)
			r.out.declared = append(r.out.declared, d)
		}
	}
}

// roots are folders that servers show to browsers.
var webRoots = wordSet("public public_html htdocs www web webroot wwwroot html")

// addPageRoute notes a file that is a route itself: a script of PHP that reads the request, a file
// of the folder of routes of a framework. Scripts below the root of the web server are found at
// their path.
func (r *reader) addPageRoute() {
	whole := reference{place: Place{Path: r.f.Path, End: len(r.f.Source), StartLine: 1,
		EndLine: r.f.Line(uint32(len(r.f.Source)))}}
	switch {
	case r.f.Language == "php":
		if len(r.out.declared) > 0 || !slices.ContainsFunc(r.out.reads, func(x read) bool { return !r.inClass(x.at) }) {
			return
		}
		at := "/" + r.f.Path
		for i, s := range strings.Split(r.f.Path, "/") {
			if webRoots[s] {
				at = "/" + strings.Join(strings.Split(r.f.Path, "/")[i+1:], "/")
				break
			}
		}
		r.out.declared = append(r.out.declared, declared{path: at, handler: whole})
	case r.tables == scripts:
		r.addNextRoute(whole)
	}
}

// inClass reports whether a place is in a class of the file.
func (r *reader) inClass(at Place) bool {
	return slices.ContainsFunc(r.out.functions, func(f function) bool {
		return f.class != "" && f.at.Holds(at.Path, at.Start)
	})
}

// addNextRoute notes a file that Next.js serves by its name: pages/api/users/[id].js, and
// app/users/route.ts with a function for each method. Folders in brackets are parameters.
func (r *reader) addNextRoute(whole reference) {
	name := strings.TrimSuffix(r.f.Path, path.Ext(r.f.Path))
	if _, rest, ok := strings.Cut("/"+name, "/pages/api/"); ok {
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "index"), "/")
		r.out.declared = append(r.out.declared, declared{path: "/api/" + rest, handler: whole})
		return
	}
	if _, rest, ok := strings.Cut("/"+name, "/app/"); ok && path.Base(rest) == "route" {
		for _, f := range r.out.functions {
			if m := verbs[strings.ToLower(f.name)]; m == f.name && m != "" {
				r.out.declared = append(r.out.declared,
					declared{methods: []string{m}, path: "/" + strings.TrimSuffix(rest, "route"),
						handler: reference{place: f.at}})
			}
		}
	}
}
