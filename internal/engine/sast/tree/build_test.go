package tree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/tree"
)

// Wrap is how "a.b(c)[d]" is built from left to right: each postfix takes what stands
// before it below a node of its own.
func TestWrap(t *testing.T) {
	b := &tree.Builder{File: &tree.File{Source: "x = a.b(c)"}}
	b.Open(tree.Assign, tree.RoleNone, 0, 10)
	b.Leaf(tree.Name, tree.RoleTarget, "x", 0, 1)
	mark := b.Mark()
	b.Leaf(tree.Name, tree.RoleObject, "a", 4, 5)
	b.Leaf(tree.Name, tree.RoleProperty, "b", 6, 7)
	b.Wrap(mark, tree.Member, tree.RoleCallee, 4, 7)
	b.Reopen(b.Wrap(mark, tree.Call, tree.RoleValue, 4, 10))
	b.Leaf(tree.Name, tree.RoleArgument, "c", 8, 9)
	b.Close()
	f := b.Finish()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	want := `Assign
  target: Name "x"
  value: Call
    callee: Member
      object: Name "a"
      property: Name "b"
    argument: Name "c"
`
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("the tree differs (-want +got):\n%s", diff)
	}
}

func TestWrapAtTheRoot(t *testing.T) {
	b := &tree.Builder{File: &tree.File{Source: "-a"}}
	mark := b.Mark()
	b.Leaf(tree.Name, tree.RoleValue, "a", 1, 2)
	b.Wrap(mark, tree.Unary, tree.RoleNone, 0, 2)
	f := b.Finish()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	if got, want := f.String(), "Unary\n  value: Name \"a\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrapOfNothing(t *testing.T) {
	b := &tree.Builder{File: &tree.File{Source: "()"}}
	b.Open(tree.ExpressionStatement, tree.RoleNone, 0, 2)
	b.Wrap(b.Mark(), tree.Tuple, tree.RoleValue, 0, 2)
	f := b.Finish()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	if got, want := f.String(), "ExpressionStatement\n  value: Tuple\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Walks over a tree recurse, so that its depth is bounded.
func TestTooDeep(t *testing.T) {
	b := &tree.Builder{File: &tree.File{}}
	for i := range tree.MaxDepth {
		if b.TooDeep() || b.Depth() != i {
			t.Fatalf("at depth %d: too deep %v, depth %d", i, b.TooDeep(), b.Depth())
		}
		b.Open(tree.Block, tree.RoleStatement, 0, 0)
	}
	if !b.TooDeep() {
		t.Errorf("%d open nodes are not too deep", b.Depth())
	}
	if f := b.Finish(); b.Depth() != 0 || f.Check() != nil {
		t.Errorf("Finish leaves %d nodes open, and the tree has the fault %v", b.Depth(), f.Check())
	}
}

// The list of ranges that were not understood is bounded: a file of another language
// would fill memory with it.
func TestUnknownRangesAreBounded(t *testing.T) {
	b := &tree.Builder{File: &tree.File{Source: "x"}}
	b.Open(tree.FileKind, tree.RoleNone, 0, 1)
	for range 250 {
		b.Unknown(tree.RoleStatement, 0, 1)
	}
	f := b.Finish()
	if got := len(f.Unknown); got != 100 {
		t.Errorf("got %d ranges, want 100", got)
	}
	if got := f.Count(tree.Root, tree.RoleStatement); got != 250 {
		t.Errorf("got %d errors in the tree, want all 250", got)
	}
	if got := f.Unknown[0]; got != (tree.Range{Start: 0, End: 1}) {
		t.Errorf("got range %v, want 0 to 1", got)
	}
}
