// Package ir is the intermediate form of programs: functions as blocks of
// three-address instructions over variables. One lowering makes it from the generic
// trees of all languages; what differs are the facts of lang.Semantics and the results
// of package scope.
//
// What has a value in the tree has it here too: File.Value leads from an expression's
// node to the variable that holds its value, and every instruction names its node.
//
// Variables are numbered per function. The first ones are the Locals: parameters,
// the receiver, declared variables and captured ones, which may be assigned many
// times. The others are temporaries, one for each expression that is evaluated; a
// temporary has one defining instruction, except that the branches of a
// Conditional, a short-circuit operator, and the like each assign it once. Reading
// a local variable is a Copy to a temporary, so that the value at the place of the
// expression has a name of its own.
//
// A program fragment that cannot be lowered is never passed over in silence: it is
// in File.Skipped.
package ir

import (
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// A Var is a variable of a function: an index below Function.Vars. Named variables come first,
// then the results of instructions.
type Var int32

// NoVar is no variable.
const NoVar Var = -1

// A BlockID is the index of a block of a function.
type BlockID int32

// NoBlock is no block.
const NoBlock BlockID = -1

// A File is the intermediate form of one file. It refers to the tree of the file by node numbers
// and keeps no text of its own.
type File struct {
	Tree  *tree.File
	Lang  *lang.Language
	Names *scope.Info
	// Module is what the qualified names of what the file declares at its top begin
	// with: the package of a Java file, the folder of a Go file ("internal/db"), the
	// module of a Python file ("pkg.mod", from the path), the path without extension of
	// a JavaScript file ("src/db", also for "src/db/index.js").
	Module string

	// Functions lists the functions in the order of their nodes. The first is the
	// top-level code.
	Functions []*Function
	// Classes lists the declared types with members, anonymous ones too, in the
	// order of their nodes.
	Classes []*Class
	// Imports lists the imports and calls of require.
	Imports []Import
	// Reexports are the modules all of whose names the file passes on.
	Reexports []string
	// Aliases are other names by which files know what the file declares or imports.
	Aliases []Alias
	// Skipped lists what was not lowered, and why.
	Skipped []Skip

	values []valueLocation // by node
}

// An Alias is another qualified name.
type Alias struct{ Name, Means string }

// A Skip is a part of a file that was not lowered.
type Skip struct {
	Node   int32
	Reason string
}

// valueLocation is where a node's value is computed.
type valueLocation struct{ function, instr int32 }

// An Import is one imported name.
type Import struct {
	Node   int32  // the Import; the Call of a require
	Module string // as the source writes it: "java.util.List", "./db", "..models"
	Name   string // what is taken from the module; "" is the module itself, "*" everything, "default" its default
	Local  string // the name in this file; "" for none
}

// FunctionKind says what a function is.
type FunctionKind uint8

// The kinds of functions.
const (
	TopLevel       FunctionKind = iota // the code of the file outside of functions
	Plain                              // a declared function
	Method                             // a declared method, static ones too
	Constructor                        // a declared constructor
	Initializer                        // field initialisers and initialiser blocks of a class; constructors call it
	StaticInit                         // static ones; runs once, nobody calls it
	LambdaFunction                     // a function value
)

// A Function is the code of one function. Its code is one list of instructions, of which each
// block is a part.
type Function struct {
	File  *File
	Index int32 // in File.Functions
	ID    int32 // in the program; package callgraph sets it
	Node  int32 // Function, Lambda, File or Class (for initialisers)
	Kind  FunctionKind
	Name  string // "" for lambdas, "<top>", "<init>", "<static>"
	// Qualified is the name by which others know it: "pkg.Class.method",
	// "module.function"; that of a nested function holds its outer one's.
	Qualified string
	Class     *Class    // whose member it is, or nil
	Owner     string    // the qualified type of a method that is declared outside of it (Go), or ""
	Parent    *Function // the function around it, or nil
	Static    bool      // no receiver
	OnClass   bool      // the receiver is the class (Python's classmethod)
	Async     bool      // the result is a promise of what it returns
	Generator bool      // the result iterates over what it yields
	Accessor  Accessor  // it runs when a member is read or written, not when it is called

	// This is the receiver: "this", Python's first parameter, Go's receiver. NoVar when
	// there is none. Lambdas that share their outer this capture it.
	This   Var
	Params []Param // without the receiver
	Locals []Local
	Vars   int // number of variables, Locals included

	// Results are the declared types of the results, qualified, "" where not known;
	// several in languages that return several values. Nil when none is declared.
	Results []string
	named   []Var // results that are variables (Go)

	// Captures are the variables of the function around it that this one uses. They
	// are shared: a write here is seen there, and the other way round.
	Captures []Capture

	Code   []Instr // by block, blocks in reverse post-order, the entry first
	Blocks []Block
	Calls  []Call

	args     []Arg
	operands []Var
	defs     []int32 // by temporary: the first instruction that defines it
}

// An Accessor says whether a method runs because a member with its name is read or
// written.
type Accessor uint8

// The accessors.
const (
	NoAccessor Accessor = iota
	Getter
	Setter
)

// A Param is a parameter.
type Param struct {
	Var    Var
	Name   string // "" for a pattern, whose parts are assigned at the entry
	Type   string // qualified, "" when not known
	Rest   Spread // takes all the other positional or keyword arguments
	Node   int32  // the Parameter
	ByName bool   // takes an argument only by its name (Python, after "*")
}

// A Local is a named variable. Results of instructions have no entry; they are numbers alone.
type Local struct {
	Name string
	Kind LocalKind
	Node int32  // the Name that declares it, tree.None for a receiver
	Type string // declared or inferred, qualified; "" when not known
	// Shared marks a variable that a nested function writes: it can change whenever
	// a function is called.
	Shared bool
}

// LocalKind says what a local variable is.
type LocalKind uint8

// The kinds of locals.
const (
	Declared LocalKind = iota
	Parameter
	Receiver
	Captured
	Exception // holds what is thrown into a handler
	Hidden    // made by the lowering
)

// A Capture ties a variable to that of the function around. The function around has it as a local,
// or captures it in turn.
type Capture struct {
	Inner Var // of this function
	Outer Var // of Parent
}

// A Block is a straight run of instructions, Code[Start:End]. Its last instruction,
// and no other, is a jump: Jump, If, Dispatch, Return, Throw or Stop. In a block with
// Except, no instruction but the one before the jump is a call, so the state at the
// end is the state in which an exception leaves.
type Block struct {
	Start, End int32
	Preds      []BlockID // Except edges included
	Succs      []BlockID // without Except; If: then, else; Dispatch: any of them
	Except     BlockID   // where an exception out of the block's call goes, or NoBlock
}

// A Call is what a Call or CallNew instruction calls. It says all that is known of the callee from
// the file alone; package callgraph finds the functions.
type Call struct {
	Instr int32
	Kind  CallKind
	// Name is the last part of what is called: the method, the function, the type.
	Name string
	// Qualified is the dotted name of the callee as scope knows it: "os.path.join",
	// "java.lang.Math.max", "express.Router", that of the class for a New; "" when
	// not known.
	Qualified string
	// Type is the static type of the receiver, qualified; "" when not known.
	Type string
	// Receiver is the object whose method is called; for "super.m()" the receiver of
	// the caller. NoVar when there is none. A callee "a.b" has one even when "a" is a
	// module or class.
	Receiver Var
	// A function that is called on a receiver ("f.call(x)") has one too.
	// Callee holds the function value that is called when it is not a method:
	// a variable, a parameter, any expression; NoVar for methods.
	Callee Var
	// Direct is the function of the same file that the name means, -1 when there is
	// none or it is not certain.
	Direct int32

	first, count int32 // in Function.args
}

// CallKind says how a callee is found.
type CallKind uint8

// The kinds of calls.
const (
	CallFunction CallKind = iota // a name or an expression
	CallMethod                   // a member of an object, module or class
	CallNew                      // a constructor; the result is the new object
	CallSuper                    // a method or constructor of the superclass, on the own receiver
	CallSelf                     // another constructor of the same class: this(…)
	CallMarkup                   // an Element: attributes by name, contents positional
	CallInit                     // the Initializer of the class, from a constructor; Direct is it
)

// An Arg is an argument.
type Arg struct {
	Value Var
	Name  string // of a keyword argument
	Rest  Spread // the value is spread
	Node  int32
}

// Spread says that a parameter takes, or an argument gives, more than one.
type Spread uint8

// The spreads.
const (
	One        Spread = iota
	Positional        // *x, ...x
	Keywords          // **x
)

// Args returns the arguments of a call.
func (f *Function) Args(c *Call) []Arg { return f.args[c.first : c.first+c.count] }

// Call returns the call of a Call instruction.
func (f *Function) Call(in *Instr) *Call { return &f.Calls[in.X] }

// Operands returns the parts of a Concat.
func (f *Function) Operands(in *Instr) []Var { return f.operands[in.X : in.X+int32(in.B)] }

// Def returns the first instruction that defines a temporary, -1 for a local.
func (f *Function) Def(v Var) int32 {
	if i := int(v) - len(f.Locals); i >= 0 && i < len(f.defs) {
		return f.defs[i]
	}
	return -1
}

// IsLocal reports whether the variable is one of the Locals.
func (f *Function) IsLocal(v Var) bool { return v >= 0 && int(v) < len(f.Locals) }

// Value returns the function that evaluates an expression, the index of the
// instruction that gives its value, and the variable that has it right after. The
// function is nil when the node is no expression, or was not lowered, or cannot be
// reached. A Target has the instruction that stores to it and the stored value.
func (f *File) Value(node int32) (*Function, int32, Var) {
	if node < 0 || int(node) >= len(f.values) || f.values[node].function < 0 {
		return nil, -1, NoVar
	}
	p := f.values[node]
	fn := f.Functions[p.function]
	in := &fn.Code[p.instr]
	return fn, p.instr, in.result()
}

// A Class is a declared type with members. Interfaces, structs, enumerations and objects are
// classes too; Kind has the word of the language.
type Class struct {
	File      *File
	ID        int32  // in the program; package callgraph sets it
	Node      int32  // the Class, or the New of an anonymous one
	Kind      string // as tree.Class: "class", "interface", "enum", …
	Name      string
	Qualified string   // "pkg.Outer.Inner", "module.Class"; unique within the file
	Bases     []string // superclasses and interfaces, qualified as far as is known
	Methods   []*Function
	Fields    []ClassField
	Init      *Function // the Initializer, or nil
	Static    *Function // the StaticInit, or nil
	Outer     *Class
}

// A ClassField is a declared member variable.
type ClassField struct {
	Name   string
	Type   string
	Static bool
	Node   int32
}
