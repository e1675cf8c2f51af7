// Package model is what the analyses know about libraries: where data comes in,
// where it must not go, what cleans it, and how it passes through calls whose code
// is not part of the program. The knowledge is data,
// frameworks/<language>/<framework>/model.yaml; docs/models.md is its manual.
//
// An entry names something of a library by a dotted name, "java.util.Map.put",
// and says what happens at its places, "arg1 -> this[arg0]". A Set joins models
// and answers what is known of a name.
package model

import "regexp"

// A Model is the knowledge about one framework.
type Model struct {
	Name      string   // "servlet", the folder
	File      string   // for messages
	Languages []string // names of languages
	Entries   []*Entry
}

// A Section says what an entry is about.
type Section uint8

// The sections of a model file.
const (
	Sources     Section = iota // data that somebody else chose
	Sinks                      // places that such data must not reach
	Sanitizers                 // what makes data clean
	Guards                     // questions whose answer tells that data is clean
	Summaries                  // how data passes through a call
	Types                      // what a value is
	Operations                 // calls that the analysis can compute
	Entrypoints                // functions that the framework calls
	Exits                      // functions that do not return
	sections
)

var sectionNames = [sections]string{"sources", "sinks", "sanitizers", "guards", "summaries", "types", "operations",
	"entrypoints", "exits"}

// String returns the section's key in a file.
func (s Section) String() string { return sectionNames[s] }

// A Form says what of the program an entry speaks of.
type Form uint8

// The forms.
const (
	Call       Form = iota // a call of the name
	Value                  // a read of the global, field or property with the name
	Assignment             // a write of it
	Annotation             // what carries the annotation or decorator
	Literal                // a constant of the program's text
)

// All is the kind of a sanitizer or guard that cleans data for every sink.
const All = "all"

// Library is the kind of sources that are the parameters of what a library
// exports. No entry names it: the program itself says what it exports. What a caller
// leaves in a global for other calls is no such source: it is how the program that uses
// the library sets it up.
const Library = "library"

// Kinds of sinks that the analysis itself knows: a key that decides which property of
// an object is set, and an object that is written to, which data must not have picked
// from what others inherit.
const (
	Prototype = "prototype"
	Inherited = "inherited"
)

// Buffer is the kind of sinks where a number is the size of what is made, and a text its
// content.
const Buffer = "buffer"

// OwnKey is the kind of guards that ask whether an object itself has a key. What they
// say of a key holds for the one object, so no caller of a function hears of it.
const OwnKey = "own-key"

// The kinds of sources that regular expressions are, by how the time of a backtracking
// engine grows. No entry names them: the analysis makes them of what expressions say.
const (
	ExponentialExpression = "exponential-expression"
	PolynomialExpression  = "polynomial-expression"
	RescanningExpression  = "rescanning-expression"
)

// Match is the kind of sinks where a text is matched with a regular expression. A rule
// finds something where data of one of its sources meets an expression of another.
const Match = "match"

// Path is the kind of sinks that take the path of a file, and PathStatus that of those
// which only tell what is there: whether it is a folder, and what it holds. Whatever is
// harmless for the one is so for the other.
const (
	Path       = "path"
	PathStatus = "path-status"
)

// An Entry is one line of a model. It is the same whether it stands for one name or for a pattern
// of names.
type Entry struct {
	Section Section
	Kind    string // of a source, sink, sanitizer or guard; the name of an operation
	Form    Form
	Name    string         // may hold "*" (within a part) and "**"
	Literal *regexp.Regexp // of the form Literal
	Places  []Place        // where it applies
	Flows   []Flow         // of a summary
	Type    string         // what the place, or the value, is
	Extends []string       // supertypes of Name
	If      []Condition
	Negated bool // a guard that cleans where it answers no
	Line    int
}

// Agrees reports whether the conditions of a literal hold for its text. All conditions have to be
// met.
func (e *Entry) Agrees(text string) bool {
	for i := range e.If {
		if e.If[i].Like.MatchString(text) == e.If[i].Not {
			return false
		}
	}
	return true
}

// A Flow says that what is at From is afterwards at To too. Summaries are lists of them: the
// analysis copies what it knows from one place to the other.
type Flow struct{ From, To Place }

// A Base is where a place begins.
type Base uint8

