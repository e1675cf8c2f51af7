package callgraph

import (
	"path"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// A linker makes names that a file uses those under which other files declare them. It is read
// only once it is built, and shared by all workers.
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

// newLinker enters what the files declare. Aliases are resolved from the file that
// declares them, once all modules are known.
func newLinker(files []*ir.File, modules []Module) *linker {
	l := &linker{modules: map[string]bool{}, names: map[string]bool{}, structs: map[string]bool{},
		vars: map[string]bool{}, goPaths: modules,
		aliases: map[string]string{}, stars: map[string][]string{}, byBase: map[string][]string{}}
	for _, f := range files {
		l.addDeclarations(f)
	}
	for _, f := range files { // what they mean is found from the file
		n := &fileLinker{l, f, map[string]string{}}
		for _, a := range f.Aliases {
			if _, ok := l.aliases[a.Name]; !ok && !l.names[a.Name] {
				l.aliases[a.Name] = n.locateName(a.Means)
			}
		}
		for _, m := range f.Reexports {
			l.stars[f.Module] = append(l.stars[f.Module], n.locateModule(m))
		}
	}
	return l
}

// addDeclarations enters the module, classes, functions and package variables of a file. They are
// needed before any name can be resolved.
func (l *linker) addDeclarations(f *ir.File) {
	if key := moduleFamily(f) + f.Module; !l.modules[key] {
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
		l.addVariables(f)
	}
}

// addVariables notes the variables of a package that a file declares. A Go file uses variables of
// other files of its package by their bare names.
func (l *linker) addVariables(f *ir.File) {
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

// resolveAlias follows other names to what they mean. Aliases may form circles. The bound on the
// steps ends those; what they lead to is then any name of the circle.
func (l *linker) resolveAlias(q string) string {
	for range maxAliases {
		next := l.followAlias(q)
		if next == q {
			break
		}
		q = next
	}
	return q
}

// followAlias replaces the longest part of the name that is another name. Modules that pass on all
// names of others are searched as well.
func (l *linker) followAlias(q string) string {
	if l.names[q] {
		return q
	}
	for end := len(q); end > 0; end = strings.LastIndexByte(q[:end], '.') {
		if a, ok := l.aliases[q[:end]]; ok && (end == len(q) || l.names[a+q[end:]] || !l.isModule(q[:end])) {
			return a + q[end:]
		}
		for _, m := range l.stars[q[:end]] {
			if end < len(q) && l.isReachable(m+q[end:]) {
				return m + q[end:]
			}
		}
	}
	return q
}

// isReachable reports whether the program declares the name or its first parts. A module that
// passes on all names of others may have any name.
func (l *linker) isReachable(q string) bool {
	if l.names[q] || l.aliases[q] != "" {
		return true
	}
	i := strings.LastIndexByte(q, '.')
	return i > 0 && (l.names[q[:i]] || l.aliases[q[:i]] != "" || len(l.stars[q[:i]]) > 0 && !l.names[q])
}

// isModule reports whether the program has a module of the name.
func (l *linker) isModule(q string) bool { return l.modules["/"+q] || l.modules["."+q] }

// moduleFamily tells modules of languages apart that name them differently. A path of JavaScript
// and a module of Python may be spelled alike.
func moduleFamily(f *ir.File) string {
	switch m := &f.Lang.Semantics; {
	case m.ImportsFolders:
		return "#"
	case m.SlashModules:
		return "/"
	}
	return "."
}

// fileLinker links one file. Names of a file are resolved once and kept.
type fileLinker struct {
	*linker
	f     *ir.File
	known map[string]string
}

// linkFile links the names of a file. Files are linked in parallel: each only changes its own
// names.
func (l *linker) linkFile(f *ir.File) {
	n := &fileLinker{l, f, map[string]string{}}
	for _, c := range f.Classes {
		for i, b := range c.Bases {
			c.Bases[i] = n.linkName(b)
		}
		for i := range c.Fields {
			c.Fields[i].Type = n.linkName(c.Fields[i].Type)
		}
	}
	for i, r := range f.Reexports {
		f.Reexports[i] = n.locateModule(r)
	}
	for _, fn := range f.Functions {
		n.linkFunction(fn)
	}
}

// linkFunction links the names in the signature and the code of a function. The qualified name of
// a method of Go begins with its receiver's type, which another file may declare.
func (n *fileLinker) linkFunction(fn *ir.Function) {
	if fn.Owner != "" {
		owner := n.linkName(fn.Owner)
		if fn.Qualified == fn.Owner+"."+fn.Name {
			fn.Qualified = owner + "." + fn.Name
		}
		fn.Owner = owner
	}
	for i := range fn.Results {
		fn.Results[i] = n.linkName(fn.Results[i])
	}
	for i := range fn.Params {
		fn.Params[i].Type = n.linkName(fn.Params[i].Type)
	}
	for i := range fn.Locals {
		fn.Locals[i].Type = n.linkName(fn.Locals[i].Type)
	}
	for i := range fn.Calls {
		c := &fn.Calls[i]
		c.Qualified, c.Type = n.linkName(c.Qualified), n.linkName(c.Type)
	}
	for i := range fn.Code {
		n.linkInstr(&fn.Code[i])
	}
}

// linkInstr links the name in an instruction. Texts of other operations are no names of the
// program.
func (n *fileLinker) linkInstr(in *ir.Instr) {
	switch in.Op {
	case ir.LoadGlobal, ir.StoreGlobal, ir.Cast, ir.TypeTest:
		in.Text = n.linkName(in.Text)
	case ir.New:
		if in.Text != "" && in.Text[0] != '[' && in.Text[0] != '{' && in.Text[0] != '(' {
			in.Text = n.linkName(in.Text)
		}
		if in.X == ir.ZeroValue && !n.structs[in.Text] { // a variable of a type that is no struct is nil
			in.Op, in.Text, in.X = ir.Const, "null", int32(ir.ConstNull)
		}
	case ir.Catch:
		types := strings.Split(in.Text, "|")
		for k := range types {
			types[k] = n.linkName(types[k])
		}
		in.Text = strings.Join(types, "|")
	}
}

// linkName returns the program's name for a name of the file. Results are kept, as a file uses few
// names many times.
func (n *fileLinker) linkName(q string) string {
	if q == "" {
		return ""
	}
	if r, ok := n.known[q]; ok {
		return r
	}
	r := n.locateName(q)
	if n.f.Lang.Semantics.FileModule {
		r = n.resolveAlias(r)
	}
	n.known[q] = r
	return r
}

// locateName returns the name with the place of its module in the tree. How modules are named
// decides how they are found.
func (n *fileLinker) locateName(q string) string {
	switch m := &n.f.Lang.Semantics; {
	case m.ImportsFolders:
		return n.resolveFolder(q)
	case m.SlashModules:
		return n.resolveSlash(q)
	case m.FileModule:
		return n.resolveDotted(q)
	}
	return n.resolvePackaged(q)
}

// locateModule returns the place of a module all of whose names are passed on.
func (n *fileLinker) locateModule(q string) string {
	if n.f.Lang.Semantics.SlashModules {
		return n.resolveSlash(q)
	}
	return n.onPath(q)
}

// resolvePackaged resolves a name of a language with declared packages. What the file does not
// declare may come from a package that is imported as a whole. With two such packages outside of
// the program it cannot be decided, and the name stays.
func (n *fileLinker) resolvePackaged(q string) string {
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

// resolveDotted resolves a name that begins with a module as Python finds it: from the folders
// that may be on its path, which are those around the file, and "src". Names that a file gets by
// "from m import *" are found through its re-exports.
func (n *fileLinker) resolveDotted(q string) string {
	if n.names[q] || n.hasModulePrefix(q, 0) {
		return q
	}
	if first, _, _ := strings.Cut(q, "."); !n.importsName(first) {
		for _, m := range n.f.Reexports {
			if at := n.onPath(m) + "." + q; n.isReachable(at) {
				return at
			}
		}
	}
	return n.onPath(q)
}

// onPath finds the module that the name begins with. Applications are often started from a folder
// of the repository, which is then the root of their modules.
func (n *fileLinker) onPath(q string) string {
	if n.hasModulePrefix(q, 0) {
		return q
	}
	dir := path.Dir(n.f.Tree.Path)
	for {
		for _, root := range []string{dir, path.Join(dir, "src")} {
			if root == "." || root == "/" {
				continue
			}
			at := strings.ReplaceAll(root, "/", ".") + "." + q
			if n.hasModulePrefix(at, len(root)+1) {
				return at
			}
		}
		if dir == "." || dir == "/" {
			return q
		}
		dir = path.Dir(dir)
	}
}

// importsName reports whether the file imports something under the name. Imports shadow variables
// of the package.
func (n *fileLinker) importsName(name string) bool {
	for _, in := range n.f.Imports {
		if in.Local == name {
			return true
		}
	}
	return false
}

// hasModulePrefix reports whether the dotted name begins with a module that is longer than
// the number of bytes.
func (n *fileLinker) hasModulePrefix(q string, longer int) bool {
	for end := len(q); end > longer; end = strings.LastIndexByte(q[:end], '.') {
		if n.modules["."+q[:end]] {
			return true
		}
	}
	return false
}

// resolveSlash resolves a name that begins with the path of a module from some root: "@/db"
// and "src/db", which configurations of bundlers and compilers map to folders.
func (n *fileLinker) resolveSlash(q string) string {
	if n.names[q] || !strings.Contains(q, "/") {
		return q
	}
	bare := n.trimRootAlias(q)
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

// trimRootAlias returns a path without the alias of a root folder, "@/db" or "#root/db.js". Which
// folder the alias means is set in a configuration that is not read; the search for the path tries
// them all.
func (n *fileLinker) trimRootAlias(q string) string {
	if q[0] != '@' && q[0] != '~' && q[0] != '#' {
		return q
	}
	_, bare, _ := strings.Cut(q, "/")
	for _, x := range n.f.Lang.Semantics.ModuleExtensions {
		bare = strings.Replace(bare, x+".", ".", 1)
	}
	return bare
}

// onlyPath returns the name in the only module whose path ends as the bare one does. With several
// such modules the name stays as it is.
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

// pathPrefix reports whether the name begins with the path of a module. The longest one is tried
// first.
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

// resolveFolder resolves a name of Go: a package's import path, or a bare name of the own
// package, which another file of the folder declares.
func (n *fileLinker) resolveFolder(q string) string {
	slash := strings.LastIndexByte(q, '/')
	dot := strings.IndexByte(q[slash+1:], '.')
	if slash < 0 {
		first := q
		if dot >= 0 {
			first = q[:dot]
		}
		if own := n.f.Module; own != "" && (n.names[own+"."+first] || n.vars[own+"."+first] && !n.importsName(first)) {
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

// goFolder returns the folder of an import path: by the modules of the program, else the
// nearest folder whose path ends in the import path.
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
	return n.nearestFolder(importPath)
}

// nearestFolder returns the folder of the program that ends in the longest end of an
// import path, looked for from the file outwards. It is used without a go.mod.
func (n *fileLinker) nearestFolder(importPath string) (string, bool) {
	for rest := importPath; ; {
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
