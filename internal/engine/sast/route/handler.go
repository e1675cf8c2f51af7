package route

import (
	"strings"

	"merlon/internal/engine/sast/tree"
)

// This file finds functions, what annotations say of them, and the members of classes
// that requests are read into.

// addFunction notes a function, and the routes that its annotations declare. Every function is
// noted, since a reference to it may stand in another file.
func (r *reader) addFunction(i int32) {
	if len(r.out.functions) >= maxReads {
		return
	}
	class := r.f.Enclosing(i, tree.Class)
	fn := function{name: r.nameOf(i), class: r.nodeName(class), at: r.placeOf(i)}
	if class < 0 {
		fn.class = ""
		if receiver := r.childOf(i, tree.RoleReceiver); receiver >= 0 {
			fn.class = r.typeName(r.childOf(receiver, tree.RoleType))
		}
	}
	for p := range r.f.All(i, tree.RoleParameter) {
		if g, ok := r.readParameter(p); ok {
			fn.parameters = append(fn.parameters, g)
		}
	}
	r.out.functions = append(r.out.functions, fn)
	if !r.f.Is(i, tree.Function) {
		return
	}
	switch {
	case r.tables.python:
		r.addDecoratedRoutes(i)
	case r.tables.annotations && class >= 0:
		r.addAnnotatedRoutes(i, class, fn)
	}
}

// nameOf returns the name of a function, or of what it is assigned to. A function expression is
// known by the variable or property that holds it.
func (r *reader) nameOf(i int32) string {
	if name := r.nodeName(i); name != "" {
		return name
	}
	parent := r.f.Nodes[i].Parent
	for parent >= 0 && r.f.Is(parent, tree.Call) { // wrapped: const list = asyncHandler(() => …)
		parent = r.f.Nodes[parent].Parent
	}
	switch {
	case r.f.Is(parent, tree.Variable), r.f.Is(parent, tree.Field), r.f.Is(parent, tree.Assign):
		target := r.childOf(parent, tree.RoleTarget)
		if r.f.Is(target, tree.Member) {
			return r.f.Text(r.childOf(target, tree.RoleProperty))
		}
		return r.f.Text(target)
	case r.f.Is(parent, tree.Pair):
		return r.f.Text(r.childOf(parent, tree.RoleKey))
	}
	return ""
}

