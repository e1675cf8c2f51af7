package bash

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestDeclarations pins the trees of declarations: what is declared, under which name, and its
// parts.
func TestDeclarations(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "function",
			Source: "f() { a; }",
			Want:   []string{`Function "function"(f, body: Block(Call(Name "command" [implied], "a");))`},
		},
		{
			Name:   "function with the keyword",
			Source: "function f { a; }",
			Want:   []string{`Function "function"(f, body: Block(Call(Name "command" [implied], "a");))`},
		},
		{
			Name:   "variables",
			Source: `a=1 b="$c"`,
			Want:   []string{`Sequence(Assign "="(a, "1"), Assign "="(b, Template(Unary "$"(c))));`},
		},
		{
			Name:   "exported and local variables",
			Source: "export A=1; local b c=2; readonly d; declare -i e=3; unset g",
			Want: []string{
				`Call(Name "command" [implied], "export", Assign "="(A, "1"));`,
				`Call(Name "command" [implied], "local", "b", Assign "="(c, "2"));`,
				`Call(Name "command" [implied], "readonly", "d");`,
				`Call(Name "command" [implied], "declare", "-i", Assign "="(e, "3"));`,
				`Call(Name "command" [implied], "unset", "g");`,
			},
		},
		{
			Name:   "array",
			Source: `a=(b "$c"); a[1]=d; a+=(e)`,
			Want: []string{
				`Assign "="(a, List("b", Template(Unary "$"(c))));`,
				`Assign "="(Index(a, "1"), "d");`,
				`Assign "+="(a, List("e"));`,
			},
		},
	})
}

// TestCalls pins calls and the other expressions through which data flows.
func TestCalls(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "command with words",
			Source: `cp -r a "$b" c/*.txt`,
			Want:   []string{`Call(Name "command" [implied], "cp", "-r", "a", Template(Unary "$"(b)), "c/*.txt");`},
		},
		{
			Name:   "command with an environment",
			Source: `A=1 f "$@"`,
			Want:   []string{`Call(Name "command" [implied], "f", Template(Unary "$"(@)), Keyword(A, "1"));`},
		},
		{
			Name:   "pipeline",
			Source: "a | b 2>&1 | c",
			Want: []string{
				`Binary "|"(Binary "|"(Call(Name "command" [implied], "a"), Call(` +
					`Name "command" [implied], "b", Keyword(2>&, "1"))), Call(Name "command" [implied], "c"));`,
			},
		},
		{
			Name:   "and, or and not",
			Source: "a && b || ! c",
			Want: []string{
				`Binary "||"(Binary "&&"(Call(Name "command" [implied], "a"), Call(` +
					`Name "command" [implied], "b")), Unary "!"(Call(Name "command" [implied], "c")));`,
			},
		},
		{
			Name:   "redirections",
			Source: "a > b 2>> c < d",
			Want: []string{
				`Call(Name "command" [implied], "a", Keyword(>, "b"), Keyword(2>>, "c"), Keyword(<, "d"));`,
			},
		},
		{
			Name: "here-document",
			Source: "cat <<E\n" +
				"x $y\n" +
				"E",
			Want: []string{
				`Call(Name "command" [implied], "cat", Keyword(<<, Template [raw]("x ", Unary "$"(y), "\n")));`,
			},
		},
		{
			Name: "quoted here-document",
			Source: "cat <<'E'\n" +
				"x $y\n" +
				"E",
			Want: []string{`Call(Name "command" [implied], "cat", Keyword(<<, String "x $y\n" [raw]));`},
		},
		{
			Name:   "here-string",
			Source: `cat <<< "$a"`,
			Want:   []string{`Call(Name "command" [implied], "cat", Keyword(<<<, Template(Unary "$"(a))));`},
		},
		{
			Name:   "substitutions",
			Source: "a \"$(b c)\" `d` <(e)",
			Want: []string{
				`Call(Name "command" [implied], "a", Template(Call($(, Call(Name "command" [implied], ` +
					`"b", "c"))), Call($(, Call(Name "command" [implied], "d")), Call(<(, Call(` +
					`Name "command" [implied], "e")));`,
			},
		},
		{
			Name:   "background and sequence",
			Source: "a & b; c",
			Want: []string{
				`Spawn(Call(Name "command" [implied], "a"))`,
				`Call(Name "command" [implied], "b");`,
				`Call(Name "command" [implied], "c");`,
			},
		},
		{
			Name:   "group and subshell",
			Source: "{ a; b; }; (c; d)",
			Want: []string{
				`Block(Call(Name "command" [implied], "a");, Call(Name "command" [implied], "b");)`,
				`Other "subshell"(Block(Call(Name "command" [implied], "c");, Call(` +
					`Name "command" [implied], "d");));`,
			},
		},
		{
			Name:   "sudo is a command",
			Source: `sudo rm -rf "/$a"`,
			Want:   []string{`Call(Name "command" [implied], "sudo", "rm", "-rf", Template("/", Unary "$"(a)));`},
		},
	})
}