// The bases.
const (
	This      Base = iota // the receiver of a call
	Argument              // an argument of a call
	Return                // the result of a call
	Parameter             // a parameter of a function: Self for the annotated one
	Assigned              // the value of an assignment
)

// Special values of Place.Index.
const (
	Any  = -1 // every argument or parameter, named ones too
	Self = -2 // the parameter that carries the annotation
	Only = -3 // no position: the argument has only a name
)

// A Place is a part of a call, or of a function: "arg0:command.env[*]". Paths go into values: a
// field, an element, the result of a callback.
type Place struct {
	Base  Base
	Index int    // of an argument or a parameter, from 0; or Any, Self, Only
	Rest  bool   // this one and those after it: "arg1+"
	Name  string // by which the argument may be given too
	Steps []Step
}

// A StepKind says how a step leads to a part of a value.
type StepKind uint8

// The kinds of steps.
const (
	Field    StepKind = iota // ".name", also a constant key: "['name']"
	Elements                 // "[*]", whatever the key
	Keys                     // "[keys]"
	KeyOf                    // "[arg0]", the key that the argument is
	Append                   // "[+]", behind the last element
	Result                   // "()", of calling the function
	Formal                   // "(0)", a parameter of the function
	Deep                     // ".**", the value and every part of it
)

// A Step is one part of a path.
type Step struct {
	Kind  StepKind
	Name  string // of a Field
	Index int    // of a Formal or KeyOf; Any
}

// A Test is what a condition asks.
type Test uint8

// The tests.
const (
	Is         Test = iota // a Word, or a type
	Equals                 // a constant
	Like                   // a constant that a regular expression matches
	Begins                 // a text whose known beginning a regular expression matches
	Backtracks             // a regular expression whose time grows faster than the text
	Admits                 // a regular expression that lets only some characters pass
	Opens                  // what of an address the data may choose: "start", "host"
	From                   // data that comes from Other, or is a part of it
	Count                  // the number of arguments
	MoreThan               // the number of arguments is greater
	Page                   // the function around answers with what browsers show as a page
)

// Judged reports whether a test does not hold or fail, but says how far an entry goes.
func (t Test) Judged() bool { return t == Opens || t == Backtracks || t == Admits }

// Words that a place can be.
var Words = map[string]bool{
	"string": true, "list": true, "map": true, "number": true, "boolean": true, "function": true,
	"constant": true, "present": true, "absent": true, "null": true, "true": true, "false": true,
	"settled": true, "bare": true, "own": true,
}

// A Condition restricts an entry: "arg0 is not string". Conditions are tested for each call, with
// what is known there.
type Condition struct {
	Place Place
	Test  Test
	Not   bool
	// of Is, Equals (the constant's text), Opens, Backtracks ("", "text", "anchored"), Admits ("", "whole")
	Word  string
	Type  bool           // Is asks for the type Word
	Like  *regexp.Regexp // of Like and Begins
	Count int
	Other Place // of From
}

