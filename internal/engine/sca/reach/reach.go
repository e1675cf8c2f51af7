// Package reach answers whether a program uses the flawed code of its dependencies:
// it reads the program's own sources in Java, JavaScript, TypeScript, Python, Go and PHP,
// joins them to a call graph (package callgraph), and looks for imports of a dependency
// and for calls into it from code that can run.
//
// What it says moves priorities and hides nothing, so it errs towards use: "not
// found" needs that everything was read, that the names under which the dependency is
// imported are known, and that no file of settings names it.
package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A Tree is the scanned tree.
type Tree struct {
	Context context.Context
	FS      fs.FS
	Files   []scan.File
	Workers int
	// Packages are all packages of the inventory: what they may be imported as is
	// accounted for.
	Packages []finding.Package
}

// maxSource bounds a source file, in bytes; larger ones are made by programs.
const maxSource = 1 << 20

// A Program is what is known of the sources of a tree. It is not safe for concurrent
// use.
type Program struct {
	tree        Tree
	graph       *callgraph.Graph
	read        map[string]bool              // languages of which there are sources
	unread      map[string]string            // by language: a file that could not be read
	dynamic     map[string]string            // by language: a place that loads what cannot be known
	uses        map[string][]use             // by language
	live        []bool                       // by function
	callers     [][]int32                    // by function: who may run it
	settings    []setting                    // files that may name what is used without an import
	unexplained map[string]string            // by language: an import of nobody knows what
	texts       map[string]map[string]string // by language: files that name modules in texts
	packages    map[string][]use             // uses by language and package, of those that were asked for
	composer    map[string]composerPackage   // by name
}

// A use is an import of something that the program does not declare, or a call of it.
type use struct {
	name string // "lodash.template", "gopkg.in/yaml.v2.Decoder.Decode", "org.yaml.snakeyaml.Yaml"
	// the function with the use; the top level of the file for an import
	function *ir.Function
	// in the tree of the file; -1 when there is none
	node int32
	// false for an import
	call  bool
	loose bool // of the name only the package and the last part are certain
}

// ecosystems gives the language whose programs import the packages of an ecosystem.
var ecosystems = map[string]string{"npm": "javascript", "PyPI": "python", "Maven": "java", "Go": "go",
	"Packagist": "php"}

// Supported reports whether packages of the ecosystem can be looked for.
func Supported(ecosystem string) bool { return ecosystems[ecosystem] != "" }

// languageFamily is the language under which a file's imports count.
func languageFamily(l *lang.Language) string {
	switch l.Name {
	case "javascript", "typescript", "tsx", "component":
		return "javascript"
	case "java", "python", "go", "php":
		return l.Name
	}
	return ""
}

// Read reads the sources of the languages whose ecosystems are asked for. It fails
// only when the context ends.
func Read(t Tree, asked []string) (*Program, error) {
	p := &Program{tree: t, read: map[string]bool{}, unread: map[string]string{}, dynamic: map[string]string{},
		uses: map[string][]use{}, packages: map[string][]use{}, texts: map[string]map[string]string{}}
	wanted := map[string]bool{}
	for _, ecosystem := range asked {
		wanted[ecosystems[ecosystem]] = true
	}
	delete(wanted, "")
	if wanted["php"] {
		p.readComposer()
	}
	files, err := p.lowerSources(wanted)
	if err != nil {
		return nil, err
	}
	if p.graph, err = callgraph.Build(t.Context, files,
		callgraph.Options{Workers: t.Workers, Modules: p.goModules()}); err != nil {
		return nil, err
	}
	p.collectUses()
	p.followValues()
	p.markLive()
	p.findUnexplained()
	return p, nil
}

// lowerSources reads, parses and lowers the sources, several at once.
func (p *Program) lowerSources(wanted map[string]bool) ([]*ir.File, error) {
	var sources []scan.File
	for _, f := range p.tree.Files {
		if l := all.ForFile(f.Path); l != nil && wanted[languageFamily(l)] && lang.ThirdParty(f.Path) == "" {
			sources = append(sources, f)
		}
	}
	out := make([]*ir.File, len(sources))
	var mu sync.Mutex
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, p.tree.Workers) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sources) && p.tree.Context.Err() == nil; i = int(next.Add(1)) - 1 {
				f, err := p.parseFile(sources[i])
				mu.Lock()
				name := languageFamily(all.ForFile(sources[i].Path))
				p.read[name] = true
				// The first path in the order of names, whichever worker comes first.
				if err != nil && (p.unread[name] == "" || sources[i].Path < p.unread[name]) {
					p.unread[name] = sources[i].Path
				}
				mu.Unlock()
				out[i] = f
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(out, func(f *ir.File) bool { return f == nil }), p.tree.Context.Err()
}

// errLarge is the error of a source that is not read for its size.
var errLarge = errors.New("the file is too large")

