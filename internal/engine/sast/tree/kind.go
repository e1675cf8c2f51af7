package tree

// A Kind says what a node is.
type Kind uint8

// The kinds. Each comment gives the text and the children by role, in order;
// "?" is optional, "*" any number. A child's role without "Role" in front.
const (
	Invalid Kind = iota

	// File: Statement*. The root of a file. The root of a pattern is the pattern's
	// node itself, or a Block when it is several statements.
	FileKind

	// Package: the declaration of the file's package; text is the dotted name.
	// Name (Name or Member).
	Package
	// Import binds one name; text is the module ("os.path", "java.util.List",
	// "./db"). Path (Name, Member or String), Name? (what is taken from the module:
	// "default" and "*" for everything; none when it is the module itself), Alias?
	// (the name it is bound to when that is not the last part). An import of several
	// names is several nodes with the same range.
	Import
	// Export makes something of the file visible under a name, without declaring it
	// (a declaration that is exported has the Modifier "export", and "default" too);
	// text is the module of what is only passed on, else "". Path? (String: that
	// module), Name (the name outside: "default"; "=" for the whole module; "*" for
	// every name of Path), Value? (an expression; a Name of the file, or of Path,
	// where "*" is the whole module). An export of several names is several nodes with
	// the same range.
	Export

	// Function is a declared function or method; text is "function", "method",
	// "constructor", "getter", "setter", "destructor" or "initializer" (code of a class
	// that runs when an object is made or, with the Modifier "static", when the class is
	// loaded; it has no Name). Annotation*, Modifier*,
	// TypeParameter*, Receiver? (Go's, a Parameter), Name (may be an expression, in
	// JavaScript; a computed one is a Sequence of one), Parameter*, ReturnType?,
	// Throws*, Body? (a Block, or an expression).
	Function
	// Lambda is a function value; text is "block" for the block behind a call (Ruby),
	// which patterns may leave out. Annotation*, Modifier* ("async"), Name? (of a named
	// function expression), Parameter*, ReturnType?, Body (a Block or an expression).
	Lambda
	// Class is any declared type with members; text is "class", "interface", "enum",
	// "record", "struct", "trait", "module", "object" or "annotation". Annotation*,
	// Modifier*, Name?, TypeParameter*, Parameter* (of the type itself), Base*
	// (superclasses; a Type, or an expression, or a Keyword), Interface*, Body?
	// (a Block of Fields, Functions and so on).
	Class
	// Variable declares variables; text is the keyword ("var", "let", "const",
	// "val", "final"), ":=" or "". Annotation*, Modifier*, Type?, Target (a Name, or a
	// Tuple, List or Map as a pattern), Value?. "int a, b = 1" is two nodes.
	Variable
	// Field is a member variable of a Class; as Variable. An enum constant is one with
	// the text "enum", whose Value is a New, if it has arguments.
	Field
	// Parameter of a function; text is "", "*" (rest), "**" (keywords), "&" (Ruby's
	// block) or "/"; a lone
	// "*" of Python has no Target. Annotation*, Modifier*, Type?, Target?, Value? (the
	// default).
	Parameter
	// TypeParameter: Name, Base*.
	TypeParameter
	// Annotation is an annotation, decorator or attribute. Value (a Name, Member,
	// Call or other expression).
	Annotation
	// Modifier: text is the word.
	Modifier
	// TypeAlias: Modifier*, Name, TypeParameter*, Type.
	TypeAlias

	// Block: Statement*.
	Block
	// ExpressionStatement: Value.
	ExpressionStatement
	// If: Init?, Condition, Then, Else?. "else if" is an If as Else.
	If
	// While: Condition, Body, Else?.
	While
	// DoWhile: Body, Condition.
	DoWhile
	// For counts: Init*, Condition?, Update*, Body.
	For
	// ForEach: Target (Variable, Name or a pattern; none when the values are not
	// wanted), Iterable, Body, Else?. Text is "in" (keys, as JavaScript's) or "of"
	// (values), "range" for Go, where the Target is a Tuple of key and value.
	ForEach
	// Switch: Init?, Value?, Case*. Text is "fallthrough" when a case runs into the
	// next one, else "".
	Switch
	// Case of a Switch; text is "default" for the default. Condition* (expressions or
	// patterns; "T name" is a Variable), Guard?, Body (a Block). Where the Switch is an
	// expression, a Yield or the only ExpressionStatement of an Implied Body is its value.
	Case
	// Try: Resource*, Body, Handler*, Else?, Finally?.
	Try
	// Catch: Type* (Types, or expressions where classes are values), Target? (a Name or
	// pattern), Guard?, Body. Text is "*" for Python's "except*".
	Catch
	// With runs its body with resources; text is the keyword ("with", "using",
	// "synchronized", "lock", "unsafe"). Resource* (a Variable with Target and Value,
	// or an expression), Body.
	With
	// Return: Value?.
	Return
	// Throw: Value?. The cause in Python's "raise e from cause" is a second Value.
	Throw
	// Break: Label?.
	Break
	// Continue: Label?.
	Continue
	// Goto: Label.
	Goto
	// Label: Name, Body.
	Label
	// Defer runs at the end of the function: Value.
	Defer
	// Spawn runs beside: Value.
	Spawn
	// Assert: Condition, Value?.
	Assert
	// Delete: Value*.
	Delete
	// Global declares names as those of an outer scope; text is "global" or
	// "nonlocal". Name*.
	Global
	// Empty does nothing: ";", "pass".
	Empty

	// Name is an identifier; text is its name.
	Name
	// String: text is its value, with escapes resolved; invalid escapes stay.
	String
	// Template is a string with parts; Part* (Strings and expressions).
	Template
	// Number: text as in the source, without digit separators and suffixes.
	Number
	// Character: text is its value.
	Character
	// Bool: text is "true" or "false".
	Bool
	// Null: null, nil, None, undefined; text as in the source.
	Null
	// Regex is a literal regular expression: text is the expression with its slashes
	// and flags as in the source. Part* where expressions are in it.
	Regex
	// Call: Callee, Argument* (expressions, Keywords, Spreads). A call of a method has
	// a Member as Callee. A tagged template is a Call with the text "tag". A call of a
	// block language (Ruby, Kotlin, Scala) has its trailing Lambda as last Argument.
	// Modifier* are Keywords that are no arguments and that patterns may leave out: the
	// redirections of a command, the flags of an instruction of a Dockerfile.
	Call
	// New makes an object: Object? (the outer one, of Java's "o.new T()"), Type (a Type
	// or an expression), Argument*, Body? (of an anonymous class, a Block). Text is
	// "new", or "{}" for a literal with its type (Go's, Java's "new T[]{…}"), whose
	// Arguments are Keywords or Pairs or values.
	New
	// Keyword is a named argument: Name, Value.
	Keyword
	// Spread: text is "*", "**", "..." or "&" (Ruby's block); Value.
	Spread
	// Member: Object, Property (a Name; in patterns anything). Text is "." or the
	// operator of the source ("::", "->"). A Member without Property is the method
	// chain ellipsis of patterns, "$X. ... .m()".
	Member
	// Index: Object, Index* (expressions, Slices).
	Index
	// Slice: Low?, High?, Step?.
	Slice
	// Assign: text is the operator, "=", "+=" and so on; Target, Value.
	Assign
	// Binary: text is the operator as in the source; Left, Right.
	Binary
	// Unary: text is the operator as in the source; Value.
	Unary
	// Update: text is "++" or "--"; Value; flag Postfix.
	Update
	// Conditional: Condition, Then, Else.
	Conditional
	// Cast: Type, Value. Text is "as" where the source says so.
	Cast
	// TypeTest: Value, Type, Target?. Text is the operator.
	TypeTest
	// List: Element*. In a pattern of names (the Target of a Variable, Parameter or
	// Assign) a Spread is the rest, an Assign a name with its default, and Empty an
	// element that is not wanted; the same holds for Tuple and Map.
	List
	// Set: Element*.
	Set
	// Tuple: Element*.
	Tuple
	// Map: Element* (Pairs, Spreads, Functions).
	Map
	// Pair: Key, Value. The Key is an expression: where the language takes a bare word
	// for a string (JavaScript's {a: 1}) it is a String with Implied. A short "{a}" has
	// Implied on its Value too.
	Pair
	// Comprehension: text is "list", "set", "map" or "generator"; Value, Clause*.
	Comprehension
	// Clause: Target, Iterable, Condition*.
	Clause
	// Sequence is the comma operator: Element*.
	Sequence
	// Await: Value.
	Await
	// Yield: Value?. Text is "from" or "*" for a delegating one.
	Yield
	// This is the receiver: this, or self where the language has the keyword. Text is
	// "", or the class of "Outer.this".
	This
	// Super is the superclass' part of the receiver; text as that of This.
	Super
	// Type is a reference to a type. Text is the dotted name; "[]" for an array (Element),
	// "*" for a pointer (Element), "|" for a union (Element*), "func" for a function
	// type (Parameter*, ReturnType?), "map" and "chan" (Element*), "&" for an
	// intersection, "()" for a tuple, "{}" for members (Fields, Functions), "?" for
	// one that may be missing (Element*), else the operator of the source (Element*).
	// Argument* are the type arguments.
	Type
	// Element is an element of a mark-up language; text is its name. Name, Attribute*,
	// Part* (Elements, Strings, expressions).
	Element
	// Attribute of an Element: Name, Value?. A Spread may stand in its place.
	Attribute

	// Other is a construct without a generic kind; text is the grammar's name for it.
	// Any children, with roles where they are known.
	Other
	// Token is a word or sign that tells two Others apart; text is itself.
	Token
	// Error holds source that was not understood: any children.
	Error

	// Ellipsis is "..." in a pattern: any number of anything.
	Ellipsis
	// Metavariable is "$X" in a pattern; text with the "$"; "$_" too.
	Metavariable
	// MetaEllipsis is "$...X" in a pattern; text with the "$...".
	MetaEllipsis
	// Deep is "<... e ...>" in a pattern: Value.
	Deep
	// Typed is a metavariable with a type, "(T $X)" or "($X : T)": Type, Value (the
	// Metavariable).
	Typed

	kinds // their number
)

