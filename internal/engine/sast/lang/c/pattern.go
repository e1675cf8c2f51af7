package c

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// patterns says how fragments of rules become files. One that several contexts accept is
// what the first of them makes of it.
var patterns = lang.Patterns{
	Contexts: []lang.Context{
		{Before: "void qzf() {\n", After: "\n;}", Only: regexp.MustCompile(`[^;}]$`)},
		{Before: "void qzf() {\n", After: "\n}"},
		{},
		{Before: "", After: "\n"},
		{Before: "", After: ";"},
		{Before: "class qzc {\n", After: "\n};"},
	},
	Prepare: preparePattern,
	Sigil:   true,
}

// typed finds "(T $X)": a metavariable with a type. The parenthesis is not that of a
// call or of parameters; "($A * $B)" is a product.
var typed = regexp.MustCompile(`(^|[^\w\s)])(\s*)\(((?:(?:const|struct|enum|unsigned|signed|long|short)\s+)*[\w$:]+(?:<[^()]*>)?(?:\s*[*&]+|\s+[*&]*))(\$[A-Z_][A-Z_0-9]*)\s*\)`)

// preparePattern ends an ellipsis among statements with a semicolon, and makes typed
// metavariables casts of calls, which keep the type a type.
func preparePattern(text string) []string {
	text = strings.TrimSpace(text)
	f := lang.NewFragment(typed.ReplaceAllString(text, "$1$2(($3)"+lang.TypedName+"($4))"), "//")
	text = f.Rewrite(func(i int) {
		if f.Many(i) && statementPlace(f, i) && f.Text(i+1) != ";" {
			f.Replace(i, i, f.Text(i)+";")
		}
	})
	return []string{text}
}

// statementPlace reports whether a statement may begin at the token.
func statementPlace(f *lang.Fragment, i int) bool {
	inside := f.Tokens[i].Inside
	if inside >= 0 && (f.Text(inside) != "{" || strings.Contains("=,(return", f.Text(inside-1)) && inside > 0 ||
		opensEnum(f, inside)) {
		return false
	}
	switch f.Text(i - 1) {
	case "", ";", "{", "}", ")", ":", "else", "do":
		return true
	}
	return f.Many(i-1) || f.Tokens[i].First
}

// opensEnum reports whether the brace opens the names of an enum.
func opensEnum(f *lang.Fragment, brace int) bool {
	for i := brace - 1; i >= 0 && (f.Name(i) || f.Text(i) == ":"); i-- {
		if f.Text(i) == "enum" {
			return true
		}
	}
	return false
}
