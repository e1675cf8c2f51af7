package golang

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: preparePattern,
	Contexts: []lang.Context{
		// an expression
		{Before: "package a\nvar a = (", After: "\n)\n"},
		// "{key: $V}"
		{Before: "var a = []" + lang.EllipsisName + "{", After: "}\n", Only: regexp.MustCompile(`^\{[^{}]*:`)},
		// "key: $V"
		{Before: "var a = T{", After: "}\n"},
		// statements and declarations
		{After: "\n"},
		// a type
		{Before: "var a ", After: "\n"},
		// "case $X: …"
		{Before: "switch {\n", After: "\n}\n"},
		// "case <-$X: …"
		{Before: "select {\n", After: "\n}\n"},
		// "$F $T `tag`"
		{Before: "type a struct {\n", After: "\n}\n"},
		// "$F(...) $T"
		{Before: "type a interface {\n", After: "\n}\n"},
		// parameters
		{Before: "func a(", After: ") {}\n"},
	},
}

// preparePattern makes a fragment fit for the grammar. Where an ellipsis as a name alone
// would be a type or belong to its neighbour, it becomes a parameter or a field; a
// metavariable with a type becomes a call with a type assertion.
func preparePattern(text string) []string {
	f := fragment{lang.NewFragment(text, "//")}
	text = f.Rewrite(f.rewriteToken)
	return []string{text}
}

// fragment is a pattern while it is made fit for the grammar of Go.
type fragment struct{ *lang.Fragment }

// rewriteToken rewrites what begins at the token.
func (f fragment) rewriteToken(i int) {
	t := &f.Tokens[i]
	switch {
	case f.Text(i) == "(":
		f.rewriteTyped(i)
	case !f.Many(i):
	case f.Text(i-1) == "case" && f.Text(i+1) != ":":
		f.Replace(i, i, t.Text+":")
	case f.Text(t.Inside) == "(" && f.Text(t.Inside-1) == "import": // a group is its imports, each for itself
		f.Replace(i, i, "")
	case t.Kind == lang.Dots && f.isSpread(i):
		f.Replace(i, i, lang.RealDots)
	case f.isField(i), f.Alone(i) && f.Text(t.Inside) == "(" && f.isParameterList(t.Inside):
		f.Replace(i, i, t.Text+" "+t.Text)
	case f.Text(i-1) == "for" && f.Text(i+1) == "{":
		f.Replace(i, i, t.Text+"; ; ")
	}
}

// isSpread reports whether the dots are Go's own: behind an argument, or before the
// type of a parameter or the brackets of an array.
func (f fragment) isSpread(i int) bool {
	before, behind := f.Text(i-1), f.Text(i+1)
	switch {
	case before == "[" && behind == "]" && f.Tokens[i].Inside >= 0:
		return f.Name(i+2) && f.Text(f.Tokens[i].Inside-1) != ")" && !f.Name(f.Tokens[i].Inside-1)
	case behind == ")" && before != "(" && before != ",":
		return i > 0 && f.Tokens[i].Start == f.Tokens[i-1].End
	case f.Name(i-1) && (f.Name(i+1) || behind == "*" || behind == "[") && f.Text(f.Tokens[i].Inside) == "(":
		return true
	}
	return false
}

// isField reports whether the ellipsis stands for fields of a struct.
func (f fragment) isField(i int) bool {
	open := f.Tokens[i].Inside
	return f.Text(open) == "{" && f.Text(open-1) == "struct" && f.Text(i-1) != "," && f.Text(i+1) != ","
}

// isParameterList reports whether the parentheses hold parameters or results of a function.
func (f fragment) isParameterList(open int) bool {
	switch before := f.Text(open - 1); {
	case before == "func":
		return true
	case before == ")": // results, which are types unless they have names
		p := f.Tokens[open-1].Pair
		return p >= 0 && f.isParameterList(p) && f.Neighbours(open)
	case f.Name(open - 1):
		if f.Text(open-2) == "func" {
			return true
		}
		return f.Text(open-2) == ")" && f.Tokens[open-2].Pair >= 0 && f.Text(f.Tokens[open-2].Pair-1) == "func"
	case before == "]": // type parameters
		p := f.Tokens[open-1].Pair
		return p >= 2 && f.Text(p-2) == "func"
	}
	return false
}

// rewriteTyped rewrites "($X : T)".
func (f fragment) rewriteTyped(open int) {
	closing := f.Tokens[open].Pair
	if closing < open+4 || f.Tokens[open+1].Kind != lang.Meta || f.Text(open+2) != ":" {
		return
	}
	if f.Name(open-1) && f.Text(open-1) != "return" {
		return
	}
	typ := strings.TrimSpace(f.Source(open+3, closing-1))
	f.Replace(open, closing, lang.TypedName+"("+lang.TypedName+".("+typ+"), "+f.Text(open+1)+")")
}
