package route

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds functions, what annotations say of them, and the members of classes
// that requests are read into.

// function notes a function, and the routes that its annotations declare.
func (r *reader) function(i int32) {
	if len(r.out.functions) >= maxReads {
		return
	}
	class := r.f.Enclosing(i, tree.Class)
	fn := function{name: r.nameOf(i), class: r.name(class), at: r.place(i)}
	if class < 0 {
		fn.class = ""
		if receiver := r.child(i, tree.RoleReceiver); receiver >= 0 {
			fn.class = r.typeName(r.child(receiver, tree.RoleType))
		}
	}
	for p := range r.f.All(i, tree.RoleParameter) {
		if g, ok := r.given(p); ok {
			fn.parameters = append(fn.parameters, g)
		}
	}
	r.out.functions = append(r.out.functions, fn)
	if !r.f.Is(i, tree.Function) {
		return
	}
	switch {
	case r.tables.python:
		r.decorated(i)
	case r.tables.annotations && class >= 0:
		r.annotated(i, class, fn)
	}
}

// nameOf returns the name of a function, or of what it is assigned to.
func (r *reader) nameOf(i int32) string {
	if name := r.name(i); name != "" {
		return name
	}
	parent := r.f.Nodes[i].Parent
	for parent >= 0 && r.f.Is(parent, tree.Call) { // wrapped: const list = asyncHandler(() => …)
		parent = r.f.Nodes[parent].Parent
	}
	switch {
	case r.f.Is(parent, tree.Variable), r.f.Is(parent, tree.Field), r.f.Is(parent, tree.Assign):
		target := r.child(parent, tree.RoleTarget)
		if r.f.Is(target, tree.Member) {
			return r.f.Text(r.child(target, tree.RoleProperty))
		}
		return r.f.Text(target)
	case r.f.Is(parent, tree.Pair):
		return r.f.Text(r.child(parent, tree.RoleKey))
	}
	return ""
}