// OperationNames are the operations that the analysis computes, with what they do.
// The receiver comes first where there is one: "string.length" of "a".length() and
// of len(a) is one operation.
var OperationNames = map[string]string{
	"string.concat":     "joins the receiver and all arguments",
	"string.length":     "the number of characters",
	"string.char":       "the character at an index",
	"string.substring":  "the part from an index to another; they are put in order",
	"string.slice":      "the part from an index to another; negative ones count from the end",
	"string.part":       "a part of the receiver",
	"string.upper":      "in upper case",
	"string.lower":      "in lower case",
	"string.trim":       "without blanks around",
	"string.equals":     "whether two are equal",
	"string.equalsfold": "whether two are equal but for the case",
	"string.contains":   "whether the second is part of the first",
	"string.starts":     "whether the first begins with the second",
	"string.ends":       "whether the first ends with the second",
	"string.index":      "where the second is in the first, -1 for nowhere",
	"string.lastindex":  "where the second is last in the first, -1 for nowhere",
	"string.replace":    "the first with every second replaced by the third",
	"string.repeat":     "the first, a number of times",
	"string.empty":      "whether there is no character",
	"string.split":      "a list of the parts",
	"string.join":       "the elements of a list, or the arguments, joined",
	"string.of":         "the text of the argument",
	"string.format":     "a format and its arguments",
	"string.path":       "joins parts of a path: what stands behind the first cannot choose how it begins",
	"number.parse":      "the number that a text is",
	"buffer.new":        "a text that can change",
	"buffer.append":     "adds to the text and answers it",
	"buffer.insert":     "inserts into the text and answers it",
	"buffer.replace":    "changes the text and answers it",
	"buffer.reverse":    "reverses the text and answers it",
	"buffer.clear":      "empties the text",
	"list.reverse":      "turns the list round and answers it",
	"list.sort":         "puts the elements in an order that is not known, and answers the list",
	"list.splice": "takes a number of elements out from an index on, puts the others there, and answers what " +
		"was taken",
	"list.slice":    "a list of the elements from an index to another",
	"list.concat":   "a list of the elements of the first, and of the others or what they hold",
	"list.append":   "a list of the elements of the first and the others",
	"map.set":       "sets the value of a key and answers the map",
	"map.pairs":     "a map of the pairs that a list holds",
	"call.on":       "keeps a function for what is emitted with the name",
	"call.emit":     "calls the functions that are kept for the name",
	"list.new":      "an empty list",
	"list.of":       "a list of the arguments",
	"list.copy":     "a list, set or array of the elements of the first",
	"list.add":      "adds the arguments at the end",
	"list.prepend":  "adds the argument in front",
	"list.insert":   "inserts at an index",
	"list.addall":   "adds the elements of another",
	"list.get":      "the element at an index",
	"list.set":      "replaces the element at an index",
	"list.remove":   "removes the element at an index and answers it",
	"list.first":    "the first element",
	"list.last":     "the last element",
	"list.pop":      "removes the last element and answers it",
	"list.shift":    "removes the first element and answers it",
	"list.clear":    "removes every element",
	"list.size":     "the number of elements",
	"list.contains": "whether an element is in it",
	"list.elements": "something that yields the elements",
	"map.new":       "an empty map",
	"map.defaults":  "an empty map that makes a collection for a key that is missing",
	"map.put":       "sets the value of a key",
	"map.get":       "the value of a key, or the second argument",
	"map.remove":    "removes a key and answers its value",
	"map.has":       "whether the key is there",
	"map.addall":    "adds the pairs of another",
	"map.keys":      "the keys",
	"map.values":    "the values",
	"map.clear":     "removes every key",
	"object.define": "sets the member of the first with the second as name: the value, or the accessors, that " +
		"the third has",
	"promise.all":     "the promise of a list of what the elements of the first promise",
	"value.promisify": "the function that the first is, with a promise of what it calls back with",
	"state.new": "a list of what a component keeps, at first the argument, and of the function that " +
		"replaces it",
	"object.bare":   "an object that inherits nothing",
	"object.assign": "adds the fields of the others to the first and answers it",
	"value.same":    "the first argument, or the receiver, itself",
	"value.view":    "the receiver in another form: what a guard approves of the one holds for the other",
	"value.relative": "nothing; the second argument as seen from the first: what a guard approves of it holds for " +
		"the argument",
	"value.settle":  "nothing; the condition settled holds for the receiver, and for what it makes",
	"value.address": "nothing; the first argument is parsed as an address, for which its host may stand",
	"value.shared": "nothing; a framework gives objects of the type to several functions, which find in them " +
		"what others have kept there",
	"value.equals":   "whether two are equal",
	"value.not":      "the opposite",
	"value.type":     "the name of the kind of the first",
	"value.property": "the text that a configuration file of the program has for the key, or the second argument",
	"regexp.remove": "the text without what the expression matches, with the last argument instead; with more " +
		"than one character, as any call",
	"value.ends":     "the ends of a pipe: what is written to one is read from the other",
	"regexp.compile": "the regular expression that the first is, with the second as flags",
	"call.apply":     "calls the receiver with a list of arguments",
	"call.call":      "calls the receiver with the arguments; the first is its receiver",
	"call.bind":      "the receiver with arguments set; the first is its receiver",
	"answer.type": "nothing; a function with the annotation answers with the types of content that the " +
		"argument names",
	"call.run":    "calls the method run of the receiver",
	"call.invoke": "calls the first argument with the others",
	"call.reflected": "calls what the receiver stands for in its part value with what the elements of a list " +
		"stand for, and answers a list",
	"call.method": "the method with a name of what the receiver stands for in its part value",
	"number.max":  "the greater one",
	"number.min":  "the smaller one",
	"number.abs":  "without its sign",
}
