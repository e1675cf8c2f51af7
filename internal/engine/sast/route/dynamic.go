package route

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
	"merlon/internal/lazyregexp"
)

// This file knows the ways of Python and Ruby, and files that are routes themselves.

// python looks at a call that Python's frameworks know.
func (r *reader) python(i, object int32, name string) {
	switch name {
	case "register_blueprint", "include_router", "mount":
		r.pythonMount(i, object, name)
	case "path", "re_path", "url":
		if object < 0 {
			r.django(i, name)
		}
	case "add_url_rule":
		handler := r.named(i, "view_func")
		if handler < 0 {
			handler = r.argument(i, 2)
		}
		r.note(i, object, r.argument(i, 0), declared{methods: r.methods(r.named(i, "methods")),
			handler: r.reference(handler)})
	case "add_resource": // the class, and its paths
		ref := reference{object: r.f.Dotted(r.argument(i, 0)), name: "*"}
		for n := 1; r.argument(i, n) >= 0; n++ {
			r.note(i, object, r.argument(i, n), declared{handler: ref})
		}
	case "add_get", "add_post", "add_put", "add_delete", "add_patch":
		r.note(i, object, r.argument(i, 0),
			declared{methods: []string{verbs[name[4:]]}, handler: r.reference(r.argument(i, 1))})
	case "add_route":
		if methods := r.methods(r.argument(i, 0)); len(methods) > 0 {
			r.note(i, object, r.argument(i, 1), declared{methods: methods, handler: r.reference(r.argument(i, 2))})
			return
		}
		r.note(i, object, r.argument(i, 0), declared{handler: r.reference(r.argument(i, 1))})
	case "Application": // tornado: a list of (path, class)
		for e := range r.f.All(r.argumentOr(i, 0), tree.RoleElement) {
			parts := slices.Collect(r.f.All(e, tree.RoleElement))
			if r.f.Is(e, tree.Tuple) && len(parts) >= 2 {
				r.note(i, tree.None, parts[0], declared{handler: reference{object: r.f.Dotted(parts[1]), name: "*"}})
			}
		}
	case "get", "post", "put", "delete", "patch": // aiohttp: web.get("/x", handler)
		if r.f.Text(object) == "web" {
			r.note(i, tree.None, r.argument(i, 0),
				declared{methods: []string{verbs[name]}, handler: r.reference(r.argument(i, 1))})
		}
	}
}

// argumentOr returns the n-th argument, or the call itself, which has no elements.
func (r *reader) argumentOr(i int32, n int) int32 {
	if a := r.argument(i, n); a >= 0 {
		return a
	}
	return i
}

// pythonMount notes a blueprint or router that is registered.
func (r *reader) pythonMount(i, object int32, name string) {
	child := r.argument(i, 0)
	prefix := ""
	if v := r.named(i, "url_prefix", "prefix"); v >= 0 {
		prefix, _ = r.text(v)
	} else if name == "register_blueprint" {
		prefix = "\x00" // what the blueprint's making says
	}
	if child < 0 {
		return
	}
	m, ok := r.mounted(child)
	if !ok {
		return
	}
	m.parent, m.prefix, m.whole = r.key(object), prefix, name == "register_blueprint"
	if m.prefix == "\x00" {
		m.prefix, m.whole = "", false
	}
	r.out.mounts = append(r.out.mounts, m)
}

// patterns are the parameters of paths that are regular expressions, and their ends.
var patterns = lazyregexp.New(`\(\?P<([A-Za-z0-9_]+)>[^()]*\)|\([^()?][^()]*\)`)

// django notes an entry of urlpatterns.
func (r *reader) django(i int32, name string) {
	text, ok := r.text(r.argument(i, 0))
	if !ok || len(r.out.declared) >= maxDeclared {
		return
	}
	if name != "path" || strings.HasPrefix(text, "^") {
		text = patterns.ReplaceAllString(text, "{$1}")
		text = strings.ReplaceAll(strings.Trim(strings.TrimSuffix(text, "/?$"), "^$"), "{}", "{value}")
		text = strings.ReplaceAll(text, `\.`, ".")
	}
	view := r.argument(i, 1)
	if r.f.Is(view, tree.Call) {
		if _, called := r.calls(view); called == "include" {
			r.include(text, r.argument(view, 0))
			return
		}
	}
	if ref := r.reference(view); ref != (reference{}) {
		r.out.declared = append(r.out.declared, declared{path: slashed(text), router: urlpatterns, handler: ref})
	}
}

