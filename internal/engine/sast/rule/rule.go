// Package rule reads the rules of the SAST engine: YAML files in the format of
// Semgrep, search and taint mode (https://semgrep.dev/docs/writing-rules/rule-syntax
// and its JSON schema), with one key of our own, model. A rule comes out as plain
// Go values that know no programming language: patterns stay text, with their
// line, and the engine parses them with the grammar of the language.
//
// The reader is strict. An unknown key, option or value is an error that names
// file and line, because a rule that is read wrongly finds nothing and says
// nothing. What the format has and this engine has not (join, extract and steps
// mode) is an error too.
package rule

import (
	"time"

	"merlon/internal/engine/sast/pcre"
	"merlon/internal/finding"
)

// A Rule is one rule of a file. Exactly one of Search and Taint is set; everything else is common
// to both modes.
type Rule struct {
	ID       string
	Path     string // of the file, as given to Parse
	Line     int    // of the rule, from 1
	Message  string // may hold metavariables: see Interpolate
	Severity finding.Severity

	// Languages are canonical names: see Language. A rule for "generic" or "regex"
	// has that name alone.
	Languages []string
	Metadata  map[string]any // free; only JSON's kinds of values
	Include   []string       // globs of paths.include; none means every file
	Exclude   []string       // globs of paths.exclude
	Options   Options

	Fix      string    // replacement text with metavariables; "" for none
	FixRegex *FixRegex // nil for none

	// Exactly one of the two is set.
	Search *Formula
	Taint  *Taint

	MinVersion, MaxVersion string // of the tool that the author had in mind; not ours, kept as written
}

// A FixRegex replaces what an expression matches inside the text of a finding.
type FixRegex struct {
	Regex       *pcre.Regexp
	Replacement string // \1 and \g<1> stand for groups
	Count       int    // how many at most; 0 is all
}

// Engine names of Options.GenericEngine.
const (
	Spacegrep = "spacegrep"
	Aliengrep = "aliengrep"
)

// Options change how a rule is matched. Parse returns them with the defaults of the format where a
// rule says nothing: see DefaultOptions. Options without a meaning in this engine are read and
// dropped; see readOptions.
type Options struct {
	ConstantPropagation bool // a variable that holds one constant matches that constant
	SymbolicPropagation bool // a variable that holds one expression matches that expression

	TaintUnifyMetavariables            bool // one name in source and sink is one value
	TaintAssumeSafeFunctions           bool // a call of an unknown function returns clean data
	TaintAssumeSafeIndexes             bool // a tainted index does not taint the element
	TaintAssumeSafeComparisons         bool // a comparison is clean
	TaintAssumeSafeBooleans            bool // a value of a boolean type is clean
	TaintAssumeSafeNumbers             bool // a value of a number type is clean
	TaintOnlyPropagateThroughAssigning bool // operators and calls do not carry taint
	TaintFocusOnSource                 bool // report the source, not the sink

	// Interfile is nil when the rule says nothing: then data is followed through the
	// whole program. False keeps the analysis of this rule inside one function.
	Interfile *bool
	// Intrafile allows the analysis to follow data between functions of one file.
	Intrafile bool

	ACMatching              bool // operators are associative and commutative where their language has it so
	CommutativeBoolOp       bool // so are && and ||
	SymmetricEq             bool // a == b matches b == a
	VardefAssign            bool // an assignment matches the definition of a variable with a value
	FlddefAssign            bool // … and of a field
	AttrExpr                bool // a call matches an annotation or a decorator
	UnifyIDsStrictly        bool // equal names bound to different things are different
	ArrowIsFunction         bool // a function matches an arrow function
	LetIsVar                bool // var, let and const are one
	DeeperExpr              bool // <... ...> goes through expressions
	DeeperStmt              bool // … goes into nested blocks
	ImplicitDeepExprStmt    bool // an expression statement matches inside a larger one
	ImplicitEllipsis        bool // records may have more fields
	ImplicitReturn          bool // the last expression of a function is what it returns
	DecoratorsOrderMatters  bool
	XMLSingletonLoose       bool // <a/> matches <a></a>
	XMLAttrsImplicitEllips  bool // elements may have more attributes
	XMLChildrenOrdered      bool
	CPPParseAsFunctionFirst bool // T x(a); declares a function

	GenericEngine      string      // Spacegrep or Aliengrep
	GenericMaxSpan     int         // lines that one ellipsis may go beyond the line it begins on
	GenericComments    string      // "", "c", "cpp" or "shell": comments that are no text
	GenericMultiline   bool        // aliengrep: an ellipsis goes over line ends
	GenericBraces      [][2]string // aliengrep: the pairs of braces; nil means the default
	GenericExtraBraces [][2]string // aliengrep: more pairs
	GenericExtraWord   string      // aliengrep: more characters of a word
	GenericCaseless    bool        // aliengrep: case does not matter
	MaxMatchesPerFile  int         // 0 is the limit of the engine

	// TimeoutSeconds bounds the rule on one file; 0 leaves it to the engine's limits.
	// With DynamicTimeout it is multiplied by the file's size in units of TimeoutUnit
	// KB, by 1 at least and by TimeoutFactor at most. See Timeout.
	TimeoutSeconds float64
	DynamicTimeout bool
	TimeoutUnit    int
	TimeoutFactor  int
}

// Timeout returns how long the rule may take on a file of so many bytes, to match its patterns; 0
// is for as long as the engine allows. Large files may take longer when the rule says so.
func (o *Options) Timeout(size int) time.Duration {
	seconds := o.TimeoutSeconds
	if o.DynamicTimeout {
		seconds *= min(max(float64(size)/1024/float64(o.TimeoutUnit), 1), float64(o.TimeoutFactor))
	}
	return time.Duration(seconds * float64(time.Second))
}

// DefaultOptions returns the options of a rule that sets none. They are the defaults that the
// format documents, so that published rules find what their authors tested. Timeouts of 0 are
// those of the scan.
func DefaultOptions() Options {
	return Options{
		ConstantPropagation: true,
		ACMatching:          true, VardefAssign: true, AttrExpr: true, UnifyIDsStrictly: true,
		ArrowIsFunction: true, LetIsVar: true, DeeperExpr: true, DeeperStmt: true,
		ImplicitDeepExprStmt: true, ImplicitEllipsis: true, ImplicitReturn: true,
		XMLSingletonLoose: true, XMLAttrsImplicitEllips: true, XMLChildrenOrdered: true,
		GenericEngine: Spacegrep, GenericMaxSpan: 10, GenericMultiline: true,
		TimeoutUnit: 30, TimeoutFactor: 20,
	}
}
