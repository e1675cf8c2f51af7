package pattern

import (
	"slices"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// A File is a lowered source file, ready to be matched by many programs. It keeps
// what one program finds for the next one that asks the same, so it belongs to one
// goroutine at a time.
type File struct {
	Tree     *tree.File
	Language *lang.Language
	Scope    *scope.Info // nil: names mean nothing but themselves

	kinds    [256][]int32 // nodes by kind
	words    map[string]struct{}
	found    map[string]found    // matches by leaf key
	formulas map[string][]Match  // matches of whole formulas, by their key
	subtypes map[string][]string // direct supertypes by the name of a class
	nested   map[nestedKey]*File // texts of other languages inside of this file
	flat     map[int32][]int32   // statements up to the last one of a list, from the first asked for
	values   map[int32]value     // constants that were asked for
	clock    *clock              // shared with the texts in nested
}

// value is a constant, or that there is none.
type value struct {
	scope.Value
	known bool
}

// found is what a leaf matched. It is kept by the key of the leaf, so that rules with the same
// pattern share the work.
type found struct {
	matches []Match
	spent   bool // the budget ended before the file did
}

// A nestedKey identifies a text that was parsed as another language. The same text may be parsed
// by several rules, in the same language, for each file.
type nestedKey struct {
	language   string
	start, end uint32
	text       string
}

// NewFile prepares a file. info may be nil. The index by kind is built once in two passes, so that
// all lists share one array.
func NewFile(f *tree.File, l *lang.Language, info *scope.Info) *File {
	out := &File{Tree: f, Language: l, Scope: info, found: map[string]found{}, clock: &clock{}}
	out.Limit(0)
	var count [256]int
	for i := range f.Nodes {
		count[f.Nodes[i].Kind]++
	}
	all := make([]int32, len(f.Nodes))
	for k, n := range count {
		out.kinds[k], all = all[:0:n], all[n:]
	}
	for i := range f.Nodes {
		k := f.Nodes[i].Kind
		out.kinds[k] = append(out.kinds[k], int32(i))
	}
	return out
}

// constantOf returns the constant that an expression is known to be. Constants are propagated
// through variables, which is slow enough to be kept.
func (f *File) constantOf(i int32) (scope.Value, bool) {
	if f.Scope == nil {
		return scope.Value{}, false
	}
	if v, ok := f.values[i]; ok {
		return v.Value, v.known
	}
	if f.values == nil {
		f.values = map[int32]value{}
	}
	v, ok := f.Scope.Const(i)
	f.values[i] = value{v, ok}
	return v, ok
}

// hasWords reports whether every word is in the file. The words of the file are collected once;
// rules without their words in the file are skipped, which saves most of the work of a scan.
func (f *File) hasWords(words []string) bool {
	if f.words == nil {
		f.words = wordsOf(f.Tree.Source)
	}
	for _, w := range words {
		if _, ok := f.words[w]; !ok {
			return false
		}
	}
	return true
}

// isWord reports whether the byte belongs to a word. Every byte of a character
// beyond ASCII does.
func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// wordsOf returns the words of a text. Keywords, strings and comments count too: the filter may
// let too much through but never too little.
func wordsOf(text string) map[string]struct{} {
	words := make(map[string]struct{}, len(text)/16)
	for i := 0; i < len(text); {
		if !isWord(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && isWord(text[i]) {
			i++
		}
		words[text[start:i]] = struct{}{}
	}
	return words
}

// isExpression reports whether the node stands where a value does, and is not a mere
// label of something.
func (f *File) isExpression(i int32) bool {
	n := &f.Tree.Nodes[i]
	if !n.Kind.Expression() {
		return isRareExpression(n)
	}
	switch n.Role {
	case tree.RoleName, tree.RolePath, tree.RoleAlias, tree.RoleLabel:
		return n.Kind != tree.Name && n.Kind != tree.Member
	case tree.RoleProperty:
		return n.Kind != tree.Name
	case tree.RoleTarget:
		if n.Parent >= 0 {
			switch f.Tree.Nodes[n.Parent].Kind {
			case tree.Parameter:
				return false
			case tree.Variable, tree.Field:
				return f.Tree.Child(n.Parent, tree.RoleValue) >= 0
			}
		}
	}
	switch n.Kind {
	case tree.Type, tree.Attribute, tree.Clause, tree.Keyword, tree.Pair, tree.Slice:
		return false
	}
	return true
}

// isRareExpression reports whether a node whose kind is usually none is an expression
// where it stands: functions and classes as values, and constructs without a kind.
func isRareExpression(n *tree.Node) bool {
	switch n.Kind {
	case tree.Lambda:
		return true
	case tree.Class:
		return n.Role != tree.RoleStatement && n.Role != tree.RoleNone
	case tree.Other:
		return n.Role != tree.RoleStatement
	}
	return false
}

// isStatement reports whether the node stands where a statement does. The body of an if without
// braces is one, although its role is not that of a statement.
func (f *File) isStatement(i int32) bool {
	n := &f.Tree.Nodes[i]
	switch n.Role {
	case tree.RoleStatement:
		return true
	case tree.RoleBody, tree.RoleThen, tree.RoleElse, tree.RoleFinally:
		return n.Kind.Statement()
	}
	return false
}

// flattenStatements returns the statements from one to another of the same list and all statements
// inside of them, in order. An ellipsis in a pattern may reach into nested blocks; the list is
// kept since every statement of a long block asks for it.
func (f *File) flattenStatements(first, last int32) []int32 {
	if list, ok := f.flat[last]; ok && list[0] <= first {
		at, _ := slices.BinarySearch(list, first)
		return list[at:]
	}
	var list []int32
	for i := first; i < f.Tree.Nodes[last].Next; i++ {
		if f.isStatement(i) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if f.flat == nil || len(f.flat) > 4096 {
		f.flat = map[int32][]int32{}
	}
	f.flat[last] = list
	return list
}

// supertypesOf returns the names of the direct supertypes that the file's classes of the name
// declare. Classes of other files are not known here.
func (f *File) supertypesOf(name string) []string {
	if f.subtypes == nil {
		f.subtypes = map[string][]string{}
		for _, c := range f.kinds[tree.Class] {
			for b := range f.Tree.Children(c) {
				if r := f.Tree.Nodes[b].Role; r != tree.RoleBase && r != tree.RoleInterface {
					continue
				}
				if super := f.typeName(b); super != "" {
					f.subtypes[f.Tree.Name(c)] = append(f.subtypes[f.Tree.Name(c)], super)
				}
			}
		}
	}
	return f.subtypes[name]
}

// typeName returns the dotted name of a type or of an expression that names one,
// qualified where that is known.
func (f *File) typeName(i int32) string {
	if f.Scope != nil {
		if q := f.Scope.Qualified(i); q != "" {
			return q
		}
	}
	switch n := &f.Tree.Nodes[i]; n.Kind {
	case tree.Type:
		return n.Text
	case tree.Call:
		return f.typeName(f.Tree.Child(i, tree.RoleCallee))
	}
	return f.Tree.Dotted(i)
}