// slashed keeps the slash at the end of a path, which Django asks for.
func slashed(path string) string { return "/" + strings.TrimPrefix(path, "/") }

// urlpatterns stands for the routes of a file that other files include.
const urlpatterns = "urlpatterns"

func (r *reader) include(prefix string, module int32) {
	if r.f.Is(module, tree.Tuple) {
		for e := range r.f.All(module, tree.RoleElement) {
			module = e
			break
		}
	}
	m := mount{parent: urlpatterns, prefix: slashed(prefix)}
	if text, ok := r.text(module); ok {
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

// ruby looks at a call that Rails or Sinatra know.
func (r *reader) ruby(i, object int32, name string) {
	if object >= 0 || len(r.out.declared) >= maxDeclared {
		return
	}
	if name == "resources" || name == "resource" {
		r.resources(i, name)
		return
	}
	method := verbs[name]
	if method == "" && name != "match" && name != "root" {
		return
	}
	d := declared{handler: r.action(i)}
	if method != "" {
		d.methods = []string{method}
	} else if name == "match" {
		d.methods = r.methods(r.named(i, "via"))
	}
	text, ok := r.text(r.argument(i, 0))
	if pair := r.pair(i); pair >= 0 {
		text, ok = r.text(r.child(pair, tree.RoleKey))
		d.handler = r.reference(r.child(pair, tree.RoleValue))
	}
	if name == "root" {
		text, ok = "/", true
	}
	if d.handler == (reference{}) && strings.Count(strings.Trim(text, "/"), "/") == 1 { // get "users/show"
		d.handler = actionOf(strings.Replace(strings.Trim(text, "/"), "/", "#", 1))
	}
	if !ok || d.handler == (reference{}) {
		return
	}
	if on, _ := r.text(r.named(i, "on")); on == "collection" {
		text = "\x00" + text
	}
	d.path, _ = r.below(i, tree.None, text)
	if before, after, found := strings.Cut(d.path, "\x00"); found {
		d.path = strings.TrimSuffix(before, ":id/") + after
	}
	r.out.declared = append(r.out.declared, d)
}

// action returns the function of a route of Ruby: the block behind it, or what "to"
// names.
func (r *reader) action(i int32) reference {
	if v := r.named(i, "to"); v >= 0 {
		return r.reference(v)
	}
	for a := range r.f.All(i, tree.RoleArgument) {
		if r.f.Is(a, tree.Lambda) {
			return r.reference(a)
		}
	}
	return reference{}
}

// pair returns an argument that is a path with its action: get "/x" => "y#z".
func (r *reader) pair(i int32) int32 {
	for a := range r.f.All(i, tree.RoleArgument) {
		if r.f.Is(a, tree.Pair) {
			return a
		}
	}
	return tree.None
}

// resources notes the routes of resources :users, only: [:index].
func (r *reader) resources(i int32, name string) {
	only, except := r.texts(r.named(i, "only")), r.texts(r.named(i, "except"))
	for a := range r.f.All(i, tree.RoleArgument) {
		noun, ok := r.text(a)
		if !ok {
			continue
		}
		controller := noun
		if name == "resource" {
			controller += "s"
		}
		if c, ok := r.text(r.named(i, "controller")); ok {
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
			d := declared{methods: []string{one.method}, handler: reference{object: camel(controller) + "Controller",
				name: one.action}}
			d.path, _ = r.below(i, tree.None, noun+tail)
			r.out.declared = append(r.out.declared, d)
		}
	}
}

// roots are folders that servers show to browsers.
var webRoots = words("public public_html htdocs www web webroot wwwroot html")

// page notes a file that is a route itself: a script of PHP that reads the request, a
// file of the folder of routes of a framework.
func (r *reader) page() {
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
		r.filed(whole)
	}
}

// inClass reports whether a place is in a class of the file.
func (r *reader) inClass(at Place) bool {
	return slices.ContainsFunc(r.out.functions, func(f function) bool {
		return f.class != "" && f.at.Holds(at.Path, at.Start)
	})
}

// filed notes a file that Next.js serves by its name: pages/api/users/[id].js, and
// app/users/route.ts with a function for each method.
func (r *reader) filed(whole reference) {
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
