package flow

import (
	"path"
	"strings"

	"merlon/internal/engine/sast/ir"
)

// A linker makes names that a file uses those under which other files declare them.
type linker struct {
	modules map[string]bool // "/src/db" paths, ".pkg.mod" dotted names, "#internal/db" folders
	names   map[string]bool // qualified names of classes and functions
	goPaths []Module
}

func newLinker(files []*ir.File, modules []Module) *linker {
	l := &linker{modules: map[string]bool{}, names: map[string]bool{}, goPaths: modules}
	for _, f := range files {
		l.modules[family(f)+f.Module] = true
		for _, c := range f.Classes {
			l.names[c.Qualified] = true
		}
		for _, fn := range f.Functions {
			l.names[fn.Qualified] = true
		}
	}
	return l
}

// family tells modules of languages apart that name them differently.
func family(f *ir.File) string {
	switch m := &f.Lang.Meaning; {
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
		f.Reexports[i] = n.name(r)
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
	r := q
	switch m := &n.f.Lang.Meaning; {
	case m.ImportsFolders:
		r = n.folder(q)
	case m.SlashModules:
		r = n.slash(q)
	case m.FileModule:
		r = n.dotted(q)
	default:
		r = n.packaged(q)
	}
	n.known[q] = r
	return r
}

// packaged resolves a name of a language with declared packages. What the file does
// not declare may come from a package that is imported as a whole.
func (n *fileLinker) packaged(q string) string {
	rest, own := strings.CutPrefix(q, n.f.Module+".")
	if !own || n.names[q] {
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
	bare := strings.TrimPrefix(strings.TrimPrefix(q, "@/"), "~/")
	for dir := path.Dir(n.f.Tree.Path); ; dir = path.Dir(dir) {
		for _, root := range []string{dir, path.Join(dir, "src")} {
			if at := path.Join(root, bare); n.pathPrefix(at) {
				return at
			}
		}
		if dir == "." || dir == "/" {
			return q
		}
	}
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
		if own := n.f.Module; own != "" && n.names[own+"."+first] {
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
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") || len(n.goPaths) > 0 {
		return "", false // the standard library, or a module that is known to be elsewhere
	}
	for rest := importPath; ; {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return "", false
		}
		rest = rest[i+1:]
		if n.modules["#"+rest] {
			return rest, true
		}
	}
}
