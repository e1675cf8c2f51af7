package kotlin

import (
	"regexp"

	"merlon/internal/engine/sast/lang"
)

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: preparePattern,
	Finish:  lang.AnyParameters,
	Contexts: []lang.Context{
		{After: "\nclass A", Only: regexp.MustCompile(`^@`)}, // annotations, and what has some
		{},                                     // statements, declarations, imports
		{Before: "class A {\n", After: "\n}"},  // members
		{Before: "try { } ", After: ""},        // "catch", "finally"
		{Before: "when (a) {\n", After: "\n}"}, // "$X -> …"
		{Before: "val a: ", After: "\n"},       // a type
		{Before: "fun a(", After: ") {}"},      // parameters
		{Before: "f(", After: ")"},             // "name = $V"
	},
}

// preparePattern makes a fragment fit for the grammar: an ellipsis among parameters gets a
// type, and a metavariable with a type becomes a call with a cast.
func preparePattern(text string) []string {
	f := fragment{lang.NewFragment(text, "//")}
	text = f.Rewrite(f.rewriteToken)
	return []string{text, text + " {}"}
}

// fragment is a pattern while it is made fit for the grammar of Kotlin.
type fragment struct{ *lang.Fragment }

// rewriteToken rewrites what begins at the token.
func (f fragment) rewriteToken(i int) {
	t := &f.Tokens[i]
	switch {
	case t.Text == "(":
		f.rewriteTyped(i)
	case f.Many(i) && f.Text(t.Inside) == "(" && f.Alone(i) && f.isParameterList(t.Inside):
		f.Replace(i, i, t.Text+": "+t.Text)
	}
}

// isParameterList reports whether the parentheses hold the parameters of a function or a
// class.
func (f fragment) isParameterList(open int) bool {
	first := f.Path(open)
	before := f.Text(first - 1)
	if f.Text(first-1) == ">" { // type parameters
		return true
	}
	return before == "fun" || before == "class" || f.Text(open-1) == "fun" || f.Text(open-1) == "constructor"
}

// rewriteTyped rewrites "($X: T)".
func (f fragment) rewriteTyped(open int) {
	closing := f.Tokens[open].Pair
	if closing < open+4 || f.Tokens[open+1].Kind != lang.Meta || f.Text(open+2) != ":" || f.Within(open, ",") {
		return
	}
	switch {
	case f.isParameterList(open), f.Text(open-1) == "catch", f.Text(closing+1) == "->":
		return
	case f.Name(open-1) && f.Text(open-1) != "return" && f.Text(open-1) != "in":
		return
	}
	f.Replace(open, closing, lang.TypedName+"("+lang.TypedName+" as "+f.Source(open+3, closing-1)+", "+f.Text(open+1)+
		")")
}