// A Role says what a node is to its parent.
type Role uint8

// The roles.
const (
	RoleNone Role = iota
	RoleStatement
	RoleName
	RolePath
	RoleAlias
	RoleAnnotation
	RoleModifier
	RoleTypeParameter
	RoleReceiver
	RoleParameter
	RoleReturnType
	RoleThrows
	RoleBase
	RoleInterface
	RoleType
	RoleTarget
	RoleValue
	RoleBody
	RoleInit
	RoleCondition
	RoleThen
	RoleElse
	RoleUpdate
	RoleIterable
	RoleCase
	RoleGuard
	RoleResource
	RoleHandler
	RoleFinally
	RoleLabel
	RolePart
	RoleCallee
	RoleArgument
	RoleObject
	RoleProperty
	RoleIndex
	RoleLow
	RoleHigh
	RoleStep
	RoleLeft
	RoleRight
	RoleElement
	RoleKey
	RoleClause
	RoleAttribute

	roles // their number
)

// kindNames are the names of kinds, by their number.
var kindNames = [kinds]string{
	"Invalid", "File", "Package", "Import", "Export", "Function", "Lambda", "Class", "Variable", "Field", "Parameter",
	"TypeParameter",
	"Annotation", "Modifier", "TypeAlias", "Block", "ExpressionStatement", "If", "While", "DoWhile", "For", "ForEach",
	"Switch",
	"Case", "Try", "Catch", "With", "Return", "Throw", "Break", "Continue", "Goto", "Label", "Defer", "Spawn", "Assert",
	"Delete", "Global", "Empty", "Name", "String", "Template", "Number", "Character", "Bool", "Null", "Regex", "Call",
	"New",
	"Keyword", "Spread", "Member", "Index", "Slice", "Assign", "Binary", "Unary", "Update", "Conditional", "Cast",
	"TypeTest",
	"List", "Set", "Tuple", "Map", "Pair", "Comprehension", "Clause", "Sequence", "Await", "Yield", "This", "Super",
	"Type",
	"Element", "Attribute", "Other", "Token", "Error", "Ellipsis", "Metavariable", "MetaEllipsis", "Deep", "Typed",
}

// roleNames are the names of roles, by their number.
var roleNames = [roles]string{
	"", "statement", "name", "path", "alias", "annotation", "modifier", "typeparameter", "receiver", "parameter",
	"returntype",
	"throws", "base", "interface", "type", "target", "value", "body", "init", "condition", "then", "else", "update",
	"iterable",
	"case", "guard", "resource", "handler", "finally", "label", "part", "callee", "argument", "object", "property",
	"index",
	"low", "high", "step", "left", "right", "element", "key", "clause", "attribute",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "Kind?"
}

// String returns the role's name, in lower case; "" for RoleNone.
func (r Role) String() string {
	if r < roles {
		return roleNames[r]
	}
	return "role?"
}

// Known reports whether there is such a kind.
func (k Kind) Known() bool { return k > Invalid && k < kinds }

// Known reports whether there is such a role.
func (r Role) Known() bool { return r < roles }

// Expression reports whether a node of the kind has a value.
func (k Kind) Expression() bool {
	return k >= Name && k <= Super || k == Element || k == Deep || k == Typed
}

// Statement reports whether a node of the kind stands among statements.
func (k Kind) Statement() bool { return k >= Package && k <= Empty && k != Parameter && k != Modifier }
