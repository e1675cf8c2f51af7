package rust

import (
	"regexp"
	"strings"

	"merlon/internal/engine/sast/lang"
)

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

// prepare gives an ellipsis the form that the grammar wants in its place, and makes
// typed metavariables calls with type arguments.
func prepare(text string) []string {
	text = strings.TrimSpace(text)
	plain := rewrite(text)
	if t := typed.ReplaceAllString(text, lang.TypedName+"::<$2>($1)"); t != text {
		return []string{plain, rewrite(t)}
	}
	return []string{plain}
}

func rewrite(text string) string {
	f := lang.NewFragment(text, "//")
	return f.Rewrite(func(i int) {
		if !f.Many(i) {
			return
		}
		sign := f.Text(i)
		switch place(f, i) {
		case "statement":
			if f.Text(i+1) != ";" {
				f.Replace(i, i, sign+";")
			}
		case "item":
			f.Replace(i, i, "const "+sign+": "+sign+" = "+sign+";")
		case "field":
			f.Replace(i, i, sign+": "+sign+comma(f, i))
		case "name":
			f.Replace(i, i, sign+comma(f, i))
		case "arm":
			f.Replace(i, i, sign+" => "+sign+comma(f, i))
		}
	})
}

func comma(f *lang.Fragment, i int) string {
	if f.Text(i+1) == "," {
		return ""
	}
	return ","
}

// place tells what the grammar wants where an ellipsis stands alone between braces;
// "" where a name is enough.
func place(f *lang.Fragment, i int) string {
	inside := f.Tokens[i].Inside
	before := f.Text(i - 1)
	alone := i == 0 || strings.Contains(";{},)", before) || f.Many(i-1) || f.Tokens[i].First
	if !alone || f.Text(i+1) == "=" || f.Text(i+1) == "." {
		return ""
	}
	if inside < 0 {
		return "statement"
	}
	if f.Text(inside) != "{" {
		return ""
	}
	switch word := opener(f, inside); word {
	case "struct", "union":
		return "field"
	case "enum":
		return "name"
	case "impl", "trait", "mod":
		return "item"
	case "match":
		return "arm"
	case "literal":
		return "field"
	case "":
		if f.Name(inside-1) && f.Within(inside, ":") {
			return "field"
		}
	}
	return "statement"
}

// opener returns the word that says what stands between braces.
func opener(f *lang.Fragment, brace int) string {
	for i := brace - 1; i >= 0; i-- {
		switch word := f.Text(i); word {
		case "struct", "union", "enum", "impl", "trait", "mod", "match", "fn", "if", "while", "for", "loop", "unsafe", "else":

			if word == "for" && opener(f, i) == "impl" {
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
