package cache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang/all"
	"merlon/internal/engine/sast/tree"
)

// trees returns the trees of the testdata of the rules.
func trees(t testing.TB) []*tree.File {
	t.Helper()
	paths, err := filepath.Glob("../rules/*/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var out []*tree.File
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		l := all.ForFile(p)
		if l == nil {
			continue
		}
		f, err := l.Parse(p, text, cst.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		out = append(out, f)
	}
	if len(out) < 50 {
		t.Fatalf("only %d trees", len(out))
	}
	return out
}

func TestTree(t *testing.T) {
	broken := "class A { void f( { x.y(\"é\\n\"; } @ # }"
	f, err := all.ByName("java").Parse("A.java", []byte(broken), cst.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(trees(t), f) {
		w := &cache.Writer{}
		if !w.Tree(want) {
			t.Fatalf("%s: not well formed", want.Path)
		}
		got := &tree.File{Path: want.Path, Language: want.Language, Source: want.Source}
		r := cache.NewReader(w.Bytes)
		r.Tree(got)
		if err := r.End(); err != nil {
			t.Fatalf("%s: %v", want.Path, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tree.File{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Path, diff)
		}
	}
}

func TestTreeThatIsNotWellFormed(t *testing.T) {
	root := tree.Node{Kind: tree.FileKind, Parent: -1, Next: 2, End: 1}
	for name, nodes := range map[string][]tree.Node{
		"another parent":     {root, {Kind: tree.Name, Parent: -1, Next: 2}},
		"it ends behind all": {root, {Kind: tree.Name, Next: 3}},
		"beyond the source":  {root, {Kind: tree.Name, Next: 2, End: 9}},
	} {
		w := &cache.Writer{}
		if w.Tree(&tree.File{Source: "a", Nodes: nodes}) || len(w.Bytes) > 0 {
			t.Errorf("%s: written", name)
		}
	}
}

// FuzzTree reads what nobody wrote: it must fail, or be a tree that can be walked.
func FuzzTree(f *testing.F) {
	source := "class A { int f() { return g(1, \"b\"); } }"
	t, err := all.ByName("java").Parse("A.java", []byte(source), cst.Limits{})
	if err != nil {
		f.Fatal(err)
	}
	w := &cache.Writer{}
	w.Tree(t)
	f.Add(w.Bytes)
	f.Add(w.Bytes[:len(w.Bytes)/2])
	f.Add([]byte{0, 0, 1, 1, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		got := &tree.File{Path: "A.java", Source: source}
		r := cache.NewReader(b)
		r.Tree(got)
		if r.End() != nil {
			return
		}
		for i := range got.Nodes {
			n := &got.Nodes[i]
			if got.Code(int32(i)); n.Next <= int32(i) || int(n.Next) > len(got.Nodes) || n.Parent >= int32(i) {
				t.Fatalf("node %d: %+v", i, n)
			}
			for c := range got.Children(int32(i)) {
				if got.Nodes[c].Parent != int32(i) {
					t.Fatalf("child %d of node %d", c, i)
				}
			}
			got.Position(n.Start)
		}
	})
}
