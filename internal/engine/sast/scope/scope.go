// Package scope tells what the names of one file mean: which declaration, which
// module or type outside of the file, which type of value, and which value where
// that is cheap to know. It looks at one file only and knows no language; what
// differs between languages are the facts of lang.Semantics.
package scope

import (
	"path"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// An Info is what is known of the names of one file. It is safe for concurrent
// use once Analyze has returned it.
type Info struct {
	File      *tree.File
	Semantics *lang.Semantics

	// Package is the package that the file declares, "" for none.
	Package string
	// Wildcards are the modules all of whose names are imported.
	Wildcards []string

	scopes []scope
	in     []int32           // by node: the scope that it opens, or -1
	decl   []int32           // by node: the binding name that a Name means, or None
	writes map[int32][]write // by binding name
	chosen map[string]string // names from modules that are imported as a whole

	classes map[string]int32 // classes of the file, by their qualified names
	free    map[freeName][]write
	values  map[string]int32 // of lang.Semantics.Values
}

// A freeName is a name that the file does not declare, in one function. The same name in another
// function may hold another value.
type freeName struct {
	function int32
	name     string
}

// A scope is a region in which names are declared. Scopes form a tree by their parents; the first
// is the file.
type scope struct {
	parent int32
	node   int32
	names  map[string]int32 // to binding names
}

// A write gives a variable a value. Only whole values are kept: a write of a part or by a loop has
// None.
type write struct {
	node  int32 // Variable, Assign, Parameter and so on
	value int32 // the expression; None when the value is not one
}

// Analyze looks at a file. The known function says of a qualified name whether it
// is a type or function that somebody knows; it chooses between the modules that a
// file imports as a whole, and may be nil.
func Analyze(f *tree.File, l *lang.Language, known func(string) bool) *Info {
	s := &Info{File: f, Semantics: &l.Semantics, writes: map[int32][]write{}}
	s.in = make([]int32, len(f.Nodes))
	s.decl = make([]int32, len(f.Nodes))
	for i := range s.in {
		s.in[i], s.decl[i] = -1, tree.None
	}
	b := &binder{Info: s}
	b.declareNames()
	b.resolveNames()
	if l.Semantics.Values != nil {
		s.values = l.Semantics.Values(f)
	}
	s.chooseKnown(known)
	s.classes = map[string]int32{}
	for i := range f.Nodes {
		if f.Nodes[i].Kind != tree.Class {
			continue
		}
		if name := s.Declared(int32(i)); name != "" {
			s.classes[name] = int32(i)
		}
	}
	return s
}

// Declaration returns the binding Name that the Name means: the one in the Target
// of a Variable, Parameter, Assign or loop, the Name of a Function, Class or
// Import. It returns the node itself for a binding Name, and None for a name that
// the file does not declare.
func (s *Info) Declaration(i int32) int32 {
	if i < 0 {
		return tree.None
	}
	return s.decl[i]
}

// Declarator returns the construct that declares a binding Name: a Variable, Field,
// Parameter, Function, Lambda, Class, Import, Assign, ForEach, Clause, Catch, With,
// TypeTest and so on.
func (s *Info) Declarator(binding int32) int32 {
	if binding < 0 {
		return tree.None
	}
	for i := s.File.Nodes[binding].Parent; i >= 0; i = s.File.Nodes[i].Parent {
		switch s.File.Nodes[i].Kind {
		case tree.Name, tree.Tuple, tree.List, tree.Map, tree.Pair, tree.Spread, tree.Keyword, tree.Member, tree.String:
		default:
			return i
		}
	}
	return tree.None
}

// Lookup returns the binding Name that a name would mean at the node, None for an
// unknown one.
func (s *Info) Lookup(at int32, name string) int32 {
	return s.lookupFrom(s.scopeOf(at), name)
}

// scopeOf returns the innermost scope that the node is in. A node opens its own scope, too.
func (s *Info) scopeOf(i int32) int32 {
	for ; i >= 0; i = s.File.Nodes[i].Parent {
		if sc := s.in[i]; sc >= 0 {
			return sc
		}
	}
	return 0
}

// lookupFrom finds the name from the scope outwards. The members of a class are seen
// from inside only where the language has an implicit receiver.
func (s *Info) lookupFrom(sc int32, name string) int32 {
	for first := true; sc >= 0; sc, first = s.scopes[sc].parent, false {
		if !first && !s.Semantics.ImplicitThis && s.File.Nodes[s.scopes[sc].node].Kind == tree.Class {
			continue
		}
		if d, ok := s.scopes[sc].names[name]; ok {
			return d
		}
	}
	return tree.None
}

// Bound returns the name under which an Import is known in the file; "" for a
// wildcard and for an import without a name.
func (s *Info) Bound(imp int32) string {
	f := s.File
	if a := f.Child(imp, tree.RoleAlias); a >= 0 {
		return f.Text(a)
	}
	if n := f.Child(imp, tree.RoleName); n >= 0 {
		if t := f.Text(n); t != "*" && t != "default" {
			return t
		}
		return ""
	}
	return s.lastPart(f.Text(imp))
}

// lastPart returns the part of a module's name that an import binds. Go's packages are named by
// the last part of their path, without a version.
func (s *Info) lastPart(module string) string {
	if s.Semantics.ImportBindsFirst {
		first, _, _ := strings.Cut(module, ".")
		return first
	}
	if strings.Contains(module, "/") {
		last := path.Base(module)
		if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
			last = path.Base(path.Dir(module)) // a major version: "example.org/m/v2"
		}
		if i := strings.LastIndex(last, ".v"); i > 0 {
			last = last[:i] // "gopkg.in/yaml.v3"
		}
		return strings.TrimPrefix(last, "go-")
	}
	return module[strings.LastIndexByte(module, '.')+1:]
}
