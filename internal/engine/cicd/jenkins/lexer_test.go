package jenkins

import (
	"fmt"
	"strings"
	"testing"
)

// describe writes tokens with a letter for their kind: w word, t text, g text with
// interpolations, s sign, n end of a line.
func describe(tokens []token) string {
	var out []string
	for _, t := range tokens {
		word := string("wtgsn"[t.kind])
		if t.kind != newline {
			word += ":" + t.value
		}
		for _, p := range t.parts {
			word += fmt.Sprintf("<%s %d+%d>", p.expr, p.offset, p.length)
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"node('a') {\n}":    "w:node s:( t:a s:) s:{ n s:}",
		"#!groovy\nx":       "n w:x",
		"a // b\nc":         "w:a n w:c",
		"a /* b\n */ c":     "w:a w:c",
		"x_1 $y é2":         "w:x_1 w:$y w:é2",
		`'it\'s'`:           `t:it\'s`,
		`'$a ${b}'`:         "t:$a ${b}",
		"'''a\n'b '''":      "t:a\n'b ",
		`"a $b c"`:          "g:a $b c<b 2+2>",
		`"$a.b.c."`:         "g:$a.b.c.<a.b.c 0+6>",
		`"${ a.b } x"`:      "g:${ a.b } x<a.b 0+8>",
		`"\$a \${b}"`:       `g:\$a \${b}`,
		`"${"{" + b}"`:      "",
		`"${x("y")} z"`:     `g:${x("y")} z<x("y") 0+9>`,
		`"${{ -> a }}"`:     "g:${{ -> a }}<{ -> a } 0+11>",
		"\"\"\"a\n$b\"\"\"": "g:a\n$b<b 2+2>",
		`"5$ and $5"`:       "g:5$ and $5",
		"x = /a\\/$b/":      "w:x s:= g:a\\/$b<b 3+2>",
		"x = $/a/b $c/$":    "w:x s:= g:a/b $c<c 4+2>",
		"a / b / c":         "w:a s:/ w:b s:/ w:c",
		"(/ 2":              "s:( s:/ w:2",
		"a\r\n\tb":          "w:a n w:b",
		"x ->":              "w:x s:- s:>",
		"@Library('a@b') _": "s:@ w:Library s:( t:a@b s:) w:_",
	} {
		got, err := tokenize(text)
		if want == "" && text != "" {
			if err == nil {
				t.Errorf("%q was divided: %s", text, describe(got))
			}
			continue
		}
		if err != nil || describe(got) != want {
			t.Errorf("%q: %s, %v; want %s", text, describe(got), err, want)
		}
	}
}

func TestFilesThatCannotBeDivided(t *testing.T) {
	for text, want := range map[string]string{
		"a\n/* b":    "line 2: the comment does not end",
		"a\n\n'b\n'": "line 3: the text does not end on its line",
		"\"b\n\"":    "line 1: the text does not end on its line",
		"'''b''":     "line 1: the text does not end",
		"'b":         "line 1: the text does not end",
		"\n\"${b\"":  "line 2: the interpolation does not end",
		"\"${" + strings.Repeat("x", maxInterpolation+1) + "}\"": "line 1: the interpolation does not end",
		strings.Repeat("(", maxTokens+1):                         fmt.Sprintf("line 1: has more than %d words and signs", maxTokens),
	} {
		if _, err := tokenize(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestTokensHavePlaces(t *testing.T) {
	tokens, err := tokenize("é 'a'\n\n  \"\"\"b\nc\"\"\" d\n/* e\n*/ f $/g/$\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tok := range tokens {
		if tok.kind != newline {
			got = append(got, fmt.Sprintf("%q %d:%d", tok.value, tok.line, tok.column))
		}
	}
	want := `"é" 1:1, "a" 1:4, "b\nc" 3:6, "d" 4:6, "f" 6:4, "g" 6:8`
	if strings.Join(got, ", ") != want {
		t.Errorf("places %s, want %s", strings.Join(got, ", "), want)
	}
}
