package java

import (
	"strings"

	"merlon/internal/engine/sast/lang"
)

var patterns = lang.Patterns{
	Sigil:   true,
	Prepare: prepare,
	Contexts: []lang.Context{
		{Before: "class A { Object f = (", After: "\n); }"}, // an expression
		{Before: "try { } "},                     // "catch", "finally"
		{},                                       // statements, types, imports, methods
		{Before: "class A {\n", After: "\n}"},    // constructors and other members
		{After: "\nclass A {}"},                  // annotations
		{Before: "switch (a) {\n", After: "\n}"}, // "case $X: …"
		{Before: "class A { A() {\n", After: "\n; } }"}, // "super(…)"
		{After: " qza;"}, // a type
		{Before: "class A { void f(", After: ") {} }"}, // parameters
	},
}

// prepare makes a fragment fit for the grammar. An ellipsis is a name already; where
// the grammar wants more than one it becomes a declaration, parameter or case of
// that name. A statement may lack its semicolon and a declaration its body.
func prepare(text string) []string {
	f := fragment{lang.NewFragment(text, "//")}
	text = f.Rewrite(f.token)
	return []string{text, text + ";", text + " { ... ...; }"}
}

type fragment struct{ *lang.Fragment }

// token rewrites what begins at the token.
func (f fragment) token(i int) {
	t := &f.Tokens[i]
	switch {
	case t.Kind == lang.Dots || t.Kind == lang.MetaMany:
		f.many(i)
	case t.Kind == lang.DeepOpen && (f.Text(i+1) == "," || f.Text(i+1) == ">"):
		f.Replace(i, i, "< ... ") // type arguments
	case t.Kind == lang.DeepClose && (f.Text(i-1) == "," || f.Text(i-1) == "<"):
		f.Replace(i, i, "... >")
	case t.Kind == lang.Meta && f.parameter(i):
		f.Replace(i, i, "var "+t.Text)
	case t.Text == "(":
		f.typed(i)
	}
}

// many rewrites an ellipsis or "$...X" that stands where a name is not enough.
func (f fragment) many(i int) {
	t := f.Tokens[i]
	switch f.place(i) {
	case placeStatement:
		end := ";"
		if f.Text(i+1) == ";" {
			end = ""
		}
		start := ""
		if i > 0 && !strings.ContainsAny(f.Text(i-1), "{};:)") || f.Text(i-1) == ")" && !f.headed(i-1) {
			start = "; "
		}
		f.Replace(i, i, start+t.Text+" "+t.Text+end)
	case placeCase:
		f.Replace(i, i, "case "+t.Text+":")
	case placeParameter:
		f.Replace(i, i, t.Text+" "+t.Text)
	case placePair:
		f.Replace(i, i, t.Text+" = "+t.Text)
	case placeFor:
		f.Replace(i, i, t.Text+";;")
	}
}

// A place is where an ellipsis stands, as far as the grammar cares.
type place uint8

const (
	placeName place = iota // a name will do
	placeStatement
	placeCase
	placeParameter
	placePair // of an annotation
	placeFor  // the whole head of a for
)

func (f fragment) place(i int) place {
	inside := f.Tokens[i].Inside
	switch f.Text(inside) {
	case "(":
		return f.parenthesized(i, inside)
	case "{":
		switch f.braces(inside) {
		case "enum", "list":
			return placeName
		case "switch":
			if f.Text(i-1) == "{" {
				return placeCase
			}
		}
		return f.statement(i)
	case "":
		if len(f.Tokens) > 1 {
			return f.statement(i)
		}
	}
	return placeName
}

// statement tells whether the ellipsis is a statement of its own.
func (f fragment) statement(i int) place {
	switch f.Text(i - 1) {
	case "{", "}", ";", "", "else", "do":
		return placeStatement
	case ":":
		if f.labelled(i - 1) {
			return placeStatement
		}
	case ")":
		if f.headed(i-1) || f.Tokens[i].First {
			return placeStatement
		}
	default:
		if f.Tokens[i].First && (i+1 == len(f.Tokens) || f.Tokens[i+1].First) && f.Tokens[i-1].Kind != lang.Sign && f.Text(i-1) != "=" {
			return placeStatement
		}
	}
	return placeName
}

// labelled reports whether the colon ends a label of a switch.
func (f fragment) labelled(i int) bool {
	for i--; i >= 0; i-- {
		switch f.Text(i) {
		case "case", "default":
			return true
		case "?", ";", "{", "}":
			return false
		}
	}
	return false
}

