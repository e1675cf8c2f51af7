package lang

import "strings"

// Braces rewrites fragments of the languages that look like Java: it writes what
// their grammars want where a fragment has only an ellipsis or a metavariable.
type Braces struct {
	*Fragment
	// Sharp: the language is C#, whose parameters need no type and whose objects are
	// made with lists of values.
	Sharp bool
}

// Prepare returns the fragment fit for the grammar.
func (f Braces) Prepare() string { return f.Rewrite(f.rewriteToken) }

// rewriteToken rewrites what begins at the token.
func (f Braces) rewriteToken(i int) {
	t := &f.Tokens[i]
	switch t.Kind {
	case Dots:
		if f.isVariadic(i) {
			f.Replace(i, i, RealDots)
		} else {
			f.rewriteEllipsis(i)
		}
	case MetaMany:
		f.rewriteEllipsis(i)
	case DeepOpen:
		if next := f.Text(i + 1); next == "," || next == ">" {
			f.Replace(i, i, "< ... ") // type arguments
		}
	case DeepClose:
		if before := f.Text(i - 1); before == "," || before == "<" {
			f.Replace(i, i, "... >")
		}
	case Meta:
		f.rewriteMetavariable(i)
	default:
		if t.Text == "(" {
			f.rewriteTyped(i)
		}
	}
}

// rewriteMetavariable rewrites a metavariable that stands where the grammar wants more
// than a name: a parameter without a type, and a statement of C#.
func (f Braces) rewriteMetavariable(i int) {
	text := f.Tokens[i].Text
	switch {
	case !f.Sharp && f.isUntypedParameter(i):
		f.Replace(i, i, "var "+text)
	case f.Sharp && f.Text(i+1) == ";" && (i == 0 || strings.Contains("{};", f.Text(i-1))):
		f.Replace(i, i, TypedName+"("+text+")") // a name alone is no statement of C#
	}
}

// isVariadic reports whether the dots are those of "T... name", a variable number of
// arguments.
func (f Braces) isVariadic(i int) bool {
	return i > 0 && f.Name(i+1) && f.Tokens[i].Start == f.Tokens[i-1].End &&
		(f.Name(i-1) || strings.Contains(">]", f.Text(i-1)))
}

