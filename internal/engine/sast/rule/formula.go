package rule

import (
	"fmt"
	"strings"

	"merlon/internal/engine/sast/pcre"
)

// An Op says what a Formula is.
type Op uint8

// The operators. The older spelling of the format is on the right, then the newer.
const (
	OpPattern  Op = iota + 1 // pattern; a string
	OpRegex                  // pattern-regex; regex. Every pattern of a rule for the language "regex"
	OpAll                    // patterns; all: a conjunction
	OpAny                    // pattern-either; any
	OpNot                    // pattern-not; not. One child; only directly below OpAll
	OpInside                 // pattern-inside; inside. One child
	OpAnywhere               // semgrep-internal-pattern-anywhere; anywhere. One child: the file holds it somewhere
)

// A Formula is a tree of conditions on ranges of a file. pattern-not-inside is
// OpNot of OpInside, pattern-not-regex is OpNot of OpRegex.
type Formula struct {
	Op       Op
	Line     int          // in the rule file, from 1; for a block of text, of its first line of text
	Text     string       // OpPattern: the pattern. OpRegex: the expression
	Regex    *pcre.Regexp // OpRegex: compiled; ^ and $ match at lines
	Children []*Formula   // OpAll, OpAny: at least one for OpAny. OpNot, OpInside, OpAnywhere: one

	// Where holds conditions on what the formula matched. The older spelling has them
	// only below patterns.
	Where []Condition
	// Focus moves the range of a match to metavariables. Each element is one
	// focus-metavariable: a list of names, any of which may be the range (union);
	// several elements intersect.
	Focus [][]string
	As    string // binds the range to this metavariable; "" for none
	Fix   string // replacement for what this formula matched; "" for none
}

// A ConditionKind says what a Condition asks.
type ConditionKind uint8

// The kinds of conditions, with the fields of Condition that they use.
const (
	CondRegex    ConditionKind = iota + 1 // metavariable-regex: Regex, ConstantPropagation
	CondFormula                           // metavariable-pattern: Formula, Language
	CondCompare                           // metavariable-comparison: Expr. Metavariable may be ""
	CondType                              // metavariable-type: Types, Language
	CondAnalysis                          // metavariable-analysis: Analyzer, Mode
	CondName                              // metavariable-name: Modules
)

// Analyzers of CondAnalysis.
const (
	Entropy   = "entropy"
	EntropyV2 = "entropy_v2" // Mode is "lax", "default" or "strict"
	ReDoS     = "redos"
)

// A Condition asks something of the text, or the node, that a metavariable is
// bound to.
type Condition struct {
	Kind         ConditionKind
	Line         int
	Metavariable string // with its sigil: "$X", "$...ARGS"

	// Regex is anchored: Regex.Match asks whether it matches at the start of the text
	// of the metavariable, as re.match of Python does.
	Regex               *pcre.Regexp
	ConstantPropagation bool // the constant that the metavariable is known to hold counts as its text

	Formula  *Formula
	Language string // canonical; "" is the language of the rule

	Expr *Expr

	Types []string // one of them; text, in the syntax of the language

	Analyzer string
	Mode     string

	Modules []string // the name is defined in one of them
}

var opNames = map[Op]string{
	OpPattern: "pattern", OpRegex: "regex", OpAll: "all", OpAny: "any", OpNot: "not", OpInside: "inside",
	OpAnywhere: "anywhere",
}

// String returns the formula as one line, for tests and for people who look for a
// fault:
//
//	(all (pattern "f($X)") (not (inside (pattern "g(...)"))) where[regex $X "a"] focus[$X])
func (f *Formula) String() string {
	var out strings.Builder
	out.WriteString("(" + opNames[f.Op])
	if f.Op == OpPattern || f.Op == OpRegex {
		fmt.Fprintf(&out, " %q", f.Text)
	}
	for _, c := range f.Children {
		out.WriteString(" " + c.String())
	}
	for _, c := range f.Where {
		out.WriteString(" where[" + c.String() + "]")
	}
	for _, names := range f.Focus {
		out.WriteString(" focus[" + strings.Join(names, "|") + "]")
	}
	if f.As != "" {
		out.WriteString(" as " + f.As)
	}
	if f.Fix != "" {
		fmt.Fprintf(&out, " fix %q", f.Fix)
	}
	return out.String() + ")"
}

// String returns the condition in a few words. It is part of the key by which results of equal
// formulas are shared, so two conditions with one text must be the same.
func (c Condition) String() string {
	text := ""
	switch c.Kind {
	case CondRegex:
		text = fmt.Sprintf("regex %s %q", c.Metavariable, c.Regex)
		if c.ConstantPropagation {
			text += " constant"
		}
	case CondFormula:
		text = fmt.Sprintf("formula %s %v", c.Metavariable, c.Formula)
	case CondCompare:
		text = fmt.Sprintf("compare %v", c.Expr)
	case CondType:
		text = fmt.Sprintf("type %s %s", c.Metavariable, strings.Join(c.Types, "|"))
	case CondAnalysis:
		text = fmt.Sprintf("analysis %s %s %s", c.Metavariable, c.Analyzer, c.Mode)
	case CondName:
		text = fmt.Sprintf("name %s %s", c.Metavariable, strings.Join(c.Modules, "|"))
	}
	if c.Language != "" {
		text += " in " + c.Language
	}
	return text
}
