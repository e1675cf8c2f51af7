package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokens(t *testing.T) {
	tests := []struct{ text, want string }{
		{"$X.f(..., $...A)", "meta:$X sign:. word:f open:( dots:... sign:, many:$...A close:)"},
		{"<... $x ...>", "deep:<... word:$x end:...>"},
		{`"a\"..." 'b' "c`, `string:"a\"..." string:'b' sign:" word:c`},
		{"\"\"\"a\n\"b\"\"\" `\\`", "string:\"\"\"a\n\"b\"\"\" string:`\\`"},
		{"a -> b::c := d => 1.5é", "word:a sign:-> word:b sign::: word:c sign::= word:d sign:=> word:1 sign:. word:5é"},
		{"a // ...\nb /* c\n */ d /*", "word:a word:b word:d"},
		{"}(", "close:} open:("},
	}
	names := map[TokenKind]string{Word: "word", Meta: "meta", MetaMany: "many", Dots: "dots", DeepOpen: "deep",
		DeepClose:   "end",
		StringToken: "string", Sign: "sign", OpenBracket: "open", CloseBracket: "close"}
	for _, tt := range tests {
		var got []string
		for _, token := range Tokens(tt.text, "//") {
			got = append(got, fmt.Sprintf("%s:%s", names[token.Kind], token.Text))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("Tokens(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestTokensKnowTheirBrackets(t *testing.T) {
	tokens := Tokens("a {\n (b) }", "//")
	for i, want := range []Token{{Pair: -1, Inside: -1, First: true}, {Pair: 5, Inside: -1},
		{Pair: 4, Inside: 1, First: true},
		{Pair: -1, Inside: 2}, {Pair: 2, Inside: 1}, {Pair: 1, Inside: -1}} {
		got := Token{Pair: tokens[i].Pair, Inside: tokens[i].Inside, First: tokens[i].First}
		if got != want {
			t.Errorf("token %d %q: got %+v, want %+v", i, tokens[i].Text, got, want)
		}
	}
}

func TestRewrite(t *testing.T) {
	f := NewFragment(" a (b c) d // e", "//")
	got := f.Rewrite(func(i int) {
		switch {
		case f.Text(i) == "(":
			f.Replace(i, f.Tokens[i].Pair, "["+f.Source(i+1, i+2)+"]")
		case f.Name(i):
			f.Replace(i, i, f.Text(i)+"!")
		}
	})
	if want := "a! [b c] d! // e"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFragmentAsks(t *testing.T) {
	f := NewFragment("x.y.$Z(..., T a) = {...}", "//")
	open := 5
	if f.Text(open) != "(" || f.Path(open) != 0 || !f.Neighbours(open) || !f.Within(open, ",") || f.Within(open, "=") ||
		!f.Alone(open+1) || f.Alone(open+3) || !f.Many(open+1) || f.Many(open) || f.Text(-1) != "" || f.Name(100) {
		t.Errorf("wrong answers about %+v", f.Tokens)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("$X.f(<... a ...>, \"b\") { // c\n }")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, token := range Tokens(text, "//") {
			if token.Start < end || token.End <= token.Start || text[token.Start:token.End] != token.Text {
				t.Fatalf("%q: token %+v after byte %d", text, token, end)
			}
			end = token.End
		}
	})
}