// rewriteEllipsis rewrites an ellipsis or "$...X" that stands where a name is not enough.
func (f Braces) rewriteEllipsis(i int) {
	t := f.Tokens[i]
	switch f.classifyEllipsis(i) {
	case placeStatement:
		end := ";"
		if f.Text(i+1) == ";" {
			end = ""
		}
		start := ""
		if i > 0 && !f.Many(i-1) && !strings.ContainsAny(f.Text(i-1), "{};:)") || f.Text(i-1) == ")" &&
			!f.endsStatementHead(i-1) {
			start = "; "
		}
		f.Replace(i, i, start+t.Text+" "+t.Text+end)
	case placeCase:
		f.Replace(i, i, "case "+t.Text+":")
	case placeParameter:
		if !f.Sharp || f.Text(t.Inside-1) == "catch" {
			f.Replace(i, i, t.Text+" "+t.Text)
		}
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

// classifyEllipsis says where the ellipsis stands, by the bracket around it. At the top of
// a fragment it is a statement, unless it is all that there is.
func (f Braces) classifyEllipsis(i int) place {
	inside := f.Tokens[i].Inside
	switch f.Text(inside) {
	case "(":
		return f.classifyInParentheses(i, inside)
	case "{":
		switch f.classifyBraces(inside) {
		case "enum", "list":
			return placeName
		case "switch":
			if f.Text(i-1) == "{" {
				return placeCase
			}
		}
		return f.classifyInStatements(i)
	case "":
		if len(f.Tokens) > 1 {
			return f.classifyInStatements(i)
		}
	}
	return placeName
}

// classifyInStatements tells whether the ellipsis is a statement of its own.
func (f Braces) classifyInStatements(i int) place {
	if f.isOperand(i) {
		return placeName
	}
	if f.Many(i-1) && f.Tokens[i].First {
		return placeStatement
	}
	switch f.Text(i - 1) {
	case "{", "}", ";", "", "else", "do":
		return placeStatement
	case ":":
		if f.endsCaseLabel(i - 1) {
			return placeStatement
		}
	case ")":
		if f.endsStatementHead(i-1) || f.Tokens[i].First {
			return placeStatement
		}
	default:
		if f.isLine(i) && f.Tokens[i-1].Kind != Sign && f.Text(i-1) != "=" {
			return placeStatement
		}
	}
	return placeName
}

// isOperand reports whether an operator follows the token on its line.
func (f Braces) isOperand(i int) bool {
	next := i + 1
	return next < len(f.Tokens) && f.Tokens[next].Kind == Sign && !f.Tokens[next].First &&
		strings.Contains("<>=!+-*/%&|^?", f.Text(next))
}

// isLine reports whether the token is all that stands on its line.
func (f Braces) isLine(i int) bool {
	return f.Tokens[i].First && (i+1 == len(f.Tokens) || f.Tokens[i+1].First)
}

// endsCaseLabel reports whether the colon ends a label of a switch.
func (f Braces) endsCaseLabel(i int) bool {
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

// endsStatementHead reports whether the closing parenthesis ends the head of a statement.
func (f Braces) endsStatementHead(i int) bool {
	open := f.Tokens[i].Pair
	if open < 0 {
		return false
	}
	switch f.Text(open - 1) {
	case "if", "for", "foreach", "while", "synchronized", "lock", "using", "switch":
		return true
	}
	return false
}

// classifyBraces tells what stands between braces: "list" for an array, "enum", "switch" or
// "" for statements and members.
func (f Braces) classifyBraces(open int) string {
	switch f.Text(open - 1) {
	case "]", "=", "(", ",":
		return "list"
	case "{":
		return f.classifyBraces(open - 1)
	case ")":
		switch p := f.Tokens[open-1].Pair; {
		case p > 0 && f.Text(p-1) == "switch":
			return "switch"
		case p > 0 && f.Sharp && f.followsNew(p):
			return "list"
		}
		return ""
	}
	if f.Sharp && f.followsNew(open) {
		return "list"
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

// followsNew reports whether a name behind "new" stands before the bracket.
func (f Braces) followsNew(open int) bool {
	return f.Text(open-1) == "new" || f.Text(f.Path(open)-1) == "new"
}

// classifyInParentheses tells the place of an ellipsis between the parentheses.
func (f Braces) classifyInParentheses(i, open int) place {
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
	case f.Text(closing+1) == "->" || f.Text(closing+1) == "=>":
		if f.Neighbours(open) {
			return placeParameter
		}
	case f.isAnnotation(open):
		if !alone && f.Within(open, "=") {
			return placePair
		}
	case f.isDeclaration(open):
		if before := f.Text(i - 1); before == "(" || before == "," {
			return placeParameter
		}
	}
	return placeName
}

// isUntypedParameter reports whether the metavariable stands for a parameter whose type does
// not matter.
func (f Braces) isUntypedParameter(i int) bool {
	inside, before, behind := f.Tokens[i].Inside, f.Text(i-1), f.Text(i+1)
	return f.Text(inside) == "(" && (before == "(" || before == ",") && (behind == ")" || behind == ",") &&
		f.isDeclaration(inside)
}

// isAnnotation reports whether the parentheses are those of an annotation.
func (f Braces) isAnnotation(open int) bool {
	first := f.Path(open)
	return first < open && f.Text(first-1) == "@"
}

// notTypes are words before a name that is no declared one.
var notTypes = map[string]bool{
	"new": true, "return": true, "throw": true, "else": true, "case": true, "assert": true, "instanceof": true,
	"do":    true,
	"yield": true, "extends": true, "implements": true, "is": true, "as": true, "in": true, "await": true, "ref": true,
	"out": true,
}

// isDeclaration reports whether the parentheses hold the parameters of a method, a
// constructor or a record: a type stands before the name, or a body behind it.
func (f Braces) isDeclaration(open int) bool {
	first := f.Path(open)
	if first != open-1 || f.Tokens[open].Pair < 0 {
		return false
	}
	before, behind := f.Text(first-1), f.Text(f.Tokens[open].Pair+1)
	typed := f.Name(first-1) && !notTypes[before] || before == "]" || before == ">"
	switch behind {
	case "{", "throws", "implements", "where", ":", "=>":
		return before != "new" && !controls[f.Text(first)]
	case ";", "", "default", "}":
		return typed
	}
	return false
}

// controls are the words whose parentheses are no parameters.
var controls = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "try": true,
	"synchronized": true, "foreach": true, "using": true, "lock": true, "fixed": true}

// rewriteTyped rewrites "(T $X)", a metavariable with a type: it becomes a call that Restore
// knows, with the type in a cast; on the left of "=", where a call may not stand, an
// index of that call.
func (f Braces) rewriteTyped(open int) {
	closing := f.Tokens[open].Pair
	if closing < open+3 || f.Tokens[closing-1].Kind != Meta || f.Text(closing+1) == "->" || f.Text(closing+1) == "=>" {
		return
	}
	if f.Name(open-1) && !notTypes[f.Text(open-1)] || f.Text(open-1) == ">" {
		return
	}
	typ, ok := f.typeBetween(open, closing-1)
	if !ok || !f.Name(open+1) || f.Text(closing-2) == "." || f.Text(closing-2) == "," {
		return
	}
	call := TypedName + "((" + typ + ") " + TypedName + ", " + f.Text(closing-1) + ")"
	if f.Text(closing+1) == "=" && f.Text(closing+2) != "=" {
		call += "[" + TypedName + "]"
	}
	f.Replace(open, closing, call)
}

// typeBetween returns the type that the tokens between two others spell; it reports
// false when one of them cannot be part of a type.
func (f Braces) typeBetween(open, end int) (string, bool) {
	var typ strings.Builder
	for i := open + 1; i < end; i++ {
		if t := f.Tokens[i]; !f.Name(i) && !strings.Contains(".<>[],?&...", t.Text) {
			return "", false
		}
		if typ.Len() > 0 && f.Name(i) && f.Name(i-1) {
			typ.WriteByte(' ')
		}
		typ.WriteString(f.Text(i))
	}
	return typ.String(), true
}
