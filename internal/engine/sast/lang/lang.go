// Package lang is the contract of a language: how its files are recognised, how
// its source and its patterns become generic trees, and the few facts about its
// meaning that the layers above ask for. Each language is a folder below that
// declares one Language; package lang/all lists them.
package lang

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/tree"
)

// A Language is one language. It is a value: declaring it registers nothing.
type Language struct {
	// Name is permanent, in lower case: "java". It is the folder's name.
	Name string

	// Spellings are the names by which rules call the language, Name included.
	Spellings []string

	// Grammar parses the concrete syntax and says which files are the language's.
	Grammar *cst.Language

	// Lower lowers the whole concrete tree: it opens the FileKind node and adds
	// everything below it. It must not panic and needs no Finish.
	Lower func(*Lowering)

	// Patterns says how a fragment is made a file that the grammar accepts.
	Patterns Patterns

	// Semantics says what the layers above must know.
	Semantics Semantics

	// Repair writes what the grammar lacks in other words of the same length, so that
	// every byte keeps its place; the tree shows the source as it was. It may return
	// its argument but must not change it. Nil changes nothing.
	Repair func(src []byte) []byte

	// Embedded returns the source of a file with blanks in place of everything that is
	// not in the language: the mark-up around scripts. Line ends stay, so that every byte
	// and line keeps its place. It must not change its argument. Nil: the whole file is in
	// the language.
	Embedded func(path string, src []byte) []byte

	// Lenient is a language with a larger grammar, which reads the files that this
	// one's does not understand: JavaScript with types. Nil: there is none.
	Lenient *Language
}

// Semantics holds the facts about a language that are not in a tree.
type Semantics struct {
	// Flow: the lowering is complete enough to follow data through functions and
	// files. Without it only rules of search mode and local taint rules apply.
	Flow bool

	// AssignDeclares: the first assignment to a name in a function declares it
	// (Python, Ruby, PHP).
	AssignDeclares bool
	// BlockScope: a declaration belongs to its block (but "var" to the function).
	BlockScope bool
	// ImplicitThis: a name may be a member of the enclosing class (Java, C#, Kotlin).
	ImplicitThis bool
	// FunctionsApart: functions have names of their own; a variable or field of the same
	// name hides none (Java).
	FunctionsApart bool
	// SelfParameter: the first parameter of a method is the receiver (Python).
	SelfParameter bool
	// Constructor is the name of constructors where the source gives them one that
	// is not the class': "__init__", "constructor", "initialize", "__construct".
	Constructor string
	// VarHoists: a Variable with the text "var" belongs to the function (JavaScript).
	VarHoists bool
	// Builtin returns the qualified name of a type or function that needs no import:
	// "java.lang.Runtime" for "Runtime"; "" for a name that it does not know. Nil: none.
	Builtin func(name string) string
	// ImportBindsFirst: an import without Name and Alias binds the first part of the
	// module's name (Python's "import os.path" binds os), otherwise the last one.
	ImportBindsFirst bool
	// ImportFunction is a function whose call with a string is an import: "require".
	ImportFunction string
	// ModulePrefix is a prefix of module names that changes nothing: "node:".
	ModulePrefix string
	// Literals are the types of literals, by kind: tree.String → "java.lang.String".
	Literals map[tree.Kind]string
	// PackagePerFolder: the files of a folder share their top-level names (Go, Java).
	PackagePerFolder bool
	// FileModule: a file is a module named for its path (Python, JavaScript).
	FileModule bool
	// IndexFile is the file, without extension, that stands for its folder as a module:
	// "index", "__init__".
	IndexFile string
	// SlashModules: modules are written as paths ("./db"), not as dotted names.
	SlashModules bool
	// ModuleExtensions are the file extensions that an import may spell out: ".js".
	ModuleExtensions []string
	// Exports is the object whose members a file makes visible, also as a member of
	// "module": "exports".
	Exports string
	// ImportsFolders: an import names a folder, whose files are one package (Go).
	ImportsFolders bool
	// KeysAreFields: x["a"] is x.a (JavaScript).
	KeysAreFields bool
	// Arguments is the name of the list of all that a function was called with:
	// "arguments".
	Arguments string
	// Prototypes: objects inherit from objects that a key can reach (JavaScript).
	Prototypes bool
	// Decorators: an annotation is called with what it stands at (Python, TypeScript).
	Decorators bool
	// Conversions are the types that need no declaration, where a call of a type is a
	// conversion; nil where it is not (Go: string, int).
	Conversions map[string]bool
	// Getters are the decorators of methods that run when a member is read (Python).
	Getters map[string]bool
	// OnItem, OnCall and OnMissing are the methods that run when an object of a class
	// is indexed, is called, and is asked for a member that it does not have (Python).
	OnItem, OnCall, OnMissing string
	// AfterFields is the method that runs when an object of a class without a constructor
	// has its fields (Python's data classes).
	AfterFields string
	// Promise is the class whose constructor runs a function that it gives another one,
	// which sets what the object holds: "Promise".
	Promise string
	// Makers are functions whose call with a type makes a value of it (Go: new, make).
	Makers map[string]bool
	// Standard are the first parts of import paths that are never in the tree (Go's
	// standard library).
	Standard map[string]bool
	// ZeroValues: a variable of a struct that is declared without a value is an object
	// (Go).
	ZeroValues bool
	// Structs are structs of the standard library that are useful without a value, by
	// qualified name (Go).
	Structs map[string]bool
	// Panic is the function whose call throws its argument, Recover the one that
	// returns, in a deferred function, what was thrown (Go).
	Panic, Recover string
	// Fallthrough is the Other that goes on with the next case.
	Fallthrough string
	// CommaOk: some expressions give a second value, whether there was a first (Go).
	CommaOk bool
	// Values returns the expressions that dotted names of a file hold which no scope
	// declares: "local.x" of HCL; None for a name without a sure one. Nil: none.
	Values func(f *tree.File) map[string]int32
	// LastIsReturned: a function returns the value of its last expression (Ruby, Rust).
	LastIsReturned bool
	// BareCalls: a name that nothing declares is a call without arguments (Ruby).
	BareCalls bool
	// BlocksApart: a block behind a call is no argument of a pattern without one (Ruby).
	BlocksApart bool
	// UnorderedBases: the order of supertypes means nothing (Kotlin).
	UnorderedBases bool
	// OpenObjects: an object literal in a pattern may leave out members (JavaScript, HCL).
	OpenObjects bool
	// LooseLiterals: a string, number or boolean of the same text is the same (HCL).
	LooseLiterals bool
	// TextType names the type of texts of which nothing else is declared (JavaScript).
	TextType string
	// OneNumber: integers and fractions have one type (JavaScript).
	OneNumber bool
	// Caseless: the case of names does not matter.
	Caseless bool
	// Pipes: "|" joins commands, whose order matters (shells).
	Pipes bool
	// Comment starts a comment that runs to the end of the line: "//", "#".
	Comment string
}

