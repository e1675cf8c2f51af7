package route

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// This file joins the facts of the files of a program.

// maxDepth bounds how many routers are below each other, and maxRoutes what a program
// declares.
const (
	maxDepth  = 8
	maxRoutes = 50_000
)

// Join returns the routes of a program, by path, method and handler. The order of the
// files does not matter.
func Join(files []*Facts) []Route {
	j := &joiner{files: slices.Clone(files), functions: map[string][]found{}, classes: map[string][]*Facts{}}
	slices.SortFunc(j.files, func(a, b *Facts) int { return cmp.Compare(a.path, b.path) })
	for _, f := range j.files {
		for i := range f.functions {
			j.functions[f.functions[i].name] = append(j.functions[f.functions[i].name], found{f, &f.functions[i]})
		}
		for name := range f.classes {
			j.classes[name] = append(j.classes[name], f)
		}
	}
	for _, f := range j.files {
		for _, m := range f.mounts {
			j.mount(f, m)
		}
	}
	var out []Route
	for _, f := range j.files {
		for i := range f.declared {
			for _, h := range j.handlers(f, f.declared[i].handler) {
				for _, prefix := range j.prefixes(f, f.declared[i].router, maxDepth) {
					if len(out) < maxRoutes {
						out = append(out, j.routes(&f.declared[i], prefix, h)...)
					}
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Route) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.Handler.Path, b.Handler.Path), cmp.Compare(a.Handler.Start, b.Handler.Start))
	})
	return slices.CompactFunc(out, func(a, b Route) bool {
		return a.Path == b.Path && a.Method == b.Method && a.Handler == b.Handler
	})
}

// found is a function with its file.
type found struct {
	file *Facts
	fn   *function
}

// above is where a router is mounted.
type above struct {
	file   *Facts
	parent string
	prefix string
	whole  bool
}

type joiner struct {
	files     []*Facts
	functions map[string][]found
	classes   map[string][]*Facts
	mounts    map[string][]above // by file and key; the key "" is all of a file
}

func (j *joiner) mount(f *Facts, m mount) {
	if j.mounts == nil {
		j.mounts = map[string][]above{}
	}
	at := above{f, m.parent, m.prefix, m.whole}
	if m.child != "" {
		if m.child != m.parent {
			j.mounts[f.path+"\x00"+m.child] = append(j.mounts[f.path+"\x00"+m.child], at)
		}
		return
	}
	module := m.module
	if module == "" {
		from, ok := f.imports[m.object]
		if !ok {
			return
		}
		if target := j.module(f, from.module+"."+from.name); target != nil && from.name != "" {
			j.mounts[target.path+"\x00"] = append(j.mounts[target.path+"\x00"], at)
			return
		}
		module = from.module
	}
	if target := j.module(f, module); target != nil && target != f {
		j.mounts[target.path+"\x00"] = append(j.mounts[target.path+"\x00"], at)
	}
}

// module returns the file that a module of the program stands in; nil for one of others.
func (j *joiner) module(from *Facts, module string) *Facts {
	var names []string
	switch from.language {
	case "python":
		dots := len(module) - len(strings.TrimLeft(module, "."))
		name := strings.ReplaceAll(strings.Trim(module, "."), ".", "/")
		if dots > 0 {
			folder := path.Dir(from.path)
			for range dots - 1 {
				folder = path.Dir(folder)
			}
			name = path.Join(folder, name)
			return j.file(name+".py", name+"/__init__.py")
		}
		names = []string{name + ".py", name + "/__init__.py"}
		if f := j.file(names...); f != nil {
			return f
		}
		for _, f := range j.files { // below a folder of sources
			if strings.HasSuffix(f.path, "/"+names[0]) || strings.HasSuffix(f.path, "/"+names[1]) {
				return f
			}
		}
		return nil
	case "javascript", "typescript":
		if !strings.HasPrefix(module, ".") {
			return nil
		}
		name := path.Join(path.Dir(from.path), module)
		names = append(names, name)
		bare := strings.TrimSuffix(strings.TrimSuffix(name, ".js"), ".ts")
		for _, ext := range []string{".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", "/index.js", "/index.ts"} {
			names = append(names, bare+ext)
		}
		return j.file(names...)
	}
	return nil
}

