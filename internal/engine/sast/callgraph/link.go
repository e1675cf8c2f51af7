package callgraph

import (
	"path"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// A linker makes names that a file uses those under which other files declare them.
type linker struct {
	modules map[string]bool // "/src/db" paths, ".pkg.mod" dotted names, "#internal/db" folders
	names   map[string]bool // qualified names of classes and functions
	structs map[string]bool // qualified names of structs
	vars    map[string]bool // qualified names of variables of packages (Go)
	goPaths []Module
	aliases map[string]string   // other names
	stars   map[string][]string // by module: those whose names it passes on
	byBase  map[string][]string // modules that are paths, by the last part
}

// maxAliases bounds how often a name is replaced by what it means.
const maxAliases = 8

func newLinker(files []*ir.File, modules []Module) *linker {
	l := &linker{modules: map[string]bool{}, names: map[string]bool{}, structs: map[string]bool{},
		vars: map[string]bool{}, goPaths: modules,
		aliases: map[string]string{}, stars: map[string][]string{}, byBase: map[string][]string{}}
	for _, f := range files {
		if key := family(f) + f.Module; !l.modules[key] {
			l.modules[key] = true
			if key[0] == '/' {
				l.byBase[path.Base(key)] = append(l.byBase[path.Base(key)], f.Module)
			}
		}
		for _, c := range f.Classes {
			l.names[c.Qualified] = true
			if c.Kind == "struct" {
				l.structs[c.Qualified] = true
			}
		}
		for _, fn := range f.Functions {
			l.names[fn.Qualified] = true
		}
		if f.Lang.Semantics.ImportsFolders {
			l.variables(f)
		}
	}
	for _, f := range files { // what they mean is found from the file
		n := &fileLinker{l, f, map[string]string{}}
		for _, a := range f.Aliases {
			if _, ok := l.aliases[a.Name]; !ok && !l.names[a.Name] {
				l.aliases[a.Name] = n.place(a.Means)
			}
		}
		for _, m := range f.Reexports {
			l.stars[f.Module] = append(l.stars[f.Module], n.module(m))
		}
	}
	return l
}

// variables notes the variables of a package that a file declares.
func (l *linker) variables(f *ir.File) {
	for _, v := range f.Functions[0].Locals {
		if v.Kind == ir.Declared {
			l.vars[f.Module+"."+v.Name] = true
		}
	}
	for i := range f.Functions[0].Code {
		if in := &f.Functions[0].Code[i]; in.Op == ir.StoreGlobal && strings.HasPrefix(in.Text, f.Module+".") {
			l.vars[in.Text] = true
		}
	}
}

// means follows other names to what they mean.
func (l *linker) means(q string) string {
	for range maxAliases {
		next := l.follow(q)
		if next == q {
			break
		}
		q = next
	}
	return q
}

// follow replaces the longest part of the name that is another name.
func (l *linker) follow(q string) string {
	if l.names[q] {
		return q
	}
	for end := len(q); end > 0; end = strings.LastIndexByte(q[:end], '.') {
		if a, ok := l.aliases[q[:end]]; ok && (end == len(q) || l.names[a+q[end:]] || !l.isModule(q[:end])) {
			return a + q[end:]
		}
		for _, m := range l.stars[q[:end]] {
			if end < len(q) && l.reaches(m+q[end:]) {
				return m + q[end:]
			}
		}
	}
	return q
}

// reaches reports whether the program declares the name or its first parts.
func (l *linker) reaches(q string) bool {
	if l.names[q] || l.aliases[q] != "" {
		return true
	}
	i := strings.LastIndexByte(q, '.')
	return i > 0 && (l.names[q[:i]] || l.aliases[q[:i]] != "" || len(l.stars[q[:i]]) > 0 && !l.names[q])
}

func (l *linker) isModule(q string) bool { return l.modules["/"+q] || l.modules["."+q] }

// family tells modules of languages apart that name them differently.
func family(f *ir.File) string {
	switch m := &f.Lang.Semantics; {
	case m.ImportsFolders:
		return "#"
	case m.SlashModules:
		return "/"
	}
	return "."
}

// fileLinker links one file.
type fileLinker struct {
	*linker
	f     *ir.File
	known map[string]string
}

// file links the names of a file.
func (l *linker) file(f *ir.File) {
	n := &fileLinker{l, f, map[string]string{}}
	for _, c := range f.Classes {
		for i, b := range c.Bases {
			c.Bases[i] = n.name(b)
		}
		for i := range c.Fields {
			c.Fields[i].Type = n.name(c.Fields[i].Type)
		}
	}
	for i, r := range f.Reexports {
		f.Reexports[i] = n.module(r)
	}
	for _, fn := range f.Functions {
		n.function(fn)
	}
}

func (n *fileLinker) function(fn *ir.Function) {
	if fn.Owner != "" {
		owner := n.name(fn.Owner)
		if fn.Qualified == fn.Owner+"."+fn.Name {
			fn.Qualified = owner + "." + fn.Name
		}
		fn.Owner = owner
	}
	for i := range fn.Results {
		fn.Results[i] = n.name(fn.Results[i])
	}
	for i := range fn.Params {
		fn.Params[i].Type = n.name(fn.Params[i].Type)
	}
	for i := range fn.Locals {
		fn.Locals[i].Type = n.name(fn.Locals[i].Type)
	}
	for i := range fn.Calls {
		c := &fn.Calls[i]
		c.Qualified, c.Type = n.name(c.Qualified), n.name(c.Type)
	}
	for i := range fn.Code {
		switch in := &fn.Code[i]; in.Op {
		case ir.LoadGlobal, ir.StoreGlobal, ir.Cast, ir.TypeTest:
			in.Text = n.name(in.Text)
		case ir.New:
			if in.Text != "" && in.Text[0] != '[' && in.Text[0] != '{' && in.Text[0] != '(' {
				in.Text = n.name(in.Text)
			}
			if in.X == ir.ZeroValue && !n.structs[in.Text] {
				in.Op, in.Text, in.X = ir.Const, "null", int32(ir.ConstNull)
			}
		case ir.Catch:
			types := strings.Split(in.Text, "|")
			for k := range types {
				types[k] = n.name(types[k])
			}
			in.Text = strings.Join(types, "|")
		}
	}
}

// name returns the program's name for a name of the file.
func (n *fileLinker) name(q string) string {
	if q == "" {
		return ""
	}
	if r, ok := n.known[q]; ok {
		return r
	}
	r := n.place(q)
	if n.f.Lang.Semantics.FileModule {
		r = n.means(r)
	}
	n.known[q] = r
	return r
}

// place returns the name with the place of its module in the tree.
func (n *fileLinker) place(q string) string {
	switch m := &n.f.Lang.Semantics; {
	case m.ImportsFolders:
		return n.folder(q)
	case m.SlashModules:
		return n.slash(q)
	case m.FileModule:
		return n.dotted(q)
	}
	return n.packaged(q)
}

// module returns the place of a module all of whose names are passed on.
func (n *fileLinker) module(q string) string {
	if n.f.Lang.Semantics.SlashModules {
		return n.slash(q)
	}
	return n.onPath(q)
}

// packaged resolves a name of a language with declared packages. What the file does
// not declare may come from a package that is imported as a whole.
func (n *fileLinker) packaged(q string) string {
	rest, own := strings.CutPrefix(q, n.f.Module+".")
	if n.names[q] {
		return q
	}
	if !own {
		if at := n.f.Module + "." + q; n.names[at] { // a class whose name begins with a small letter
			return at
		}
		return q
	}
	first, _, _ := strings.Cut(rest, ".")
	if n.names[n.f.Module+"."+first] {
		return q
	}
	outside := ""
	for _, w := range n.f.Names.Wildcards {
		switch {
		case n.names[w+"."+first]:
			return w + "." + rest
		case n.modules["."+w]:
		case outside == "":
			outside = w
		default:
			return q // it may be from either
		}
	}
	if outside != "" {
		return outside + "." + rest
	}
	return q
}

// dotted resolves a name that begins with a module as Python finds it: from the
// folders that may be on its path, which are those around the file, and "src".
func (n *fileLinker) dotted(q string) string {
	if n.names[q] || n.prefix(q, 0) {
		return q
	}
	if first, _, _ := strings.Cut(q, "."); !n.imports(first) {
		for _, m := range n.f.Reexports {
			if at := n.onPath(m) + "." + q; n.reaches(at) {
				return at
			}
		}
	}
	return n.onPath(q)
}

// onPath finds the module that the name begins with.
func (n *fileLinker) onPath(q string) string {
	if n.prefix(q, 0) {
		return q
	}
	dir := path.Dir(n.f.Tree.Path)
	for {
		for _, root := range []string{dir, path.Join(dir, "src")} {
			if root == "." || root == "/" {
				continue
			}
			at := strings.ReplaceAll(root, "/", ".") + "." + q
			if n.prefix(at, len(root)+1) {
				return at
			}
		}
		if dir == "." || dir == "/" {
			return q
		}
		dir = path.Dir(dir)
	}
}

// imports reports whether the file imports something under the name.
func (n *fileLinker) imports(name string) bool {
	for _, in := range n.f.Imports {
		if in.Local == name {
			return true
		}
	}
	return false
}

// prefix reports whether the dotted name begins with a module that is longer than
// the number of bytes.
func (n *fileLinker) prefix(q string, longer int) bool {
	for end := len(q); end > longer; end = strings.LastIndexByte(q[:end], '.') {
		if n.modules["."+q[:end]] {
			return true
		}
	}
	return false
}

// slash resolves a name that begins with the path of a module from some root: "@/db"
// and "src/db", which configurations of bundlers and compilers map to folders.
func (n *fileLinker) slash(q string) string {
	if n.names[q] || !strings.Contains(q, "/") {
		return q
	}
	bare := q
	if q[0] == '@' || q[0] == '~' || q[0] == '#' { // "@/db", "#root/db.js"
		_, bare, _ = strings.Cut(q, "/")
		for _, x := range n.f.Lang.Semantics.ModuleExtensions {
			bare = strings.Replace(bare, x+".", ".", 1)
		}
	}
	for dir := path.Dir(n.f.Tree.Path); ; dir = path.Dir(dir) {
		for _, root := range []string{dir, path.Join(dir, "src")} {
			if at := path.Join(root, bare); n.pathPrefix(at) {
				return at
			}
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	if bare != q {
		return n.onlyPath(q, bare)
	}
	return q
}

// onlyPath returns the name in the only module whose path ends as the bare one does.
func (n *fileLinker) onlyPath(q, bare string) string {
	slash := strings.LastIndexByte(bare, '/')
	for end := len(bare); end > slash; end = strings.LastIndexByte(bare[:end], '.') {
		found := ""
		for _, m := range n.byBase[bare[slash+1:end]] {
			if m == bare[:end] || strings.HasSuffix(m, "/"+bare[:end]) {
				if found != "" {
					return q
				}
				found = m
			}
		}
		if found != "" {
			return found + bare[end:]
		}
	}
	return q
}

// pathPrefix reports whether the name begins with the path of a module.
func (n *fileLinker) pathPrefix(q string) bool {
	slash := strings.LastIndexByte(q, '/')
	for end := len(q); end > slash; end = strings.LastIndexByte(q[:end], '.') {
		if n.modules["/"+q[:end]] {
			return true
		}
		if end == slash+1 {
			break
		}
	}
	return false
}

// folder resolves a name of Go: a package's import path, or a bare name of the own
// package, which another file of the folder declares.
func (n *fileLinker) folder(q string) string {
	slash := strings.LastIndexByte(q, '/')
	dot := strings.IndexByte(q[slash+1:], '.')
	if slash < 0 {
		first := q
		if dot >= 0 {
			first = q[:dot]
		}
		if own := n.f.Module; own != "" && (n.names[own+"."+first] || n.vars[own+"."+first] && !n.imports(first)) {
			return own + "." + q
		}
	}
	importPath, rest := q, ""
	if dot >= 0 {
		importPath, rest = q[:slash+1+dot], q[slash+1+dot:]
	}
	if at, ok := n.goFolder(importPath); ok {
		return strings.TrimPrefix(at+rest, ".")
	}
	return q
}

// goFolder returns the folder of an import path.
func (n *fileLinker) goFolder(importPath string) (string, bool) {
	for _, m := range n.goPaths {
		if rest, ok := strings.CutPrefix(importPath, m.Path); ok && (rest == "" || rest[0] == '/') {
			at := path.Join(m.Folder, strings.TrimPrefix(rest, "/"))
			if at == "." {
				at = ""
			}
			return at, true
		}
	}
	first, _, _ := strings.Cut(importPath, "/")
	if n.f.Lang.Semantics.Standard[first] || strings.Contains(first, ".") && len(n.goPaths) > 0 {
		return "", false // the standard library, or a module that is known to be elsewhere
	}
	for rest := importPath; ; { // where the module is, nobody tells: the nearest folder that ends so
		for dir := path.Dir(n.f.Tree.Path); ; dir = path.Dir(dir) {
			if at := path.Join(dir, rest); n.modules["#"+at] {
				return at, true
			}
			if dir == "." || dir == "/" {
				break
			}
		}
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return "", false
		}
		rest = rest[i+1:]
	}
}
