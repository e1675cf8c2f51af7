package scala

import (
	"strings"

	"merlon/internal/engine/sast/lang"
)

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: preparePattern,
	Finish:  lang.AnyParameters,
	Contexts: []lang.Context{
		{After: "\n"},                         // statements, definitions, imports
		{Before: "class A {\n", After: "\n}"}, // members
		{Before: "a match {\n", After: "\n}"}, // "case $X => …"
		{Before: "try { a } "},                // "catch", "finally"
		{After: "\nclass A"},                  // annotations
		{Before: "val a: ", After: " = b\n"},  // a type
		{Before: "def a(", After: ") = b\n"},  // parameters
		{Before: "f(", After: ")\n"},          // "name = $V"
	},
}

// preparePattern makes a fragment fit for the grammar: an ellipsis among parameters gets a
// type, among cases it becomes a case, and a metavariable with a type becomes a call
// with a type ascription.
func preparePattern(text string) []string {
	f := fragment{lang.NewFragment(text, "//")}
	text = f.Rewrite(f.rewriteToken)
	return []string{text, text + " = ..."}
}

// fragment is a pattern while it is made fit for the grammar of Scala.
type fragment struct{ *lang.Fragment }

// rewriteToken rewrites what begins at the token.
func (f fragment) rewriteToken(i int) {
	t := &f.Tokens[i]
	switch {
	case t.Kind == lang.StringToken && strings.HasPrefix(t.Text, `"=~/`):
		f.Replace(i, i, `""`+t.Text+`""`) // the only quotes that let any backslash stand
	case f.Many(i):
		f.rewriteEllipsis(i)
	case t.Kind == lang.Meta && f.Text(i+1) == ":" && f.Text(t.Inside) == "(" &&
		(f.Text(i-1) == "(" || f.Text(i-1) == ","):
		f.rewriteTyped(i)
	}
}

// rewriteEllipsis rewrites an ellipsis that stands where a name is not enough: it
// becomes a generator of a for, a case or a parameter with a type.
func (f fragment) rewriteEllipsis(i int) {
	t := &f.Tokens[i]
	switch inside := f.Text(t.Inside); {
	case inside == "(" && f.Text(t.Inside-1) == "for":
		f.Replace(i, i, t.Text+" <- "+t.Text)
	case inside == "{" && f.holdsCases(t.Inside) &&
		(f.Text(i-1) == "{" || f.Text(i+1) == "case" && f.Text(i-1) != "=>"):
		f.Replace(i, i, "case "+t.Text+" =>")
	case inside == "(" && f.Alone(i) && f.isParameterList(t.Inside):
		f.Replace(i, i, t.Text+": "+t.Text)
	}
}

// holdsCases reports whether the braces hold cases.
func (f fragment) holdsCases(open int) bool {
	return f.Text(open-1) == "match" || f.Text(open-1) == "catch"
}

// isParameterList reports whether the parentheses hold parameters.
func (f fragment) isParameterList(open int) bool {
	if f.Text(open-1) == ")" { // another list of them
		return f.Tokens[open-1].Pair >= 0 && f.isParameterList(f.Tokens[open-1].Pair)
	}
	if f.Text(open-1) == "]" && f.Tokens[open-1].Pair >= 0 { // type parameters
		open = f.Tokens[open-1].Pair
	}
	before := f.Text(open - 2)
	return before == "def" || before == "class" || f.Text(open-1) == "this" && before == "def"
}

// rewriteTyped rewrites "$X : T" among arguments.
func (f fragment) rewriteTyped(i int) {
	open := f.Tokens[i].Inside
	closing := f.Tokens[open].Pair
	if closing < 0 || f.isParameterList(open) || f.Text(closing+1) == "=>" {
		return
	}
	end := i + 2
	for end < closing && !(f.Text(end) == "," && f.Tokens[end].Inside == open) {
		end++
	}
	if end == i+2 {
		return
	}
	typ := strings.TrimSpace(f.Source(i+2, end-1))
	f.Replace(i, end-1, lang.TypedName+"("+lang.TypedName+": "+typ+", "+f.Text(i)+")")
}
