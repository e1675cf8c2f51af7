package ir_test

import (
	"testing"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/scope"
	"merlon/internal/engine/sast/tree"
)

// languages returns those whose files are lowered.
func languages() []*lang.Language {
	var list []*lang.Language
	for _, l := range all.Languages() {
		if l.Semantics.Flow {
			list = append(list, l)
		}
	}
	return list
}

var seeds = []string{
	"", "x", "class A { int x = 1; A() { this(1); } A(int a) { super(); x++; } }",
	"def f(a, *b, c=1, **d):\n  try:\n    return a\n  finally:\n    yield from b\n",
	"for (;;) { try { break } catch { continue } finally { return } }",
	"const {a: {b = 1}, ...c} = async function* () { await (x ?? y) }; label: { break label }",
	"func (s *T) F() (a int, err error) { defer f(); select { case x := <-c: go f(x...) }; goto l; l: return }",
	"match x:\n  case [a, *b] if a: pass\n  case {'k': A(b=c)}: del x[0]\n",
	"a = b = c, d = d, a; x += y if z else w",
	"switch (x) { case 1: default: yield 2; }",
	"const p = new Promise(() => 1); new Promise(function () {}); new Promise",
}

// FuzzLower lowers any source in every language: it must not panic, and the form
// must be sound. That it ends soon is the fuzzer's own limit.
func FuzzLower(f *testing.F) {
	list := languages()
	for i := range list {
		for _, s := range seeds {
			f.Add(uint8(i), s)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, src string) {
		l := list[int(which)%len(list)]
		file, err := l.Parse("dir/file", []byte(src), cst.Limits{})
		if err != nil {
			return
		}
		form := ir.Lower(scope.Analyze(file, l, nil), l, ir.Limits{Instructions: 5000})
		if err := form.Check(); err != nil {
			t.Errorf("%v\n%s", err, form)
		}
	})
}

// FuzzTree lowers trees that no parser makes.
func FuzzTree(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18})
	f.Add([]byte{10, 3, 40, 5, 60, 7, 80, 9, 100, 11, 120, 13, 140, 15})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range languages() {
			b := tree.Builder{File: &tree.File{Path: "a/b", Language: l.Name, Source: "abc"}}
			b.Open(tree.FileKind, tree.RoleNone, 0, 3)
			for i := 0; i+2 < len(data) && i < 3000; i += 3 {
				switch {
				case data[i+2]%4 == 0 && b.Depth() > 1:
					b.Close()
				case !b.TooDeep():
					n := b.Open(tree.Kind(data[i]%80+2), tree.Role(data[i+1]%45), 0, 3)
					b.File.Nodes[n].Text = []string{"", "a", "b", "=", "&&", "static", "*", "[]"}[data[i+2]/4%8]
				}
			}
			file := b.Finish()
			if file.Check() != nil {
				continue // a lowering gives every kind the parts that it cannot do without
			}
			form := ir.Lower(scope.Analyze(file, l, nil), l, ir.Limits{Instructions: 5000})
			if err := form.Check(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", l.Name, err, file, form)
			}
		}
	})
}

// TestLimit skips a function that is too large, says so, and keeps the others.
func TestLimit(t *testing.T) {
	l := all.ForFile("a.py")
	f, err := l.Parse("a.py", []byte("def big(a):\n  x = [1, 2, 3, 4, 5, 6, 7]\n  return lambda: a\ndef small(b):\n  "+
		"return b\n"), cst.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	form := ir.Lower(scope.Analyze(f, l, nil), l, ir.Limits{Instructions: 10})
	if err := form.Check(); err != nil {
		t.Fatal(err)
	}
	if len(form.Skipped) != 1 || form.Skipped[0].Reason != "the function has more than 10 instructions" {
		t.Errorf("skipped %v", form.Skipped)
	}
	for _, fn := range form.Functions {
		switch last := fn.Code[len(fn.Code)-1].Op; {
		case fn.Name == "big" && (len(fn.Code) != 1 || last != ir.Stop):
			t.Errorf("the large function is %s", fn)
		case fn.Name == "small" && last != ir.Return:
			t.Errorf("the small function is %s", fn)
		}
	}
}

// TestValue finds what expressions give from their nodes.
func TestValue(t *testing.T) {
	f := lower(t, "a.js", "const x = f(a.b, c ? 1 : 2); x.y = `t${x}`; function g(p) { return p && h(p); }")
	want := map[string]string{
		"f(a.b, c ? 1 : 2)": "call", "a.b": "global", "c ? 1 : 2": "copy", "`t${x}`": "concat", "x.y": "setfield",
		"p && h(p)": "copy", "h(p)": "call", "x.y = `t${x}`": "concat", "c": "global",
	}
	got := map[string]string{}
	for i := range f.Tree.Nodes {
		code := f.Tree.Code(int32(i))
		if _, ok := want[code]; !ok || !f.Tree.Nodes[i].Kind.Expression() {
			continue
		}
		fn, at, v := f.Value(int32(i))
		if fn == nil || v == ir.NoVar {
			t.Errorf("%q has no value", code)
			continue
		}
		got[code] = fn.Code[at].Op.String()
	}
	for code, op := range want {
		if got[code] != op {
			t.Errorf("%q is a %s, want a %s", code, got[code], op)
		}
	}
}