// typeName returns the last part of the name of a type, inside of pointers.
func (r *reader) typeName(i int32) string {
	for i >= 0 && (r.f.Text(i) == "*" || r.f.Text(i) == "?") {
		i = r.child(i, tree.RoleElement)
	}
	name := r.f.Text(i)
	if r.f.Is(i, tree.Member) {
		name = r.f.Text(r.child(i, tree.RoleProperty))
	}
	return name[strings.LastIndexAny(name, `.\`)+1:]
}

// given reads what a parameter of a handler stands for.
func (r *reader) given(p int32) (given, bool) {
	g := given{name: r.f.Text(r.child(p, tree.RoleTarget)), kind: r.typeName(r.child(p, tree.RoleType)), at: r.place(p),
		bare: true}
	if g.name == "" || r.f.Nodes[p].Text != "" {
		return g, false
	}
	for a := range r.f.All(p, tree.RoleAnnotation) {
		name, value := r.annotation(a)
		in, ok := bindings[strings.ToLower(name)]
		if !ok {
			g.bare = g.bare && (strings.HasPrefix(name, "Valid") || name == "NotNull" || name == "Min" ||
				name == "Max" || name == "Size")
			continue
		}
		g.in, g.bare = in, false
		if r.f.Is(value, tree.Call) {
			key := r.named(value, "value", "name", "Name", "alias")
			if key < 0 {
				key = r.argument(value, 0)
			}
			if text, ok := r.text(key); ok && text != "" {
				g.name, g.kind = text, ""
			}
		}
		return g, true
	}
	if value := r.child(p, tree.RoleValue); r.tables.python && r.f.Is(value, tree.Call) {
		_, name := r.calls(value)
		in, ok := defaults[name]
		if g.in = in; in == "header" {
			g.name = strings.ReplaceAll(g.name, "_", "-")
		}
		if alias, ok := r.text(r.named(value, "alias")); ok {
			g.name = alias
		}
		g.bare = false
		return g, ok
	}
	if injected[g.kind] || g.name == "self" || g.name == "cls" || g.name == "request" || r.f.Language == "php" {
		return g, false
	}
	return g, g.bare
}

// annotation returns the last part of an annotation's name, and its value.
func (r *reader) annotation(i int32) (string, int32) {
	value := r.child(i, tree.RoleValue)
	name := r.f.Dotted(value)
	if r.f.Is(value, tree.Call) {
		name = r.f.Dotted(r.child(value, tree.RoleCallee))
	}
	return name[strings.LastIndexAny(name, `.\`)+1:], value
}

// saying is what the annotations of a class or a method say of its route.
type saying struct {
	methods []string
	paths   []string
	mapped  bool // there is one that makes it a route
}

// says reads the annotations of a class or a method.
func (r *reader) says(i int32) saying {
	var out saying
	for a := range r.f.All(i, tree.RoleAnnotation) {
		name, value := r.annotation(a)
		lower := strings.TrimSuffix(strings.ToLower(name), "attribute")
		method, mapping := mappings[lower]
		if !mapping && !paths[lower] && lower != "webservlet" {
			continue
		}
		if mapping || lower == "route" {
			out.mapped = true
		}
		if method != "" && method != "?" {
			out.methods = append(out.methods, method)
		}
		if !r.f.Is(value, tree.Call) {
			continue
		}
		if v := r.named(value, "method", "methods"); v >= 0 {
			out.methods = append(out.methods, r.method(v)...)
		}
		path := r.named(value, "value", "path", "urlPatterns", "uri", "Template")
		if path < 0 {
			path = r.argument(value, 0)
		}
		if r.f.Is(path, tree.Map) {
			path = r.entry(path, "path")
		}
		out.paths = append(out.paths, r.texts(path)...)
	}
	return out
}

// servlets are the methods of servlets by the methods of requests.
var servlets = map[string]string{"doGet": "GET", "doPost": "POST", "doPut": "PUT", "doDelete": "DELETE"}

// annotated notes the routes of a method of a class.
func (r *reader) annotated(i, class int32, fn function) {
	own, above := r.says(i), r.says(class)
	servlet, isServlet := servlets[fn.name]
	conventional := r.f.Language == "csharp" && len(above.paths) == 0 && strings.HasSuffix(fn.class, "Controller") &&
		r.public(i) && r.f.Nodes[i].Text == "method"
	switch {
	case own.mapped:
	case isServlet && len(above.paths) > 0:
		own.methods = []string{servlet}
	case conventional:
	default:
		return
	}
	if conventional && len(own.paths) == 0 {
		above.paths = []string{"[controller]/[action]"}
	}
	if len(own.paths) == 0 {
		own.paths = []string{""}
	}
	if len(above.paths) == 0 {
		above.paths = []string{""}
	}
	fill := strings.NewReplacer("[controller]", strings.TrimSuffix(fn.class, "Controller"), "[action]", fn.name)
	for _, before := range above.paths {
		for _, path := range own.paths {
			if r.f.Language == "csharp" && (strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~")) {
				before = ""
			}
			if len(r.out.declared) < maxDeclared {
				whole := strings.TrimSuffix(before, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(path, "~"), "/")
				if path == "" {
					whole = before
				}
				r.out.declared = append(r.out.declared, declared{methods: own.methods, path: fill.Replace(whole),
					handler: reference{place: fn.at}})
			}
		}
	}
}

func (r *reader) public(i int32) bool {
	for m := range r.f.All(i, tree.RoleModifier) {
		if r.f.Text(m) == "public" {
			return true
		}
	}
	return false
}

// decorated notes the routes of a function of Python.
func (r *reader) decorated(i int32) {
	for a := range r.f.All(i, tree.RoleAnnotation) {
		value := r.child(a, tree.RoleValue)
		if !r.f.Is(value, tree.Call) {
			continue
		}
		object, name := r.calls(value)
		d := declared{handler: reference{place: r.place(i)}}
		switch {
		case name == "route" || name == "api_route":
			d.methods = r.methods(r.named(value, "methods", "method"))
			if len(d.methods) == 0 {
				d.methods = []string{"GET"}
			}
		case verbs[name] != "":
			d.methods = []string{verbs[name]}
		default:
			continue
		}
		path := r.argument(value, 0)
		if path < 0 {
			path = r.named(value, "path", "rule")
		}
		text, ok := r.text(path)
		if ok && (text == "" || strings.HasPrefix(text, "/")) && len(r.out.declared) < maxDeclared {
			d.path, d.router = text, r.key(object)
			r.out.declared = append(r.out.declared, d)
		}
	}
}

// maxFields bounds the members of a class that are noted.
const maxFields = 60

// jsonTag begins the name that Go's structs give a member in JSON.
const jsonTag = "json:\""

// class notes the members of a class.
func (r *reader) class(i int32) {
	name := r.name(i)
	if name == "" || len(r.out.classes) >= maxDeclared {
		return
	}
	var out []field
	add := func(member int32) {
		n := r.f.Text(r.child(member, tree.RoleTarget))
		if _, tag, ok := strings.Cut(r.f.Code(member), jsonTag); ok && r.f.Language == "go" {
			n, _, _ = strings.Cut(tag, "\"")
			n, _, _ = strings.Cut(n, ",")
		}
		for m := range r.f.All(member, tree.RoleModifier) {
			if t := r.f.Text(m); t == "static" || t == "const" {
				return
			}
		}
		if n != "" && n != "-" && len(out) < maxFields && !strings.HasPrefix(n, "_") {
			out = append(out, field{n})
		}
	}
	for p := range r.f.All(i, tree.RoleParameter) {
		add(p)
	}
	if body := r.child(i, tree.RoleBody); body >= 0 {
		for s := range r.f.All(body, tree.RoleStatement) {
			switch {
			case r.f.Is(s, tree.Field), r.f.Is(s, tree.Variable):
				add(s)
			case r.f.Is(s, tree.Function) && r.f.Nodes[s].Text == "getter":
				if n := r.name(s); n != "" {
					out = append(out, field{n})
				}
			}
		}
	}
	if len(out) > 0 {
		r.out.classes[name] = out
	}
}
