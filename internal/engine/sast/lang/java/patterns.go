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
	f := &fragment{tokens: lang.Tokens(text, "//")}
	for i := range f.tokens {
		f.token(i)
	}
	text = strings.TrimSpace(lang.Apply(text, f.edits))
	return []string{text, text + ";", text + " { ... ...; }"}
}

type fragment struct {
	tokens []lang.Token
	edits  []lang.Edit
	until  int // tokens before this one are in an edit already
}

// replace replaces the token.
func (f *fragment) replace(i int, text string) {
	f.edits = append(f.edits, lang.Edit{Start: f.tokens[i].Start, End: f.tokens[i].End, Text: text})
}

// text returns the text of a token, "" beyond both ends.
func (f *fragment) text(i int) string {
	if i < 0 || i >= len(f.tokens) {
		return ""
	}
	return f.tokens[i].Text
}

// token rewrites what begins at the token.
func (f *fragment) token(i int) {
	t := &f.tokens[i]
	switch {
	case i < f.until:
	case t.Kind == lang.Dots || t.Kind == lang.MetaMany:
		f.many(i)
	case t.Kind == lang.DeepOpen && (f.text(i+1) == "," || f.text(i+1) == ">"):
		f.replace(i, "< ... ") // type arguments
	case t.Kind == lang.DeepClose && (f.text(i-1) == "," || f.text(i-1) == "<"):
		f.replace(i, "... >")
	case t.Kind == lang.Meta && f.parameter(i):
		f.replace(i, "var "+t.Text)
	case t.Text == "(":
		f.typed(i)
	}
}

