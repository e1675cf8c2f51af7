package ir

// An Instr is one instruction. What its parts mean is said at its Op.
type Instr struct {
	Text string
	Node int32 // of the tree
	X    int32
	Dst  Var // what it defines, or NoVar
	A    Var
	B    Var
	C    Var
	Op   Op
}

// An Op is what an instruction does.
type Op uint8

// The operations. "=" defines Dst.
const (
	Nop Op = iota

	// Const = the literal Text; X is its ConstKind.
	Const
	// Copy = A. Reads and writes of locals are copies. With the Text "&" it is a cell
	// that holds A unless A is an object, with "&=" also then; with "*" the content of A
	// if A is a cell.
	Copy
	// Missing = whether the parameter A was not given, in front of its default.
	Missing

	// LoadField = A.Text.
	LoadField
	// StoreField sets A.Text to B.
	StoreField
	// LoadIndex = A[B]. With Text the key is the constant Text.
	LoadIndex
	// StoreIndex sets A[B] to C. Without B it adds an element; Text as LoadIndex, and
	// "..." adds all parts of C.
	StoreIndex
	// Slice = A[B:C], each of which may be NoVar.
	Slice
	// LoadGlobal = the global, static or module variable, or module, class or
	// function, with the qualified name Text. A is the value of the object when the
	// source writes a member of one ("process.env"), or NoVar.
	LoadGlobal
	// StoreGlobal sets the global with the qualified name Text to B; A as LoadGlobal.
	StoreGlobal

	// New = a new collection or object that has no constructor; Text is "[]", "{}"
	// (a map or object), "set", "()" (a tuple), or the qualified name of a type (a Go
	// literal). X is ZeroValue for a variable without a value and Allocated for new(T), of
	// a type that the file does not declare; package callgraph makes null of the former when
	// the program declares no such struct.
	New
	// Closure = the function File.Functions[X].
	Closure
	// ClassValue = the class File.Classes[X] as a value.
	ClassValue
	// Invoke = the result of Calls[X]. Dst may be NoVar.
	Invoke

	// Unary = Text A. "&" and "*" of pointers are Copies.
	Unary
	// Binary = A Text B. The operator is that of the source; that of "x += y" is "+".
	Binary
	// Concat = the operands X and following, B of them, as one string.
	Concat
	// Cast = A as the type Text.
	Cast
	// TypeTest = whether A has the type Text.
	TypeTest

	// Iterate = an iterator over A. Text is "values", "keys" or "entries" (Go's range
	// and the like, whose element is a tuple of key and value). X is 1 where A is known to
	// be no function that gives the elements to the loop.
	Iterate
	// HasNext = whether the iterator A has an element; an If follows.
	HasNext
	// Next = the next element of the iterator A.
	Next

	// Await = the value of the promise A.
	Await
	// Yield gives A to the consumer; = what the consumer sends. Text is "from" when A
	// is a collection of what is given.
	Yield
	// Catch = the exception in A, a local of kind Exception. Text is the qualified
	// types, joined with "|".
	Catch
	// Enter = the resource A as a With binds it.
	Enter
	// Delete removes A.Text, A[B], or the variable A.
	Delete

	// Jump goes to the block's only successor.
	Jump
	// If goes to the first successor when A is true, else to the second.
	If
	// Dispatch goes to any of the successors: after a Finally, into the handlers.
	Dispatch
	// Return leaves the function with A, or NoVar.
	Return
	// Throw leaves with A, or NoVar (again the same); in a region with a handler the
	// successor is the handler, and A was copied to its exception variable.
	Throw
	// Stop ends what does not go on.
	Stop

	ops // their number
)

// ConstKind says what a Const is.
type ConstKind int32

// The kinds of constants.
const (
	ConstString ConstKind = iota
	ConstNumber
	ConstBool
	ConstNull
	ConstCharacter
	ConstRegex
	// ConstUnknown is the value of a construct that has none that is known: Text says
	// which. It is not a constant.
	ConstUnknown
)

// What X of a New says of an object of a type that its file does not declare.
const (
	ZeroValue int32 = 1 + iota // a variable that is declared without a value
	Allocated                  // new(T)
)

// Jumps reports whether the operation ends a block.
func (o Op) Jumps() bool { return o >= Jump && o <= Stop }

// result returns the variable that holds what the instruction computes or stores. For a store that
// is what is stored, and not the place; a condition has its own value.
func (in *Instr) result() Var {
	switch in.Op {
	case StoreField, StoreGlobal:
		return in.B
	case StoreIndex:
		return in.C
	case Return, Throw, If:
		return in.A
	}
	return in.Dst
}

var opNames = [ops]string{
	"nop", "const", "copy", "missing", "field", "setfield", "index", "setindex", "slice", "global", "setglobal", "new",
	"closure", "class", "call", "unary", "binary", "concat", "cast", "typetest", "iterate", "hasnext", "next", "await",
	"yield", "catch", "enter", "delete", "jump", "if", "dispatch", "return", "throw", "stop",
}

// String returns the operation's name in the printed form.
func (o Op) String() string {
	if o < ops {
		return opNames[o]
	}
	return "op?"
}
