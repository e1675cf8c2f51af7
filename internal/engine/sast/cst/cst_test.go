package cst

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sources holds a few lines of each language that its grammar understands whole.
var sources = map[*Language]string{
	Java:       "class A { int f(String s) { return s.length() + 1; } }\n",
	JavaScript: "const f = async (a, ...b) => { await g`x${a}`; };\n",
	TypeScript: "interface A<T> { f?(x: T): readonly string[] }\n",
	Component:  "const a: number = b?.c;\n",
	TSX:        "const a = <div class={b}>{c}</div>;\n",
	Dockerfile: "FROM a\n",
	Python:     "def f(a, *b):\n    return [x for x in a if x]\n",
	Go:         "package a\n\nfunc f[T any](x T) (T, error) { return x, nil }\n",
	PHP:        "<?php function f($a) { return \"x $a\"; } ?>\n",
	CSharp:     "class A { int F(string s) => s.Length; }\n",
	Ruby:       "def f(a)\n  a.each { |x| puts \"#{x}\" }\nend\n",
	Kotlin:     "fun f(a: List<Int>) = a.map { it + 1 }\n",
	C:          "int f(char *s) { return s[0]; }\n",
	CPP:        "template <class T> int f(T &&s) { return s[0]; }\n",
	Rust:       "fn f<'a>(s: &'a str) -> usize { s.len() }\n",
	Scala:      "object A { def f(s: String): Int = s.length }\n",
	Bash:       "if [ -n \"$1\" ]; then echo \"${1%x}\"; fi\n",
	HCL:        "resource \"a\" \"b\" {\n  c = var.d\n}\n",
	YAML:       "a:\n  - b: 1\n  - c\n",
	JSON:       "{\"a\": [1, true, null]}\n",
	HTML:       "<!doctype html><p class=\"a\">b<br></p>\n",
	XML:        "<?xml version=\"1.0\"?><a b=\"c\"><d/></a>\n",
}

