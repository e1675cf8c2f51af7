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
	j := newJoiner(files)
	var out []Route
	for _, f := range j.files {
		for i := range f.declared {
			for _, h := range j.resolveHandlers(f, f.declared[i].handler) {
				for _, prefix := range j.mountPrefixes(f, f.declared[i].router, maxDepth) {
					if len(out) < maxRoutes {
						out = append(out, j.makeRoutes(&f.declared[i], prefix, h)...)
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

// newJoiner indexes the functions, classes and mounts of the files, which it sorts by path.
// Sorting makes the result independent of the order of the files.
func newJoiner(files []*Facts) *joiner {
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
			j.addMount(f, m)
		}
	}
	return j
}

// found is a function with its file.
type found struct {
	file *Facts
	fn   *function
}

// mountPoint is where a router is mounted. A router may have several, and each may be below
// another one.
type mountPoint struct {
	file   *Facts
	parent string
	prefix string
	whole  bool
}

// A joiner has the facts of all files, indexed by what references name.
type joiner struct {
	files     []*Facts
	functions map[string][]found
	classes   map[string][]*Facts
	mounts    map[string][]mountPoint // by file and key; the key "" is all of a file
}

// addMount enters where a router is mounted: one of the file by its key, or that of another file,
// which an import or a module names. A file that mounts itself is left out.
func (j *joiner) addMount(f *Facts, m mount) {
	if j.mounts == nil {
		j.mounts = map[string][]mountPoint{}
	}
	at := mountPoint{f, m.parent, m.prefix, m.whole}
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
		if target := j.moduleFile(f, from.module+"."+from.name); target != nil && from.name != "" {
			j.mounts[target.path+"\x00"] = append(j.mounts[target.path+"\x00"], at)
			return
		}
		module = from.module
	}
	if target := j.moduleFile(f, module); target != nil && target != f {
		j.mounts[target.path+"\x00"] = append(j.mounts[target.path+"\x00"], at)
	}
}

// moduleFile returns the file that a module of the program stands in; nil for one of others.
// Modules are looked for as the language does: relative to the file, then from the root, then
// below any folder of sources.
func (j *joiner) moduleFile(from *Facts, module string) *Facts {
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
			return j.firstFile(name+".py", name+"/__init__.py")
		}
		names = []string{name + ".py", name + "/__init__.py"}
		if f := j.firstFile(names...); f != nil {
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
		return j.firstFile(names...)
	}
	return nil
}

// firstFile returns the first of the files that there is. Files are sorted by path, so this is a
// binary search.
func (j *joiner) firstFile(names ...string) *Facts {
	for _, name := range names {
		if i, ok := slices.BinarySearchFunc(j.files, name, func(f *Facts, name string) int {
			return cmp.Compare(f.path, name)
		}); ok {
			return j.files[i]
		}
	}
	return nil
}

// mountPrefixes returns the paths that a router of a file is mounted at; one that is not mounted
// is at the root. The depth bounds circles.
func (j *joiner) mountPrefixes(f *Facts, router string, depth int) []string {
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
		for _, before := range j.mountPrefixes(m.file, m.parent, depth-1) {
			if p := joinPaths(before, m.prefix, mine); !slices.Contains(out, p) && len(out) < maxDepth {
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return []string{own}
	}
	return out
}

// joinPaths joins parts of a path. Empty parts add nothing. Between two parts is one slash,
// whatever they end or begin with; the slash at the end of the last part stays, since frameworks
// tell such paths apart.
func joinPaths(parts ...string) string {
	out := ""
	for _, p := range parts {
		if p != "" {
			out = strings.TrimSuffix(out, "/") + "/" + strings.TrimPrefix(p, "/")
		}
	}
	return out
}

// resolveHandlers returns the functions that a reference means: one, or those of a class. A name
// that several functions have equally likely is left out: a wrong handler is worse than none.
func (j *joiner) resolveHandlers(f *Facts, ref reference) []found {
	if ref.place != (Place{}) {
		for i := range f.functions {
			if f.functions[i].at == ref.place {
				return []found{{f, &f.functions[i]}}
			}
		}
		return []found{{f, &function{at: ref.place}}}
	}
	switch ref.name {
	case "":
		return nil
	case "*":
		return j.methodsOf(ref.object)
	}
	best, score := []found(nil), 0
	for _, c := range j.functions[ref.name] {
		s := j.scoreHandler(f, ref, c)
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

// scoreHandler returns how likely a function is the one that a reference names: by its
// class, by the imports of the file, or by where it is declared.
func (j *joiner) scoreHandler(f *Facts, ref reference, c found) int {
	object := ref.object[strings.LastIndexAny(ref.object, `.\`)+1:]
	switch {
	case c.fn.class != "" && c.fn.class == object:
		return 5
	case j.isImportedFrom(f, ref, c.file):
		return 4
	case c.file == f:
		return 3
	case f.language == "go" && path.Dir(c.file.path) == path.Dir(f.path):
		return 2
	}
	return 1
}

// sameScript reports whether two files are of languages that call each other.
func sameScript(a, b *Facts) bool { return tablesOf(a.language) == tablesOf(b.language) }

// isImportedFrom reports whether the reference is to something that comes from the file. The first
// part of the reference is the imported name.
func (j *joiner) isImportedFrom(f *Facts, ref reference, target *Facts) bool {
	first, _, _ := strings.Cut(cmp.Or(ref.object, ref.name), ".")
	from, ok := f.imports[first]
	if !ok {
		return false
	}
	return j.moduleFile(f, from.module) == target || from.name != "" &&
		j.moduleFile(f, from.module+"."+from.name) == target
}

// methodsOf returns the methods of a class that are named for methods of requests. Class-based
// views of Python have one method for each verb.
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

// makeRoutes makes the routes of a declaration with a handler below a prefix. A slash at the end
// of the path is kept, as servers tell the two apart.
func (j *joiner) makeRoutes(d *declared, prefix string, h found) []Route {
	whole := joinPaths(prefix, d.path)
	p := cleanPath(whole)
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
		out = append(out, Route{Method: m, Path: p, Handler: h.fn.at, Parameters: j.handlerParameters(m, p, h)})
	}
	return out
}

// handlerParameters returns what a handler reads, those of the path first. Reads are those within
// the text of the handler; what it passes to other functions is not followed.
func (j *joiner) handlerParameters(method, path string, h found) []Parameter {
	c := parameterList{method: method, inPath: map[string]bool{}}
	for _, name := range pathNames(path) {
		c.inPath[name] = true
	}
	for _, r := range h.file.reads {
		if h.fn.at.Holds(r.at.Path, r.at.Start) {
			if r.kind == "" {
				c.add(r.in, r.name, r.at)
			}
			for _, f := range j.classFields(h.file, r.kind) {
				c.add(r.in, memberName(r.in, f.name), r.at)
			}
		}
	}
	if bindsParameters(h.file) {
		for _, g := range h.fn.parameters {
			j.addParameter(g, h.file, &c)
		}
	}
	for _, name := range pathNames(path) {
		if !slices.ContainsFunc(c.out, func(p Parameter) bool { return p.In == "path" && p.Name == name }) {
			c.out = append(c.out, Parameter{In: "path", Name: name})
		}
	}
	out := distinctParameters(c.out)
	slices.SortStableFunc(out, func(a, b Parameter) int {
		return cmp.Compare(boolRank(b.In == "path"), boolRank(a.In == "path"))
	})
	return out
}

// pathNames returns the names of the parameters in a path. Paths are normalised before: all
// frameworks' spellings of a parameter have become "{name}".
func pathNames(path string) []string {
	var names []string
	for _, s := range strings.Split(path, "/") {
		if strings.HasPrefix(s, "{") {
			names = append(names, strings.Trim(s, "{}"))
		}
	}
	return names
}

// A parameterList collects the parameters of one operation.
type parameterList struct {
	method string
	inPath map[string]bool
	out    []Parameter
}

// add adds a parameter. One that may be anywhere is in the path if the path names it, else
// where requests with the method have their parameters.
func (c *parameterList) add(in, name string, at Place) {
	if in == "any" {
		switch c.method {
		case "", "GET", "HEAD", "DELETE":
			in = "query"
		default:
			in = "form"
		}
		if c.inPath[name] {
			in = "path"
		}
	}
	c.out = append(c.out, Parameter{In: in, Name: name, At: at})
}

// boolRank orders true behind false.
func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// memberName returns the name of a member as parameters of the kind have it. In JSON a parameter
// is named by a pointer (RFC 6901).
func memberName(in, name string) string {
	if in == "json" {
		return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return name
}

// bindsParameters reports whether the parameters of a file's handlers are those of requests.
// Elsewhere handlers get the request itself.
func bindsParameters(f *Facts) bool {
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

// addParameter adds what a parameter of a handler stands for. An object stands for its members.
func (j *joiner) addParameter(g handlerParameter, f *Facts, c *parameterList) {
	in := g.in
	if g.bare {
		if sameScript(f, &Facts{language: "javascript"}) {
			return
		}
		in = bareKind(g, f, c.inPath)
	}
	if in == "json" || in == "any" || in == "form" || in == "query" {
		if fields := j.classFields(f, g.kind); len(fields) > 0 {
			for _, member := range fields {
				c.add(in, memberName(in, member.name), g.at)
			}
			return
		}
	}
	switch {
	case g.bare && g.kind != "" && !scalars[g.kind] && in != "path": // what the framework gives it
	case in == "json" && g.kind != "" && !g.bare: // a body of which nothing is known
	default:
		c.add(in, memberName(in, g.name), g.at)
	}
}

// bareKind returns where the value of a parameter without an annotation comes from. Frameworks
// bind it by its name and its type.
func bareKind(g handlerParameter, f *Facts, inPath map[string]bool) string {
	switch {
	case inPath[g.name]:
		return "path"
	case f.language != "python":
		return "any"
	case g.kind == "" || scalars[g.kind]:
		return "query"
	}
	return "json"
}

// classFields returns the members of a class, of the file first. A name that several files declare
// is left alone.
func (j *joiner) classFields(f *Facts, kind string) []field {
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
