package scope_test

import (
	"strings"
	"testing"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// analyze looks at a source.
func analyze(t *testing.T, language, src string) *scope.Info {
	t.Helper()
	l := all.ByName(language)
	if l == nil {
		t.Fatalf("no language %s", language)
	}
	f, err := l.Parse("test", []byte(src), cst.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return scope.Analyze(f, l, nil)
}

// marked returns the first argument of the call of mark on each line.
func marked(s *scope.Info) map[int]int32 {
	f := s.File
	out := map[int]int32{}
	for i := range f.Nodes {
		n := int32(i)
		if f.Is(n, tree.Call) && f.Text(f.Child(n, tree.RoleCallee)) == "mark" {
			out[f.Line(f.Nodes[i].Start)] = f.Child(n, tree.RoleArgument)
		}
	}
	return out
}

// TestConst asks for the constant in each "mark(x)"; the comment behind it says which,
// "-" for none.
func TestConst(t *testing.T) {
	for _, test := range []struct{ language, name, source string }{
		{"python", "written once", "a = 'x'\nmark(a) # x\ndef f():\n    mark(a) # x\n"},
		{"python", "the last write in front", "def f():\n    a = 'x'\n    a = 'y'\n    mark(a) # y\n"},
		{"python", "a write that may not happen", "def f(c):\n    if c:\n        a = 'x'\n        mark(a) # x\n    " +
			"mark(a) # -\n"},
		{"python", "behind and", "def f(c):\n    c and (a := 'x')\n    mark(a) # -\n"},
		{"python", "a parameter that is replaced", "def f(a):\n    mark(a) # -\n    a = 'x'\n    mark(a) # x\n"},
		{"python", "a loop that writes", "def f(c):\n    a = 'x'\n    while c:\n        mark(a) # -\n        a = a " +
			"+ 'x'\n"},
		{"python", "folded", "a = 'x' + 'y'\nmark(a * 1) # -\nmark(a + 'z') # xyz\nmark(1 + 2) # 3\n"},
		{"python", "used before it is written", "mark(a) # -\na = 'x'\n"},
		{"java", "a field that nobody else sees", "class A {\n  private String a = \"x\";\n  String b = \"y\";\n  " +
			"void m() {\n    mark(a); // x\n    mark(this.a); // x\n    mark(b); // -\n  }\n}\n"},
		{"java", "a field inside of a method", "class A {\n  String a;\n  void m() {\n    a = \"x\";\n    mark(a); " +
			"// x\n  }\n  void n() {\n    a = \"y\";\n    mark(a); // y\n  }\n  void o() {\n    mark(a); // -\n " +
			" }\n}\n"},
		{"java", "a write in a condition", "class A { void m(boolean c) {\n  boolean b;\n  if (b = true) { f(); }\n  " +
			"mark(b); // true\n} }\n"},
		{"java", "a write under a lock", "class A { void m(String c) {\n  String a = c;\n  synchronized (this) { a = " +
			"\"x\"; }\n  mark(a); // x\n} }\n"},
		{"javascript", "a name that nothing declares", "function f() {\n  a = 'x';\n  mark(a); // x\n}\nfunction g() " +
			"{\n  mark(a); // -\n}\n"},
		{"javascript", "a variable that another function writes", "let a;\nfunction f() { a = 'x'; }\nfunction g() " +
			"{\n  mark(a); // -\n}\n"},
		{"hcl", "locals and defaults", "locals {\n  a = \"x\"\n}\nvariable \"b\" {\n  default = \"y\"\n}\nc = " +
			"mark(local.a) # x\nd = mark(var.b) # y\ne = mark(var.c) # -\n"},
	} {
		t.Run(test.language+" "+test.name, func(t *testing.T) {
			s := analyze(t, test.language, test.source)
			nodes := marked(s)
			for n, line := range strings.Split(test.source, "\n") {
				at := max(strings.LastIndex(line, "# "), strings.LastIndex(line, "// ")+1)
				if at <= 0 || !strings.Contains(line, "mark(") {
					continue
				}
				got := "-"
				if v, ok := s.Const(nodes[n+1]); ok {
					got = v.Text
				}
				if want := line[at+2:]; got != want {
					t.Errorf("line %d: got %q, want %q", n+1, got, want)
				}
			}
		})
	}
}

// TestQualified asks for the qualified name and the type in each "mark(x)".
func TestQualified(t *testing.T) {
	for _, test := range []struct{ language, source, qualified, typ string }{
		{"python", "from os import path as p\nmark(p.join)", "os.path.join", ""},
		{"python", "import a\nimport b as a\nmark(a.f)", "b.f", ""},
		{"python", "import a.b\nmark(a.b.c)", "a.b.c", ""},
		{"python", "def f(x: str):\n    mark(x)", "", "str"},
		{"javascript", "const {exec: e} = require('node:child_process')\nmark(e)", "child_process.exec", ""},
		{"javascript", "import d, {x} from './m'\nmark(x)", "./m.x", ""},
		{"java", "import a.b.C;\nclass A { void m() { mark(C); } }", "a.b.C", ""},
		{"java", "import a.b.C;\nclass A { C<String> f; void m() { mark(this.f); } }", "", "a.b.C"},
		{"java", "class A { void m(boolean c) { mark(c ? new B() : null); } }", "", "B"},
		{"go", "package p\nimport r \"math/rand\"\nfunc m() { mark(r.Int) }", "math/rand.Int", ""},
	} {
		s := analyze(t, test.language, test.source)
		for _, node := range marked(s) {
			if got := s.Qualified(node); got != test.qualified && test.qualified != "" {
				t.Errorf("%s\nqualified %q, want %q", test.source, got, test.qualified)
			}
			if got := s.Type(node); got != test.typ && test.typ != "" {
				t.Errorf("%s\ntype %q, want %q", test.source, got, test.typ)
			}
		}
		if len(marked(s)) != 1 {
			t.Errorf("%s\nhas %d marks", test.source, len(marked(s)))
		}
	}
}

// TestDefinitions lists what a variable is given, once something surely is.
func TestDefinitions(t *testing.T) {
	for _, test := range []struct {
		source string
		want   int
	}{
		{"def f(c):\n    if c:\n        a = 'x'\n    else:\n        a = 'y'\n    mark(a)\n", 2},
		{"def f(c):\n    if c:\n        a = 'x'\n    elif d:\n        a = 'y'\n    else:\n        a = 'z'\n    " +
			"mark(a)\n", 3},
		{"def f(c):\n    if c:\n        a = 'x'\n    elif d:\n        a = 'y'\n    mark(a)\n", 0},
		{"def f(c):\n    a = 'x'\n    if c:\n        a = 'y'\n    mark(a)\n", 2},
	} {
		s := analyze(t, "python", test.source)
		for _, node := range marked(s) {
			if got := len(s.Definitions(node)); got != test.want {
				t.Errorf("%s\n%d definitions, want %d", test.source, got, test.want)
			}
		}
	}
}

// TestFunctionsApart asks for what the argument of each "mark(x)" calls.
func TestFunctionsApart(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"class A { String x; String f() { return x; } void m() { int f = 1; mark(f()); } }", "A.f"},
		{"import static a.B.h;\nclass A { void m() { String h = h(1); mark(h(2)); } }", "a.B.h"},
	} {
		s := analyze(t, "java", test.source)
		for _, node := range marked(s) {
			if got := s.Qualified(s.File.Child(node, tree.RoleCallee)); got != test.want {
				t.Errorf("%s\ncalls %q, want %q", test.source, got, test.want)
			}
		}
	}
	s := analyze(t, "java", "class A { int g; String g() { return null; } void m() { mark(g); mark(this.g); } }")
	for _, node := range marked(s) {
		if got := s.Type(node); got != "int" {
			t.Errorf("the field has type %q", got)
		}
	}
}