func TestEveryLanguageParses(t *testing.T) {
	for _, l := range Languages {
		t.Run(l.Name, func(t *testing.T) {
			src, ok := sources[l]
			if !ok {
				t.Fatal("no source to parse")
			}
			tree, err := l.Parse([]byte(src), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if tree.Errors {
				t.Errorf("the grammar does not understand %q:\n%s", src, dump(tree))
			}
			if err := check(tree); err != nil {
				t.Error(err)
			}
		})
	}
}

// check returns what is wrong with the array of nodes.
func check(t *Tree) error {
	for i, n := range t.Nodes {
		parentEnd := int32(len(t.Nodes))
		if n.Parent >= 0 {
			parentEnd = t.Nodes[n.Parent].SubtreeEnd
		}
		switch {
		case n.Parent >= int32(i), i > 0 && n.Parent < 0:
			return errors.New("a node stands before its parent")
		case n.SubtreeEnd <= int32(i), n.SubtreeEnd > parentEnd:
			return errors.New("a subtree is not inside its parent's")
		case n.End < n.Start, int(n.End) > len(t.Source):
			return errors.New("a node is outside of the text")
		}
	}
	return nil
}

// dump prints the named nodes, one a line.
func dump(t *Tree) string {
	var b strings.Builder
	depth := make([]int, len(t.Nodes))
	for i, n := range t.Nodes {
		if n.Parent >= 0 {
			depth[i] = depth[n.Parent] + 1
		}
		if n.Flags&Named == 0 {
			continue
		}
		b.WriteString(strings.Repeat("  ", depth[i]))
		if f := t.Lang.FieldName(n.Field); f != "" {
			b.WriteString(f + ": ")
		}
		b.WriteString(t.Lang.KindName(n.Kind) + "\n")
	}
	return b.String()
}

func TestTreeHasFieldsAndPlaces(t *testing.T) {
	tree, err := Python.Parse([]byte("x = 1\ndef f(a): pass\n"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, n := range tree.Nodes {
		if n.Flags&Named != 0 && n.Parent >= 0 {
			got = append(got, Python.KindName(tree.Nodes[n.Parent].Kind)+"."+Python.FieldName(n.Field)+"="+
				Python.KindName(tree.Nodes[i].Kind))
		}
	}
	want := []string{
		"module.=expression_statement", "expression_statement.=assignment", "assignment.left=identifier",
		"assignment.right=integer",
		"module.=function_definition", "function_definition.name=identifier",
		"function_definition.parameters=parameters",
		"parameters.=identifier", "function_definition.body=block", "block.=pass_statement",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	name := Python.FieldOf("name")
	for _, n := range tree.Nodes {
		if n.Field == name && (n.Row != 1 || n.Col != 4 || string(tree.Source[n.Start:n.End]) != "f") {
			t.Errorf("the name stands at %d:%d and is %q", n.Row, n.Col, tree.Source[n.Start:n.End])
		}
	}
}

func TestNamesOfKindsAndFields(t *testing.T) {
	if k := Go.Kinds("call_expression"); len(k) != 1 || Go.KindName(k[0]) != "call_expression" {
		t.Errorf("call_expression is %v", k)
	}
	if Go.Kinds("no such kind") != nil || Go.FieldOf("no such field") != 0 || Go.FieldName(0) != "" {
		t.Error("a name that does not exist has a number")
	}
	if got := Go.KindName(KindError); got != "ERROR" {
		t.Errorf("the kind of an error is %q", got)
	}
}

func TestFilesBelongToLanguagesByName(t *testing.T) {
	for file, want := range map[string]*Language{
		"a/B.java": Java, "x.MJS": JavaScript, "x.d.ts": TypeScript, "x.tsx": TSX, "Rakefile": Ruby, "a/b.tf": HCL,
		"x.txt":        nil,
		"a/Dockerfile": Dockerfile, "Dockerfile.dev": Dockerfile, "x.dockerfile": Dockerfile,
	} {
		var got *Language
		for _, l := range Languages {
			if l.Matches(file) {
				got = l
				break
			}
		}
		if got != want {
			t.Errorf("%s belongs to %v", file, got)
		}
	}
}

// What the grammars cannot take ends with an error that says why, in bounded time
// and memory.
func TestHostileTextEndsWithAReason(t *testing.T) {
	for name, test := range map[string]struct {
		lang *Language
		src  string
		max  Limits
		want error
	}{
		"generics without end": {Java, strings.Repeat("a<", 100_000), Limits{Time: time.Minute}, ErrMemory},
		"no time": {Go, "package a\n" + strings.Repeat("var x = 1\n", 200_000),
			Limits{Time: time.Millisecond}, ErrDeadline},
		"no steps": {Go, "package a\n" + strings.Repeat("var x = 1\n", 200_000), Limits{Steps: 100},
			ErrSteps},
		"no memory": {Go, "package a\n" + strings.Repeat("var x = 1\n", 20_000), Limits{Memory: 1 << 10},
			ErrMemory},
		"NUL":       {Bash, "echo \x00", Limits{}, ErrBinary},
		"too large": {JSON, strings.Repeat(" ", MaxSource+1), Limits{}, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if tree, err := test.lang.Parse([]byte(test.src), test.max); !errors.Is(err, test.want) {
				t.Errorf("%v and a tree: %v, want the error %v", err, tree != nil, test.want)
			}
			// The parser is as good as new.
			tree, err := test.lang.Parse([]byte(sources[test.lang]), Limits{})
			if err != nil || tree.Errors {
				t.Errorf("after that: %v", err)
			}
		})
	}
}

// The runtime asks for the deadline while it parses and while it balances the tree;
// a parser that was ended in either must parse the next text.
func TestParserIsUsableAfterADeadline(t *testing.T) {
	text := []byte(strings.Repeat("f(x)\n", 20_000))
	whole := time.Now()
	want, err := Python.Parse(text, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(whole)
	for i := range 40 {
		limit := max(took*time.Duration(i+1)/40, 1)
		if _, err := Python.Parse(text, Limits{Time: limit}); err != nil && !errors.Is(err, ErrDeadline) {
			t.Fatalf("limit %v: %v", limit, err)
		}
		if got, err := Python.Parse([]byte("x = 1\n"), Limits{}); err != nil || got.Errors {
			t.Fatalf("after a limit of %v: %v", limit, err)
		}
	}
	if got, err := Python.Parse(text, Limits{}); err != nil || len(got.Nodes) != len(want.Nodes) {
		t.Errorf("the same text gives another tree: %v", err)
	}
}

func TestDepthCostsNoStack(t *testing.T) {
	src := "x = " + strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000) + "\n"
	tree, err := Python.Parse([]byte(src), Limits{Memory: 1 << 30, Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(tree); err != nil {
		t.Error(err)
	}
}

func TestEmptyText(t *testing.T) {
	for _, l := range Languages {
		tree, err := l.Parse(nil, Limits{})
		if err != nil || len(tree.Nodes) == 0 {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
}

// Trees do not depend on who else is parsing.
func TestParsersAtOnceGiveTheSameTrees(t *testing.T) {
	want := map[*Language]string{}
	for _, l := range Languages {
		tree, err := l.Parse([]byte(sources[l]), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want[l] = dump(tree)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, l := range Languages {
				tree, err := l.Parse([]byte(sources[l]), Limits{})
				if err != nil || dump(tree) != want[l] {
					t.Errorf("%s: another tree, %v", l.Name, err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	for i, l := range Languages {
		f.Add(uint8(i), []byte(sources[l]))
	}
	f.Add(uint8(0), bytes.Repeat([]byte("a<"), 1000))
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		l := Languages[int(lang)%len(Languages)]
		tree, err := l.Parse(src, Limits{Time: time.Second})
		if err != nil {
			return
		}
		if err := check(tree); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte("package a\n" + strings.Repeat("func f(x int) (y string) { if x > 1 { return g(x, \"a\") }; return "+
		"h.i(x) }\n", 10_000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Go.Parse(src, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