// many rewrites an ellipsis or "$...X" that stands where a name is not enough.
func (f *fragment) many(i int) {
	t := f.tokens[i]
	switch f.place(i) {
	case placeStatement:
		end := ";"
		if f.text(i+1) == ";" {
			end = ""
		}
		start := ""
		if i > 0 && !strings.ContainsAny(f.text(i-1), "{};:)") || f.text(i-1) == ")" && !f.headed(i-1) {
			start = "; "
		}
		f.replace(i, start+t.Text+" "+t.Text+end)
	case placeCase:
		f.replace(i, "case "+t.Text+":")
	case placeParameter:
		f.replace(i, t.Text+" "+t.Text)
	case placePair:
		f.replace(i, t.Text+" = "+t.Text)
	case placeFor:
		f.replace(i, t.Text+";;")
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

func (f *fragment) place(i int) place {
	inside := f.tokens[i].Inside
	switch f.text(inside) {
	case "(":
		return f.parenthesized(i, inside)
	case "{":
		switch f.braces(inside) {
		case "enum", "list":
			return placeName
		case "switch":
			if f.text(i-1) == "{" {
				return placeCase
			}
		}
		return f.statement(i)
	case "":
		if len(f.tokens) > 1 {
			return f.statement(i)
		}
	}
	return placeName
}

// statement tells whether the ellipsis is a statement of its own.
func (f *fragment) statement(i int) place {
	switch f.text(i - 1) {
	case "{", "}", ";", "", "else", "do":
		return placeStatement
	case ":":
		if f.labelled(i - 1) {
			return placeStatement
		}
	case ")":
		if f.headed(i-1) || f.tokens[i].First {
			return placeStatement
		}
	default:
		if f.tokens[i].First && (i+1 == len(f.tokens) || f.tokens[i+1].First) && f.tokens[i-1].Kind != lang.Sign && f.text(i-1) != "=" {
			return placeStatement
		}
	}
	return placeName
}

// labelled reports whether the colon ends a label of a switch.
func (f *fragment) labelled(i int) bool {
	for i--; i >= 0; i-- {
		switch f.text(i) {
		case "case", "default":
			return true
		case "?", ";", "{", "}":
			return false
		}
	}
	return false
}

// headed reports whether the closing parenthesis ends the head of a statement.
func (f *fragment) headed(i int) bool {
	open := f.tokens[i].Pair
	if open < 0 {
		return false
	}
	switch f.text(open - 1) {
	case "if", "for", "while", "synchronized", "switch":
		return true
	}
	return false
}

// braces tells what stands between braces: "list" for an array, "enum", "switch" or
// "" for statements and members.
func (f *fragment) braces(open int) string {
	switch f.text(open - 1) {
	case "]", "=", "(", ",":
		return "list"
	case "{":
		return f.braces(open - 1)
	case ")":
		if p := f.tokens[open-1].Pair; p > 0 && f.text(p-1) == "switch" {
			return "switch"
		}
		return ""
	}
	for i := open - 1; i >= 0; i-- {
		switch f.text(i) {
		case "enum":
			return "enum"
		case ";", "{", "}", ")":
			return ""
		}
	}
	return ""
}

// parenthesized tells the place of an ellipsis between the parentheses.
func (f *fragment) parenthesized(i, open int) place {
	closing := f.tokens[open].Pair
	alone := closing == i+1 && open == i-1
	switch f.text(open - 1) {
	case "for":
		if alone {
			return placeFor
		}
		return placeName
	case "catch":
		return placeParameter
	}
	switch {
	case f.text(closing+1) == "->":
		if f.pairs(open) {
			return placeParameter
		}
	case f.annotates(open):
		if !alone && f.within(open, "=") {
			return placePair
		}
	case f.declares(open):
		if before := f.text(i - 1); before == "(" || before == "," {
			return placeParameter
		}
	}
	return placeName
}

// parameter reports whether the metavariable stands for a parameter whose type does
// not matter.
func (f *fragment) parameter(i int) bool {
	inside, before, behind := f.tokens[i].Inside, f.text(i-1), f.text(i+1)
	return f.text(inside) == "(" && (before == "(" || before == ",") && (behind == ")" || behind == ",") && f.declares(inside)
}

// pairs reports whether two names stand side by side directly between the brackets,
// as the type and the name of a parameter do.
func (f *fragment) pairs(open int) bool {
	for i := open + 1; i < f.tokens[open].Pair; i++ {
		if f.tokens[i].Inside == open && f.name(i) && f.name(i+1) {
			return true
		}
	}
	return false
}

// within reports whether the sign stands directly between the brackets.
func (f *fragment) within(open int, sign string) bool {
	for i := open + 1; i < len(f.tokens) && i != f.tokens[open].Pair; i++ {
		if f.tokens[i].Inside == open && f.text(i) == sign {
			return true
		}
	}
	return false
}

// path returns the index of the first token of the dotted name that ends before the
// bracket; the bracket itself when there is none.
func (f *fragment) path(open int) int {
	i := open
	for f.name(i - 1) {
		i--
		if f.text(i-1) != "." || !f.name(i-2) {
			break
		}
		i--
	}
	return i
}

// name reports whether the token is a name.
func (f *fragment) name(i int) bool {
	return i >= 0 && i < len(f.tokens) && (f.tokens[i].Kind == lang.Word || f.tokens[i].Kind == lang.Meta)
}

// annotates reports whether the parentheses are those of an annotation.
func (f *fragment) annotates(open int) bool {
	first := f.path(open)
	return first < open && f.text(first-1) == "@"
}

// notTypes are words before a name that is no declared one.
var notTypes = map[string]bool{
	"new": true, "return": true, "throw": true, "else": true, "case": true, "assert": true, "instanceof": true, "do": true,
	"yield": true, "extends": true, "implements": true,
}

// declares reports whether the parentheses hold the parameters of a method, a
// constructor or a record: a type stands before the name, or a body behind it.
func (f *fragment) declares(open int) bool {
	first := f.path(open)
	if first != open-1 || f.tokens[open].Pair < 0 {
		return false
	}
	before, behind := f.text(first-1), f.text(f.tokens[open].Pair+1)
	typed := f.name(first-1) && !notTypes[before] || before == "]" || before == ">"
	switch behind {
	case "{", "throws", "implements":
		return before != "new" && !controls[f.text(first)]
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
func (f *fragment) typed(open int) {
	closing := f.tokens[open].Pair
	if closing < open+3 || f.tokens[closing-1].Kind != lang.Meta || f.text(closing+1) == "->" {
		return
	}
	if f.name(open-1) && !notTypes[f.text(open-1)] || f.text(open-1) == ">" {
		return
	}
	var typ strings.Builder
	for i := open + 1; i < closing-1; i++ {
		if t := f.tokens[i]; !f.name(i) && !strings.Contains(".<>[],?&...", t.Text) {
			return
		}
		if typ.Len() > 0 && f.name(i) && f.name(i-1) {
			typ.WriteByte(' ')
		}
		typ.WriteString(f.text(i))
	}
	if !f.name(open+1) || f.text(closing-2) == "." || f.text(closing-2) == "," {
		return
	}
	call := lang.TypedName + "((" + typ.String() + ") " + lang.TypedName + ", " + f.text(closing-1) + ")"
	if f.text(closing+1) == "=" && f.text(closing+2) != "=" {
		call += "[" + lang.TypedName + "]"
	}
	f.edits = append(f.edits, lang.Edit{Start: f.tokens[open].Start, End: f.tokens[closing].End, Text: call})
	f.until = closing + 1
}