// TestLiterals pins the values of literals: escapes are resolved, and separators and suffixes
// of numbers are gone.
func TestLiterals(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "quotes",
			Source: `f 'a $b' "c $d" $'e\n' g\ h`,
			Want: []string{
				`Call(Name "command" [implied], "f", "a $b", Template("c ", Unary "$"(d)), "e\n", "g h");`,
			},
		},
		{
			Name:   "expansions",
			Source: `f $a ${b} ${c:-d} ${#e} "${f[@]}" $1 $?`,
			Want: []string{
				`Call(Name "command" [implied], "f", Unary "$"(a), Unary "$"(b), Unary "$"(c), ` +
					`Other "expansion"(Token "#", e), Template(Unary "$"(Index(f, "@"))), Unary "$"(1), ` +
					`Unary "$"(?));`,
			},
		},
		{
			Name:   "concatenation",
			Source: `f a"b"$c'd'`,
			Want: []string{
				`Call(Name "command" [implied], "f", Other "concatenation"("a", "b", Unary "$"(c), "d"));`,
			},
		},
		{
			Name:   "arithmetic",
			Source: "a=$((b + 2 * c)); ((d++))",
			Want: []string{
				`Assign "="(a, Other "arithmetic_expansion"(Token "$((", Binary "+"(b, Binary "*"("2", ` +
					`c)), Token "))"));`,
				`Call(((, "d++");`,
			},
		},
	})
}

// TestControlFlow pins statements that branch, loop or leave: paths of data are cut at them.
func TestControlFlow(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "if with every clause",
			Source: "if a; then b; elif c; then d; else e; fi",
			Want: []string{
				`If(condition: Call(Name "command" [implied], "a"), then: Block(Call(` +
					`Name "command" [implied], "b");), else: If(condition: Call(Name "command" [implied], ` +
					`"c"), then: Block(Call(Name "command" [implied], "d");), else: Block(Call(` +
					`Name "command" [implied], "e");)))`,
			},
		},
		{
			Name:   "tests",
			Source: `if [ -n "$a" ] && [[ $b == c* ]]; then d; fi`,
			Want: []string{
				`If(condition: Binary "&&"(Call([, Unary "-n"(Template(Unary "$"(a)))), Call([[, ` +
					`Binary "=="(Unary "$"(b), "c*"))), then: Block(Call(Name "command" [implied], "d");))`,
			},
		},
		{
			Name:   "for",
			Source: `for a in b "$c"; do d "$a"; done`,
			Want: []string{
				`ForEach "of"(a, iterable: Tuple("b", Template(Unary "$"(c))), body: Block(Call(` +
					`Name "command" [implied], "d", Template(Unary "$"(a)));))`,
			},
		},
		{
			Name:   "counting for",
			Source: "for ((i = 0; i < 3; i++)); do a; done",
			Want: []string{
				`For(init: Assign "="(i, "0"), condition: Binary "<"("i", "3"), ` +
					`update: Update "++" [postfix]("i"), body: Block(Call(Name "command" [implied], "a");))`,
			},
		},
		{
			Name:   "while and until",
			Source: "while a; do b; done; until c; do d; done",
			Want: []string{
				`While(condition: Call(Name "command" [implied], "a"), body: Block(Call(` +
					`Name "command" [implied], "b");))`,
				`While(condition: Unary "!" [implied](Call(Name "command" [implied], "c")), body: Block(` +
					`Call(Name "command" [implied], "d");))`,
			},
		},
		{
			Name:   "loop over a file",
			Source: "while read -r a; do b; done < c",
			Want: []string{
				`Other "redirected"(While(condition: Call(Name "command" [implied], "read", "-r", "a"), ` +
					`body: Block(Call(Name "command" [implied], "b");)), Keyword(<, "c"));`,
			},
		},
		{
			Name:   "case",
			Source: `case "$a" in b|c) d;; *) e;; esac`,
			Want: []string{
				`Switch(Template(Unary "$"(a)), Case(condition: "b", condition: "c", body: Block(Call(` +
					`Name "command" [implied], "d");)), Case "default"(condition: "*", body: Block(Call(` +
					`Name "command" [implied], "e");)))`,
			},
		},
		{
			Name:   "select",
			Source: "select a in b; do c; done",
			Want: []string{
				`ForEach "select"(a, iterable: "b", body: Block(Call(Name "command" [implied], "c");))`,
			},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "command with any words",
			Source: "curl ... $URL",
			Want:   []string{`Call(Name "command" [implied], "curl", ..., $URL)`},
		},
		{
			Name:   "word",
			Source: "$X",
			Want:   []string{"$X"},
		},
		{
			Name:   "pipeline",
			Source: "curl ... | bash ...",
			Want: []string{
				`Binary "|"(Call(Name "command" [implied], "curl", ...), Call(Name "command" [implied], ` +
					`"bash", ...))`,
			},
		},
		{
			Name:   "deep expression",
			Source: "eval <... $X ...>",
			Want:   []string{`Call(Name "command" [implied], "eval", Deep($X))`},
		},
		{
			Name:   "string that holds anything",
			Source: `f "..."`,
			Want:   []string{`Call(Name "command" [implied], "f", Template(...))`},
		},
		{
			Name:   "string with a variable",
			Source: `f "...$X..."`,
			Want:   []string{`Call(Name "command" [implied], "f", Template(..., $X, ...))`},
		},
		{
			Name: "statements with anything between",
			Source: "a\n" +
				"...\n" +
				"b",
			Want: []string{
				`Block(Call(Name "command" [implied], "a");, ..., Call(Name "command" [implied], "b");)`,
			},
		},
		{
			Name: "if",
			Source: "if ...; then\n" +
				"  ...\n" +
				"fi",
			Want: []string{"If(condition: ..., then: Block(...))"},
		},
	})
}