// typeName returns the last part of the name of a type, inside of pointers. Requests are matched
// with classes by the simple name: packages would need the program's imports.
func (r *reader) typeName(i int32) string {
	for i >= 0 && (r.f.Text(i) == "*" || r.f.Text(i) == "?") {
		i = r.childOf(i, tree.RoleElement)
	}
	name := r.f.Text(i)
	if r.f.Is(i, tree.Member) {
		name = r.f.Text(r.childOf(i, tree.RoleProperty))
	}
	return name[strings.LastIndexAny(name, `.\`)+1:]
}

// readParameter reads what a parameter of a handler stands for. The second result is false for
// parameters that carry nothing of a request.
func (r *reader) readParameter(p int32) (handlerParameter, bool) {
	g := handlerParameter{name: r.f.Text(r.childOf(p, tree.RoleTarget)), kind: r.typeName(r.childOf(p, tree.RoleType)),
		at: r.placeOf(p), bare: true}
	if g.name == "" || r.f.Nodes[p].Text != "" {
		return g, false
	}
	for a := range r.f.All(p, tree.RoleAnnotation) {
		name, value := r.annotationName(a)
		in, ok := bindings[strings.ToLower(name)]
		if !ok {
			g.bare = g.bare && isValidation(name)
			continue
		}
		g.in, g.bare = in, false
		if text := r.boundName(value); text != "" {
			g.name, g.kind = text, ""
		}
		return g, true
	}
	if value := r.childOf(p, tree.RoleValue); r.tables.python && r.f.Is(value, tree.Call) {
		ok := r.readDefault(&g, value)
		return g, ok
	}
	if injected[g.kind] || isInjectedName(g.name) || r.f.Language == "php" {
		return g, false
	}
	return g, g.bare
}

// isValidation reports whether an annotation of a parameter only restricts its value.
func isValidation(name string) bool {
	switch name {
	case "NotNull", "Min", "Max", "Size":
		return true
	}
	return strings.HasPrefix(name, "Valid")
}

// isInjectedName reports whether frameworks of Python give a parameter of the name
// something that is no value of the request.
func isInjectedName(name string) bool { return name == "self" || name == "cls" || name == "request" }

// boundName returns the name that an annotation binds its parameter to, "" when that is
// the parameter's own.
func (r *reader) boundName(annotation int32) string {
	if !r.f.Is(annotation, tree.Call) {
		return ""
	}
	key := r.namedArgument(annotation, "value", "name", "Name", "alias")
	if key < 0 {
		key = r.positionalArgument(annotation, 0)
	}
	text, _ := r.constText(key)
	return text
}

// readDefault reads where a value comes from out of the default of its parameter (FastAPI).
// It reports false for any other default.
func (r *reader) readDefault(g *handlerParameter, value int32) bool {
	_, name := r.calleeOf(value)
	in, ok := defaults[name]
	if g.in = in; in == "header" {
		g.name = strings.ReplaceAll(g.name, "_", "-")
	}
	if alias, ok := r.constText(r.namedArgument(value, "alias")); ok {
		g.name = alias
	}
	g.bare = false
	return ok
}

// annotationName returns the last part of an annotation's name, and its value. Namespaces in front
// of the name do not matter.
func (r *reader) annotationName(i int32) (string, int32) {
	value := r.childOf(i, tree.RoleValue)
	name := r.f.Dotted(value)
	if r.f.Is(value, tree.Call) {
		name = r.f.Dotted(r.childOf(value, tree.RoleCallee))
	}
	return name[strings.LastIndexAny(name, `.\`)+1:], value
}

// A routeAnnotations is what the annotations of a class or a method say of its route. Those of the
// class hold for all of its methods.
type routeAnnotations struct {
	methods []string
	paths   []string
	mapped  bool // there is one that makes it a route
}

// readAnnotations reads the annotations of a class or a method. Attributes of C# end in
// "Attribute" or leave it out.
func (r *reader) readAnnotations(i int32) routeAnnotations {
	var out routeAnnotations
	for a := range r.f.All(i, tree.RoleAnnotation) {
		name, value := r.annotationName(a)
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
		if r.f.Is(value, tree.Call) {
			r.readAnnotationArguments(&out, value)
		}
	}
	return out
}

// readAnnotationArguments reads the methods and the paths that an annotation gives. Both may be
// lists.
func (r *reader) readAnnotationArguments(out *routeAnnotations, value int32) {
	if v := r.namedArgument(value, "method", "methods"); v >= 0 {
		out.methods = append(out.methods, r.methodsOf(v)...)
	}
	path := r.namedArgument(value, "value", "path", "urlPatterns", "uri", "Template")
	if path < 0 {
		path = r.positionalArgument(value, 0)
	}
	if r.f.Is(path, tree.Map) {
		path = r.entryValue(path, "path")
	}
	out.paths = append(out.paths, r.constTexts(path)...)
}

// servlets are the methods of servlets by the methods of requests.
var servlets = map[string]string{"doGet": "GET", "doPost": "POST", "doPut": "PUT", "doDelete": "DELETE"}

// addAnnotatedRoutes adds the routes of a method of a class: by its annotations, as a
// servlet, or by the conventions of ASP.NET.
func (r *reader) addAnnotatedRoutes(i, class int32, fn function) {
	own, above := r.readAnnotations(i), r.readAnnotations(class)
	servlet, isServlet := servlets[fn.name]
	conventional := r.isConventional(i, fn, above)
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
			if len(r.out.declared) < maxDeclared {
				r.out.declared = append(r.out.declared, declared{methods: own.methods,
					path: fill.Replace(r.joinAnnotated(before, path)), handler: reference{place: fn.at}})
			}
		}
	}
}

// isConventional reports whether ASP.NET routes to a method by its name alone: a public
// method of a controller without a path.
func (r *reader) isConventional(i int32, fn function, above routeAnnotations) bool {
	return r.f.Language == "csharp" && len(above.paths) == 0 && strings.HasSuffix(fn.class, "Controller") &&
		r.isPublic(i) && r.f.Nodes[i].Text == "method"
}

// joinAnnotated joins the path of a class with that of a method. In ASP.NET one that
// begins with a slash or a tilde is from the root.
func (r *reader) joinAnnotated(before, path string) string {
	if r.f.Language == "csharp" && (strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~")) {
		before = ""
	}
	if path == "" {
		return before
	}
	return strings.TrimSuffix(before, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(path, "~"), "/")
}

// isPublic reports whether a method has the modifier "public".
func (r *reader) isPublic(i int32) bool {
	for m := range r.f.All(i, tree.RoleModifier) {
		if r.f.Text(m) == "public" {
			return true
		}
	}
	return false
}

// addDecoratedRoutes notes the routes of a function of Python. "app.route" of Flask is a GET
// unless it names methods.
func (r *reader) addDecoratedRoutes(i int32) {
	for a := range r.f.All(i, tree.RoleAnnotation) {
		value := r.childOf(a, tree.RoleValue)
		if !r.f.Is(value, tree.Call) {
			continue
		}
		object, name := r.calleeOf(value)
		d := declared{handler: reference{place: r.placeOf(i)}}
		switch {
		case name == "route" || name == "api_route":
			d.methods = r.readMethods(r.namedArgument(value, "methods", "method"))
			if len(d.methods) == 0 {
				d.methods = []string{"GET"}
			}
		case verbs[name] != "":
			d.methods = []string{verbs[name]}
		default:
			continue
		}
		path := r.positionalArgument(value, 0)
		if path < 0 {
			path = r.namedArgument(value, "path", "rule")
		}
		text, ok := r.constText(path)
		if ok && (text == "" || strings.HasPrefix(text, "/")) && len(r.out.declared) < maxDeclared {
			d.path, d.router = text, r.routerKey(object)
			r.out.declared = append(r.out.declared, d)
		}
	}
}

// maxFields bounds the members of a class that are noted.
const maxFields = 60

// jsonTag begins the name that Go's structs give a member in JSON.
const jsonTag = "json:\""

// addClass notes the members of a class. They are the parameters of handlers that take an object
// of the class.
func (r *reader) addClass(i int32) {
	name := r.nodeName(i)
	if name == "" || len(r.out.classes) >= maxDeclared {
		return
	}
	var out []field
	for p := range r.f.All(i, tree.RoleParameter) {
		out = r.appendField(out, p)
	}
	if body := r.childOf(i, tree.RoleBody); body >= 0 {
		for s := range r.f.All(body, tree.RoleStatement) {
			switch {
			case r.f.Is(s, tree.Field), r.f.Is(s, tree.Variable):
				out = r.appendField(out, s)
			case r.f.Is(s, tree.Function) && r.f.Nodes[s].Text == "getter":
				if n := r.nodeName(s); n != "" {
					out = append(out, field{n})
				}
			}
		}
	}
	if len(out) > 0 {
		r.out.classes[name] = out
	}
}

// appendField appends a member of a class under its name in JSON; constants and members
// that are no part of the JSON are left out.
func (r *reader) appendField(out []field, member int32) []field {
	n := r.f.Text(r.childOf(member, tree.RoleTarget))
	if _, tag, ok := strings.Cut(r.f.Code(member), jsonTag); ok && r.f.Language == "go" {
		n, _, _ = strings.Cut(tag, "\"")
		n, _, _ = strings.Cut(n, ",")
	}
	for m := range r.f.All(member, tree.RoleModifier) {
		if t := r.f.Text(m); t == "static" || t == "const" {
			return out
		}
	}
	if n != "" && n != "-" && len(out) < maxFields && !strings.HasPrefix(n, "_") {
		out = append(out, field{n})
	}
	return out
}