// headed reports whether the closing parenthesis ends the head of a statement.
func (f fragment) headed(i int) bool {
	open := f.Tokens[i].Pair
	if open < 0 {
		return false
	}
	switch f.Text(open - 1) {
	case "if", "for", "while", "synchronized", "switch":
		return true
	}
	return false
}

// braces tells what stands between braces: "list" for an array, "enum", "switch" or
// "" for statements and members.
func (f fragment) braces(open int) string {
	switch f.Text(open - 1) {
	case "]", "=", "(", ",":
		return "list"
	case "{":
		return f.braces(open - 1)
	case ")":
		if p := f.Tokens[open-1].Pair; p > 0 && f.Text(p-1) == "switch" {
			return "switch"
		}
		return ""
	}
	for i := open - 1; i >= 0; i-- {
		switch f.Text(i) {
		case "enum":
			return "enum"
		case ";", "{", "}", ")":
			return ""
		}
	}
	return ""
}

// parenthesized tells the place of an ellipsis between the parentheses.
func (f fragment) parenthesized(i, open int) place {
	closing := f.Tokens[open].Pair
	alone := closing == i+1 && open == i-1
	switch f.Text(open - 1) {
	case "for":
		if alone {
			return placeFor
		}
		return placeName
	case "catch":
		return placeParameter
	}
	switch {
	case f.Text(closing+1) == "->":
		if f.Neighbours(open) {
			return placeParameter
		}
	case f.annotates(open):
		if !alone && f.Within(open, "=") {
			return placePair
		}
	case f.declares(open):
		if before := f.Text(i - 1); before == "(" || before == "," {
			return placeParameter
		}
	}
	return placeName
}

// parameter reports whether the metavariable stands for a parameter whose type does
// not matter.
func (f fragment) parameter(i int) bool {
	inside, before, behind := f.Tokens[i].Inside, f.Text(i-1), f.Text(i+1)
	return f.Text(inside) == "(" && (before == "(" || before == ",") && (behind == ")" || behind == ",") && f.declares(inside)
}

// annotates reports whether the parentheses are those of an annotation.
func (f fragment) annotates(open int) bool {
	first := f.Path(open)
	return first < open && f.Text(first-1) == "@"
}

// notTypes are words before a name that is no declared one.
var notTypes = map[string]bool{
	"new": true, "return": true, "throw": true, "else": true, "case": true, "assert": true, "instanceof": true, "do": true,
	"yield": true, "extends": true, "implements": true,
}

// declares reports whether the parentheses hold the parameters of a method, a
// constructor or a record: a type stands before the name, or a body behind it.
func (f fragment) declares(open int) bool {
	first := f.Path(open)
	if first != open-1 || f.Tokens[open].Pair < 0 {
		return false
	}
	before, behind := f.Text(first-1), f.Text(f.Tokens[open].Pair+1)
	typed := f.Name(first-1) && !notTypes[before] || before == "]" || before == ">"
	switch behind {
	case "{", "throws", "implements":
		return before != "new" && !controls[f.Text(first)]
	case ";", "", "default", "}":
		return typed
	}
	return false
}

// controls are the words whose parentheses are no parameters.
var controls = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "try": true, "synchronized": true}

// typed rewrites "(T $X)", a metavariable with a type: it becomes a call that Restore
// knows, with the type in a cast; on the left of "=", where a call may not stand, an
// index of that call.
func (f fragment) typed(open int) {
	closing := f.Tokens[open].Pair
	if closing < open+3 || f.Tokens[closing-1].Kind != lang.Meta || f.Text(closing+1) == "->" {
		return
	}
	if f.Name(open-1) && !notTypes[f.Text(open-1)] || f.Text(open-1) == ">" {
		return
	}
	var typ strings.Builder
	for i := open + 1; i < closing-1; i++ {
		if t := f.Tokens[i]; !f.Name(i) && !strings.Contains(".<>[],?&...", t.Text) {
			return
		}
		if typ.Len() > 0 && f.Name(i) && f.Name(i-1) {
			typ.WriteByte(' ')
		}
		typ.WriteString(f.Text(i))
	}
	if !f.Name(open+1) || f.Text(closing-2) == "." || f.Text(closing-2) == "," {
		return
	}
	call := lang.TypedName + "((" + typ.String() + ") " + lang.TypedName + ", " + f.Text(closing-1) + ")"
	if f.Text(closing+1) == "=" && f.Text(closing+2) != "=" {
		call += "[" + lang.TypedName + "]"
	}
	f.Replace(open, closing, call)
}
