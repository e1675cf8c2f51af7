package rust

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

// contexts are what a fragment is put into until the grammar accepts it.
var contexts = []lang.Context{
	{Before: "fn qzf() {\n", After: "\n;}", Only: regexp.MustCompile(`[^;}]$`)},
	{Before: "fn qzf() {\n", After: "\n}"},
	{},
	{Before: "impl qzi {\n", After: "\n}"},
	{Before: "", After: "\nfn qzf() {}"},
	{Before: "fn qzf(_: ", After: ") {}"},
}

// typed finds "($X : T)".
var typed = regexp.MustCompile(`\(\s*(\$[A-Z_][A-Z_0-9]*)\s*:\s*([^():]+(?:::[^():]+)*)\)`)

// preparePattern gives an ellipsis the form that the grammar wants in its place, and makes
// typed metavariables calls with type arguments.
func preparePattern(text string) []string {
	text = strings.TrimSpace(text)
	plain := rewriteEllipses(text)
	if t := typed.ReplaceAllString(text, lang.TypedName+"::<$2>($1)"); t != text {
		return []string{plain, rewriteEllipses(t)}
	}
	return []string{plain}
}

// rewriteEllipses gives each ellipsis the form that the grammar wants in its place.
func rewriteEllipses(text string) string {
	f := lang.NewFragment(text, "//")
	return f.Rewrite(func(i int) {
		if !f.Many(i) {
			return
		}
		sign := f.Text(i)
		switch ellipsisForm(f, i) {
		case "statement":
			if f.Text(i+1) != ";" {
				f.Replace(i, i, sign+";")
			}
		case "item":
			f.Replace(i, i, "const "+sign+": "+sign+" = "+sign+";")
		case "field":
			f.Replace(i, i, sign+": "+sign+missingComma(f, i))
		case "name":
			f.Replace(i, i, sign+missingComma(f, i))
		case "arm":
			f.Replace(i, i, sign+" => "+sign+missingComma(f, i))
		}
	})
}

// missingComma returns the comma that an arm or a field needs behind it and does not have.
func missingComma(f *lang.Fragment, i int) string {
	if f.Text(i+1) == "," {
		return ""
	}
	return ","
}

// ellipsisForm tells what the grammar wants where an ellipsis stands alone between braces;
// "" where a name is enough.
func ellipsisForm(f *lang.Fragment, i int) string {
	inside := f.Tokens[i].Inside
	alone := i == 0 || strings.Contains(";{},)", f.Text(i-1)) || f.Many(i-1) || f.Tokens[i].First
	if !alone || f.Text(i+1) == "=" || f.Text(i+1) == "." {
		return ""
	}
	if inside < 0 {
		return "statement"
	}
	if f.Text(inside) != "{" {
		return ""
	}
	word := braceOpener(f, inside)
	if form := formsInBraces[word]; form != "" {
		return form
	}
	if word == "" && f.Name(inside-1) && f.Within(inside, ":") {
		return "field"
	}
	return "statement"
}

// formsInBraces says, by the word of braceOpener, what stands between the braces where
// it is no statement.
var formsInBraces = map[string]string{
	"struct": "field", "union": "field", "literal": "field", "enum": "name",
	"impl": "item", "trait": "item", "mod": "item", "match": "arm",
}

// braceOpener returns the word that says what stands between braces.
func braceOpener(f *lang.Fragment, brace int) string {
	for i := brace - 1; i >= 0; i-- {
		switch word := f.Text(i); word {
		case "struct", "union", "enum", "impl", "trait", "mod", "match", "fn", "if", "while", "for", "loop", "unsafe",
			"else":

			if word == "for" && braceOpener(f, i) == "impl" {
				return "impl"
			}
			return word
		case ";", "{", "}", "=>":
			return ""
		case "=", "return":
			if i < brace-1 && f.Name(brace-1) {
				return "literal"
			}
			return ""
		case "let":
			return "literal"
		}
	}
	return ""
}