// parseFile makes the intermediate form of a file. The parsers may crash on what a hostile
// tree has in a file: that is an error of the file.
func (p *Program) parseFile(f scan.File) (file *ir.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			file, err = nil, fmt.Errorf("parse %s: %v", f.Path, v)
		}
	}()
	if f.Size > maxSource {
		return nil, errLarge
	}
	text, err := fs.ReadFile(p.tree.FS, f.Path)
	if err != nil {
		return nil, err
	}
	l := all.ForFile(f.Path)
	t, err := l.Parse(f.Path, text, cst.Limits{})
	if err != nil {
		return nil, err
	}
	return ir.Lower(scope.Analyze(t, l, nil), l, ir.Limits{}), nil
}

// goModules returns where the modules of Go are.
func (p *Program) goModules() []callgraph.Module {
	files := map[string][]byte{}
	for _, f := range p.tree.Files {
		if path.Base(f.Path) == "go.mod" && f.Size <= maxSource {
			if text, err := fs.ReadFile(p.tree.FS, f.Path); err == nil {
				files[f.Path] = text
			}
		}
	}
	return sast.GoModules(files)
}

// collectUses lists what the program uses of others by name.
func (p *Program) collectUses() {
	imports := map[*ir.File]map[int32]bool{}
	for _, f := range p.graph.Files {
		name := languageFamily(f.Lang)
		imports[f] = map[int32]bool{}
		for _, i := range f.Imports {
			imports[f][i.Node] = true
			module := i.Module
			if i.Name != "" && i.Name != "*" && i.Name != "default" && name != "javascript" {
				module += "." + i.Name
			}
			p.uses[name] = append(p.uses[name], use{name: module, function: f.Functions[0], node: i.Node})
		}
		p.addReexports(f, name)
	}
	for _, fn := range p.graph.Functions {
		for i := range fn.Calls {
			p.addCall(fn, &fn.Calls[i], imports[fn.File])
		}
	}
}

// addReexports adds what a file exports of others: export { a } from "b".
func (p *Program) addReexports(f *ir.File, language string) {
	names := slices.Clone(f.Reexports)
	for _, a := range f.Aliases {
		names = append(names, a.Means)
	}
	for _, name := range names {
		if name != "" {
			p.uses[language] = append(p.uses[language], use{name: name, function: f.Functions[0], node: -1})
		}
	}
}

// addCall adds a call that names what it calls.
func (p *Program) addCall(fn *ir.Function, c *ir.Call, imports map[int32]bool) {
	name, node := languageFamily(fn.File.Lang), fn.Code[c.Instr].Node
	if loadsCode(name, c) && !imports[node] {
		if args := fn.Args(c); len(args) > 0 && constantText(fn, args[0].Value) != "" {
			p.uses[name] = append(p.uses[name], use{name: constantText(fn, args[0].Value), function: fn, node: node})
		} else if at := locationOf(fn.File, node); p.dynamic[name] == "" {
			p.dynamic[name] = fmt.Sprintf("%s:%d", at.Path, at.StartLine)
		}
	}
	if len(p.graph.Targets(fn, c)) > 0 {
		return
	}
	if to := calledName(c); to != "" {
		p.uses[name] = append(p.uses[name], use{name: to, function: fn, node: node, call: true})
	}
	if c.Kind == ir.CallFunction && (c.Qualified == "" || c.Qualified == c.Name || c.Qualified == fn.File.Module+"."+
		c.Name) && c.Name != "" {
		for _, module := range fn.File.Names.Wildcards { // from module import *
			p.uses[name] = append(p.uses[name], use{name: module + "." + c.Name, function: fn, node: node, call: true})
		}
	}
}

// loadsCode reports whether the call loads code by a name that is computed, as far as its
// callee tells: which module comes is then not known. One with a constant is an import.
func loadsCode(language string, c *ir.Call) bool {
	switch language {
	case "javascript":
		return c.Qualified == "require" || c.Name == "import" && c.Receiver == ir.NoVar
	case "python":
		return c.Qualified == "importlib.import_module" || c.Qualified == "__import__"
	case "java":
		return c.Qualified == "java.lang.Class.forName" || c.Qualified == "Class.forName" || c.Name == "loadClass" &&
			c.Type == "java.lang.ClassLoader"
	}
	return false
}

// markLive finds the functions that can run: top-level code, what others may call, and
// what any of them calls, hands on or names.
func (p *Program) markLive() {
	n := len(p.graph.Functions)
	p.live, p.callers = make([]bool, n), make([][]int32, n)
	named := p.namedFunctions()
	var queue []int32
	start := func(id, by int32) {
		// Callers only serve to show one path; a few are enough.
		if by >= 0 && id != by && len(p.callers[id]) < 8 {
			p.callers[id] = append(p.callers[id], by)
		}
		if !p.live[id] {
			p.live[id] = true
			queue = append(queue, id)
		}
	}
	for _, fn := range p.graph.Functions {
		if p.isEntry(fn) {
			start(fn.ID, -1)
		}
	}
	for len(queue) > 0 {
		fn := p.graph.Functions[queue[0]]
		queue = queue[1:]
		for i := range fn.Calls {
			for _, to := range p.graph.Targets(fn, &fn.Calls[i]) {
				start(to.ID, fn.ID)
			}
			for _, to := range p.graph.Callbacks(fn, &fn.Calls[i]) {
				start(to.ID, fn.ID)
			}
		}
		for _, to := range named[fn.ID] {
			start(to, fn.ID)
		}
	}
}

