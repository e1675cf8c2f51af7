package rule

import "strings"

// Taint is what a rule in taint mode says.
type Taint struct {
	Sources     []Source
	Sinks       []Sink
	Sanitizers  []Sanitizer
	Propagators []Propagator
	Model       *Model // nil for none
}

// A Model names knowledge of the build: our own key,
//
//	model: {sources: [remote], sinks: [sql]}
//
// It adds the sources and sinks of those kinds, with their sanitizers and
// summaries, to those of the rule.
// A rule with a model needs no patterns at all; the two kinds are joined.
type Model struct {
	Line           int
	Sources, Sinks []string
	// Behind asks for data with something before it: a name below a folder, and not a
	// whole path.
	Behind bool
}

// A SideEffect says whether matching also changes the taint of the variable that
// the match stands on, and so of what follows it.
type SideEffect uint8

// by-side-effect of the format.
const (
	SideEffectNo   SideEffect = iota
	SideEffectYes             // the value and the variable
	SideEffectOnly            // the variable alone, from there on
)

// A Source is where tainted data comes from. The keys beyond the formula are those of the format,
// with its defaults.
type Source struct {
	Formula      *Formula
	Line         int
	Label        string     // "" for the one that rules without labels have
	Requires     *LabelExpr // the label is given only if the data already has these; nil for none
	BySideEffect SideEffect // of x in f(x): x is tainted from there on
	Control      bool       // what runs after it is tainted, whatever the data
	Exact        bool       // only the range itself, not what is inside it
}

// A Sink is where tainted data must not arrive. Which data counts may be said for the whole of it,
// or for single metavariables.
type Sink struct {
	Formula  *Formula
	Line     int
	Requires *LabelExpr // on the data that arrives; nil: any taint
	// RequiresEach asks this of metavariables instead: all must hold.
	RequiresEach []MetavariableRequires
	Exact        bool // default true: the range itself must be tainted; false: anything inside it
	AtExit       bool // counts only where the function ends
}

// MetavariableRequires is one element of a list below requires of a sink.
type MetavariableRequires struct {
	Metavariable string
	Requires     *LabelExpr
}

// A Sanitizer makes data clean. It counts for every source and sink of the rule.
type Sanitizer struct {
	Formula        *Formula
	Line           int
	BySideEffect   SideEffect // the variable is clean from there on
	Exact          bool       // only the range itself, not what is inside it
	NotConflicting bool       // does not count where it matches the very range of a source or sink
}

// A Propagator carries taint from one metavariable to another.
type Propagator struct {
	Formula       *Formula
	Line          int
	From, To      string     // metavariables
	BySideEffect  SideEffect // default SideEffectYes
	Label         string     // given to what arrives; "" keeps the labels
	Requires      *LabelExpr // nil: any taint
	ReplaceLabels []string   // only these labels are replaced by Label; nil: all
}

// A LabelOp says what a LabelExpr is.
type LabelOp uint8

// The operators of label expressions.
const (
	LabelIs    LabelOp = iota + 1 // Label is among the labels
	LabelNot                      // not its one argument
	LabelAnd                      // all arguments
	LabelOr                       // any argument
	LabelConst                    // True or False: Value
)

// A LabelExpr is a boolean expression over labels, such as "A and not B".
type LabelExpr struct {
	Op    LabelOp
	Label string
	Value bool
	Args  []*LabelExpr
}

// Eval says whether the expression holds of data for which has tells the labels. Evaluation is
// lazy, but has no effects.
func (e *LabelExpr) Eval(has func(label string) bool) bool {
	switch e.Op {
	case LabelIs:
		return has(e.Label)
	case LabelNot:
		return !e.Args[0].Eval(has)
	case LabelAnd:
		for _, a := range e.Args {
			if !a.Eval(has) {
				return false
			}
		}
		return true
	case LabelOr:
		for _, a := range e.Args {
			if a.Eval(has) {
				return true
			}
		}
		return false
	}
	return e.Value
}

// String returns the expression with all parentheses. Without them "A and B or C" would be read in
// two ways. It is read back as the same expression.
func (e *LabelExpr) String() string {
	switch e.Op {
	case LabelIs:
		return e.Label
	case LabelNot:
		return "not " + e.Args[0].String()
	case LabelConst:
		if e.Value {
			return "True"
		}
		return "False"
	}
	words := make([]string, len(e.Args))
	for i, a := range e.Args {
		words[i] = a.String()
	}
	if e.Op == LabelAnd {
		return "(" + strings.Join(words, " and ") + ")"
	}
	return "(" + strings.Join(words, " or ") + ")"
}