// file returns the first of the files that there is.
func (j *joiner) file(names ...string) *Facts {
	for _, name := range names {
		if i, ok := slices.BinarySearchFunc(j.files, name, func(f *Facts, name string) int {
			return cmp.Compare(f.path, name)
		}); ok {
			return j.files[i]
		}
	}
	return nil
}

// prefixes returns the paths that a router of a file is mounted at; one that is not
// mounted is at the root.
func (j *joiner) prefixes(f *Facts, router string, depth int) []string {
	own := f.prefixes[router]
	if depth == 0 {
		return []string{own}
	}
	mounts := j.mounts[f.path+"\x00"+router]
	if len(mounts) == 0 {
		mounts = j.mounts[f.path+"\x00"]
	}
	var out []string
	for _, m := range mounts {
		mine := own
		if m.whole {
			mine = ""
		}
		for _, before := range j.prefixes(m.file, m.parent, depth-1) {
			if p := join(before, m.prefix, mine); !slices.Contains(out, p) && len(out) < maxDepth {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return []string{own}
	}
	return out
}

// join joins parts of a path.
func join(parts ...string) string {
	out := ""
	for _, p := range parts {
		if p != "" {
			out = strings.TrimSuffix(out, "/") + "/" + strings.TrimPrefix(p, "/")
		}
	}
	return out
}

// handlers returns the functions that a reference means: one, or those of a class.
func (j *joiner) handlers(f *Facts, ref reference) []found {
	if ref.place != (Place{}) {
		for i := range f.functions {
			if f.functions[i].at == ref.place {
				return []found{{f, &f.functions[i]}}
			}
		}
		return []found{{f, &function{at: ref.place}}}
	}
	if ref.name == "" {
		return nil
	}
	if ref.name == "*" {
		return j.methodsOf(ref.object)
	}
	object := ref.object[strings.LastIndexAny(ref.object, `.\`)+1:]
	best, score := []found(nil), 0
	for _, c := range j.functions[ref.name] {
		s := 1
		switch {
		case c.fn.class != "" && c.fn.class == object:
			s = 5
		case j.imports(f, ref, c.file):
			s = 4
		case c.file == f:
			s = 3
		case f.language == "go" && path.Dir(c.file.path) == path.Dir(f.path):
			s = 2
		}
		if s > score {
			best, score = nil, s
		}
		if s == score {
			best = append(best, c)
		}
	}
	if score == 1 && len(best) > 1 || len(best) > 0 && best[0].file.language != f.language &&
		!sameScript(best[0].file, f) {
		return nil // any of them
	}
	return best[:min(len(best), 1)]
}

// sameScript reports whether two files are of languages that call each other.
func sameScript(a, b *Facts) bool { return tablesOf(a.language) == tablesOf(b.language) }

// imports reports whether the reference is to something that comes from the file.
func (j *joiner) imports(f *Facts, ref reference, target *Facts) bool {
	first, _, _ := strings.Cut(cmp.Or(ref.object, ref.name), ".")
	from, ok := f.imports[first]
	if !ok {
		return false
	}
	return j.module(f, from.module) == target || from.name != "" && j.module(f, from.module+"."+from.name) == target
}

// methodsOf returns the methods of a class that are named for methods of requests.
func (j *joiner) methodsOf(class string) []found {
	class = class[strings.LastIndexByte(class, '.')+1:]
	var out []found
	for _, verb := range []string{"get", "post", "put", "delete", "patch"} {
		for _, c := range j.functions[verb] {
			if c.fn.class == class {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// routes makes the routes of a declaration with a handler below a prefix.
func (j *joiner) routes(d *declared, prefix string, h found) []Route {
	whole := join(prefix, d.path)
	p := clean(whole)
	if p == "" || len(p) > maxPath {
		return nil
	}
	if p != "/" && strings.HasSuffix(whole, "/") {
		p += "/"
	}
	methods := d.methods
	if d.handler.name == "*" {
		methods = []string{verbs[h.fn.name]}
	}
	if len(methods) == 0 {
		methods = []string{""}
	}
	var out []Route
	for _, m := range methods {
		out = append(out, Route{Method: m, Path: p, Handler: h.fn.at, Parameters: j.parameters(m, p, h)})
	}
	return out
}

// parameters returns what a handler reads, those of the path first.
func (j *joiner) parameters(method, path string, h found) []Parameter {
	var out []Parameter
	inPath := map[string]bool{}
	for _, s := range strings.Split(path, "/") {
		if strings.HasPrefix(s, "{") {
			name := strings.Trim(s, "{}")
			inPath[name] = true
		}
	}
	add := func(in, name string, at Place) {
		if in == "any" {
			if in = "form"; method == "" || method == "GET" || method == "HEAD" || method == "DELETE" {
				in = "query"
			}
			if inPath[name] {
				in = "path"
			}
		}
		out = append(out, Parameter{In: in, Name: name, At: at})
	}
	for _, r := range h.file.reads {
		if h.fn.at.Holds(r.at.Path, r.at.Start) {
			if r.kind == "" {
				add(r.in, r.name, r.at)
			}
			for _, f := range j.fields(h.file, r.kind) {
				add(r.in, pointer(r.in, f.name), r.at)
			}
		}
	}
	if binds(h.file) {
		for _, g := range h.fn.parameters {
			j.given(g, h.file, inPath, add)
		}
	}
	for _, s := range strings.Split(path, "/") {
		if name := strings.Trim(s, "{}"); inPath[name] && strings.HasPrefix(s, "{") &&
			!slices.ContainsFunc(out, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			out = append(out, Parameter{In: "path", Name: name})
		}
	}
	out = distinct(out)
	slices.SortStableFunc(out, func(a, b Parameter) int {
		return cmp.Compare(b2i(b.In == "path"), b2i(a.In == "path"))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pointer returns the name of a member as parameters of the kind have it.
func pointer(in, name string) string {
	if in == "json" {
		return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return name
}

// binds reports whether the parameters of a file's handlers are those of requests.
func binds(f *Facts) bool {
	switch f.language {
	case "java", "kotlin", "csharp", "javascript", "typescript":
		return true
	case "python":
		for _, o := range f.imports {
			if strings.HasPrefix(o.module, "fastapi") {
				return true
			}
		}
	}
	return false
}

// given adds what a parameter of a handler stands for.
func (j *joiner) given(g given, f *Facts, inPath map[string]bool, add func(in, name string, at Place)) {
	in := g.in
	if g.bare {
		if sameScript(f, &Facts{language: "javascript"}) {
			return
		}
		switch {
		case inPath[g.name]:
			in = "path"
		case g.kind == "" || scalars[g.kind]:
			in = "any"
			if f.language == "python" {
				in = "query"
			}
		case f.language == "python":
			in = "json"
		default:
			in = "any"
		}
	}
	if fields := j.fields(f, g.kind); len(fields) > 0 && (in == "json" || in == "any" || in == "form" ||
		in == "query") {
		for _, member := range fields {
			add(in, pointer(in, member.name), g.at)
		}
		return
	}
	if g.bare && g.kind != "" && !scalars[g.kind] && in != "path" {
		return // what the framework gives it
	}
	if in == "json" && g.kind != "" && !g.bare {
		return // a body of which nothing is known
	}
	add(in, pointer(in, g.name), g.at)
}

// fields returns the members of a class, of the file first.
func (j *joiner) fields(f *Facts, kind string) []field {
	if kind == "" {
		return nil
	}
	if own := f.classes[kind]; own != nil {
		return own
	}
	if files := j.classes[kind]; len(files) == 1 {
		return files[0].classes[kind]
	}
	return nil
}