// namedFunctions lists for each function the functions whose bare names its code has: a
// function that is handed on in a way that the graph does not follow can still run.
func (p *Program) namedFunctions() [][]int32 {
	byName := map[string][]int32{}
	for _, fn := range p.graph.Functions {
		if fn.Name != "" && fn.Kind != ir.TopLevel {
			byName[languageFamily(fn.File.Lang)+" "+fn.Name] = append(byName[languageFamily(fn.File.Lang)+" "+fn.Name],
				fn.ID)
		}
	}
	const most = 64 // a name that so many share says nothing
	out := make([][]int32, len(p.graph.Functions))
	for _, f := range p.graph.Files {
		owner := ownerOfNodes(f)
		for i := range f.Tree.Nodes {
			node := int32(i)
			if k := f.Tree.Nodes[i].Kind; k != tree.Name && k != tree.Member {
				continue
			}
			text := f.Tree.Text(node)
			targets := byName[languageFamily(f.Lang)+" "+text[strings.LastIndexByte(text, '.')+1:]]
			if len(targets) > most {
				continue
			}
			for _, to := range targets {
				if isOwnName(p.graph.Functions[to], f, node) {
					continue
				}
				out[owner[i]] = append(out[owner[i]], to)
			}
		}
	}
	p.addNested(out)
	for i := range out {
		slices.Sort(out[i])
		out[i] = slices.Compact(out[i])
	}
	return out
}

// ownerOfNodes gives for each node of a file the innermost function that has it.
func ownerOfNodes(f *ir.File) []int32 {
	out := make([]int32, len(f.Tree.Nodes))
	for _, fn := range f.Functions { // outer ones come before those inside of them
		end := int32(len(out))
		begin := fn.Node
		if begin >= 0 && fn.Kind != ir.TopLevel {
			end = f.Tree.Nodes[begin].Next
		} else {
			begin = 0
		}
		for i := begin; i < end; i++ {
			out[i] = fn.ID
		}
	}
	return out
}

// isOwnName reports whether the node is the name in the function's own declaration.
func isOwnName(fn *ir.Function, f *ir.File, node int32) bool {
	return fn.File == f && fn.Node >= 0 && f.Tree.Child(fn.Node, tree.RoleName) == node
}

// addNested adds nested functions to what the one around each names: they are values of it, and
// run if it does.
func (p *Program) addNested(named [][]int32) {
	for _, fn := range p.graph.Functions {
		if fn.Parent != nil && fn.Kind == ir.LambdaFunction {
			named[fn.Parent.ID] = append(named[fn.Parent.ID], fn.ID)
		}
	}
}

// isEntry reports whether code outside of the program may run the function.
func (p *Program) isEntry(fn *ir.Function) bool {
	if lang.Test(fn.File.Tree.Path) {
		return false // tests run, but not where attackers are
	}
	switch fn.Kind {
	case ir.TopLevel, ir.StaticInit, ir.Initializer:
		return true
	case ir.LambdaFunction:
		return false // the function around it makes it
	}
	if isAnnotated(fn) {
		return true // a framework knows it
	}
	return p.isVisible(fn)
}

// isVisible reports whether code of other modules can name the function.
func (p *Program) isVisible(fn *ir.Function) bool {
	switch languageFamily(fn.File.Lang) {
	// Exported functions, since a library has no main.
	case "go":
		return fn.Name == "main" || fn.Name == "init" || fn.Name != "" && fn.Name[0] >= 'A' && fn.Name[0] <= 'Z'
	case "java":
		return !hasModifier(fn, "private")
	case "python":
		return fn.Class != nil && !strings.HasPrefix(fn.Name, "_") || strings.HasPrefix(fn.Name, "__")
	case "php":
		return !hasModifier(fn, "private")
	case "javascript":
		return fn.Class != nil || hasModifier(fn, "export") || slices.Contains(p.graph.Exposed(fn.File.Module), fn)
	}
	return true
}

// isAnnotated reports whether the function bears an annotation or decorator.
func isAnnotated(fn *ir.Function) bool {
	if fn.Node < 0 {
		return false
	}
	for i := range fn.File.Tree.Children(fn.Node) {
		if fn.File.Tree.Is(i, tree.Annotation) {
			return true
		}
	}
	return false
}

// hasModifier reports whether the declaration bears the modifier.
func hasModifier(fn *ir.Function, modifier string) bool {
	if fn.Node < 0 {
		return false
	}
	t := fn.File.Tree
	for i := range t.Children(fn.Node) {
		if t.Is(i, tree.Modifier) && t.Text(i) == modifier {
			return true
		}
	}
	return false
}

// locationOf returns where a node is.
func locationOf(f *ir.File, node int32) finding.Location {
	if node < 0 {
		return finding.Location{Path: f.Tree.Path, StartLine: 1, EndLine: 1}
	}
	n := f.Tree.Nodes[node]
	line, column := f.Tree.Position(n.Start)
	return finding.Location{Path: f.Tree.Path, StartLine: line, EndLine: line, StartColumn: column}
}