// Parse lowers a file. The tree holds a copy of nothing: src must not change.
// Errors are those of package cst.
func (l *Language) Parse(path string, src []byte, limits cst.Limits) (*tree.File, error) {
	code := src
	if l.Embedded != nil {
		code = l.Embedded(path, src)
	}
	t, err := l.parseConcrete(code, limits)
	if err != nil {
		return nil, err
	}
	t.Source = src
	defer t.Free()
	if t.Errors && l.Lenient != nil {
		if other, err := l.Lenient.Grammar.Parse(code, limits); err == nil && !other.Errors {
			other.Source = src
			defer other.Free()
			f := l.Lenient.lowerConcrete(path, other)
			f.Language = l.Name
			return f, nil
		}
	}
	return l.lowerConcrete(path, t), nil
}

// parseConcrete parses the source, repaired, into a tree of the source as it is.
func (l *Language) parseConcrete(src []byte, limits cst.Limits) (*cst.Tree, error) {
	text := src
	if l.Repair != nil {
		text = l.Repair(src)
	}
	t, err := l.Grammar.Parse(text, limits)
	if err != nil {
		return nil, err
	}
	t.Source = src
	return t, nil
}

// lowerConcrete lowers a concrete tree.
func (l *Language) lowerConcrete(path string, t *cst.Tree) *tree.File {
	f := &tree.File{Path: path, Language: l.Name, Source: unsafe.String(unsafe.SliceData(t.Source), len(t.Source))}
	draft := drafts.Get().(*[]tree.Node)
	f.Nodes = slices.Grow((*draft)[:0], len(t.Nodes)*2/3+1)
	b := &Lowering{Builder: tree.Builder{File: f}, CST: t}
	l.Lower(b)
	if t.Errors {
		b.listMissed()
	}
	b.Finish()
	*draft = f.Nodes
	f.Nodes = append(make([]tree.Node, 0, len(*draft)), *draft...)
	if cap(*draft) <= mostDraft {
		drafts.Put(draft)
	}
	return f
}

// drafts has the arrays in which trees are made: a third of what is made room for is
// not needed, and trees are kept for long.
var drafts = sync.Pool{New: func() any { return new([]tree.Node) }}

// mostDraft bounds the arrays that are kept, in nodes.
const mostDraft = 1 << 18

// listMissed lists the errors of the concrete tree that the lowering passed over.
func (l *Lowering) listMissed() {
	for i := int32(0); i < int32(len(l.CST.Nodes)); i++ {
		start, end := l.Range(i)
		if l.CST.Nodes[i].Flags&cst.Error != 0 && !slices.Contains(l.File.Unknown, tree.Range{Start: start, End: end}) {
			l.File.Missed(start, end)
		}
	}
}

// Is reports whether rules call the language by the name.
func (l *Language) Is(name string) bool { return slices.Contains(l.Spellings, name) }

// Validate checks the declaration.
func (l *Language) Validate() error {
	switch {
	case l.Name == "" || !l.Is(l.Name):
		return fmt.Errorf("language %q: its name is not among its spellings", l.Name)
	case l.Grammar == nil || l.Lower == nil:
		return fmt.Errorf("language %s: no grammar or no lowering", l.Name)
	}
	return nil
}
