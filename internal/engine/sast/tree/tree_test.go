package tree_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/tree"
)

// source is the code of sample: a call of a method, and an assignment on the next line.
const source = "os.run(x, é)\ny = 1\n"

// sample is the tree of source.
func sample() *tree.File {
	b := &tree.Builder{File: &tree.File{Path: "a.py", Language: "python", Source: source}}
	b.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(source)))
	b.Open(tree.ExpressionStatement, tree.RoleStatement, 0, 13)
	b.Open(tree.Call, tree.RoleValue, 0, 13)
	b.File.Nodes[b.Open(tree.Member, tree.RoleCallee, 0, 6)].Text = "."
	b.Leaf(tree.Name, tree.RoleObject, "os", 0, 2)
	b.Leaf(tree.Name, tree.RoleProperty, "run", 3, 6)
	b.Close()
	b.Leaf(tree.Name, tree.RoleArgument, "x", 7, 8)
	b.Leaf(tree.Name, tree.RoleArgument, "é", 10, 12)
	b.Close()
	b.Close()
	b.Open(tree.ExpressionStatement, tree.RoleStatement, 14, 19)
	b.File.Nodes[b.Open(tree.Assign, tree.RoleValue, 14, 19)].Text = "="
	b.Leaf(tree.Name, tree.RoleTarget, "y", 14, 15)
	b.Leaf(tree.Number, tree.RoleValue, "1", 18, 19)
	return b.Finish()
}

// The nodes of sample by their index.
const (
	statement int32 = 1 + iota
	call
	member
	object
	property
	first
	second
	other
	assign
	target
	number
)

func TestPrint(t *testing.T) {
	want := `File
  statement: ExpressionStatement
    value: Call
      callee: Member "."
        object: Name "os"
        property: Name "run"
      argument: Name "x"
      argument: Name "é"
  statement: ExpressionStatement
    value: Assign "="
      target: Name "y"
      value: Number "1"
`
	if diff := cmp.Diff(want, sample().String()); diff != "" {
		t.Errorf("the tree differs (-want +got):\n%s", diff)
	}
	want = "callee: Member \".\"\n  object: Name \"os\"\n  property: Name \"run\"\n"
	if diff := cmp.Diff(want, sample().Print(member)); diff != "" {
		t.Errorf("the tree below the member differs (-want +got):\n%s", diff)
	}
}

func TestPrintFlags(t *testing.T) {
	b := &tree.Builder{File: &tree.File{}}
	i := b.Leaf(tree.Update, tree.RoleNone, "++", 0, 0)
	b.File.Nodes[i].Flags = tree.Postfix | tree.Optional | tree.Raw | tree.Implied | tree.Pattern | tree.OwnThis
	want := "Update \"++\" postfix optional raw implied pattern ownthis\n"
	if got := b.Finish().String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChildren(t *testing.T) {
	f := sample()
	for _, c := range []struct {
		name string
		of   int32
		want []int32
	}{
		{"of the root", tree.Root, []int32{statement, other}},
		{"of a call", call, []int32{member, first, second}},
		{"of a leaf", first, nil},
	} {
		if got := slices.Collect(f.Children(c.of)); !slices.Equal(got, c.want) {
			t.Errorf("children %s: got %v, want %v", c.name, got, c.want)
		}
	}
	for i := range f.Children(call) {
		if i != member {
			t.Errorf("got child %d after the loop has ended", i)
		}
		break
	}
	if got := slices.Collect(f.All(call, tree.RoleArgument)); !slices.Equal(got, []int32{first, second}) {
		t.Errorf("arguments: got %v", got)
	}
	for i := range f.All(call, tree.RoleArgument) {
		if i != first {
			t.Errorf("got argument %d after the loop has ended", i)
		}
		break
	}
}

func TestAccess(t *testing.T) {
	f := sample()
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"first child of a role", f.Child(call, tree.RoleArgument), first},
		{"child of a role that is missing", f.Child(call, tree.RoleBody), tree.None},
		{"number of children", f.Count(call, tree.RoleArgument), 2},
		{"no children of the role", f.Count(call, tree.RoleBody), 0},
		{"kind", f.Is(call, tree.Call), true},
		{"other kind", f.Is(call, tree.Name), false},
		{"kind of none", f.Is(tree.None, tree.Name), false},
		{"text", f.Text(first), "x"},
		{"text of none", f.Text(tree.None), ""},
		{"code", f.Code(member), "os.run"},
		{"code of none", f.Code(tree.None), ""},
		{"enclosing call", f.Enclosing(object, tree.Call, tree.Assign), call},
		{"nearest of several kinds", f.Enclosing(object, tree.Call, tree.Member), member},
		{"enclosing kind that is missing", f.Enclosing(object, tree.Function), tree.None},
		{"contains itself", f.Contains(call, call), true},
		{"contains a descendant", f.Contains(call, property), true},
		{"contains no sibling", f.Contains(statement, assign), false},
		{"contains no ancestor", f.Contains(member, call), false},
		{"contains none", f.Contains(call, tree.None), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	b := &tree.Builder{File: &tree.File{Source: "def f"}}
	b.Open(tree.Function, tree.RoleNone, 0, 5)
	b.Leaf(tree.Name, tree.RoleName, "f", 4, 5)
	f := b.Finish()
	if got := f.Name(tree.Root); got != "f" {
		t.Errorf("got name %q, want f", got)
	}
	if got := sample().Name(call); got != "" {
		t.Errorf("a call has the name %q, want none", got)
	}
}

func TestDotted(t *testing.T) {
	// chain builds Members over what first adds.
	chain := func(first func(b *tree.Builder, r tree.Role), names ...string) *tree.File {
		b := &tree.Builder{File: &tree.File{}}
		for range names {
			b.Open(tree.Member, tree.RoleObject, 0, 0)
		}
		first(b, tree.RoleObject)
		for _, name := range names {
			b.Leaf(tree.Name, tree.RoleProperty, name, 0, 0)
			b.Close()
		}
		return b.Finish()
	}
	leaf := func(k tree.Kind, text string) func(*tree.Builder, tree.Role) {
		return func(b *tree.Builder, r tree.Role) { b.Leaf(k, r, text, 0, 0) }
	}
	for _, c := range []struct {
		name string
		file *tree.File
		want string
	}{
		{"a name alone", chain(leaf(tree.Name, "a")), "a"},
		{"members over a name", chain(leaf(tree.Name, "a"), "b", "c"), "a.b.c"},
		{"the receiver", chain(leaf(tree.This, ""), "a"), "this.a"},
		{"the superclass", chain(leaf(tree.Super, ""), "a", "b"), "super.a.b"},
		{"a type", chain(leaf(tree.Type, "java.util.List"), "of"), "java.util.List.of"},
		{"a type with arguments", chain(func(b *tree.Builder, r tree.Role) {
			b.Open(tree.Type, r, 0, 0)
			b.Leaf(tree.Type, tree.RoleArgument, "T", 0, 0)
			b.Close()
		}, "of"), ""},
		{"members over a string", chain(leaf(tree.String, "a"), "b"), ""},
		{"a member without a property", chain(func(b *tree.Builder, r tree.Role) {
			b.Open(tree.Member, r, 0, 0)
			b.Leaf(tree.Name, tree.RoleObject, "a", 0, 0)
			b.Close()
		}, "b"), ""},
	} {
		if got := c.file.Dotted(tree.Root); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := sample().Dotted(tree.None); got != "" {
		t.Errorf("none: got %q, want nothing", got)
	}
}

func TestPosition(t *testing.T) {
	f := sample()
	for _, c := range []struct {
		offset       uint32
		line, column int
	}{
		{0, 1, 1}, {7, 1, 8}, {10, 1, 11},
		{12, 1, 12}, // behind a letter of two bytes: columns count characters
		{14, 2, 1}, {19, 2, 6}, {uint32(len(source)), 3, 1},
	} {
		line, column := f.Position(c.offset)
		if line != c.line || column != c.column {
			t.Errorf("byte %d: got %d:%d, want %d:%d", c.offset, line, column, c.line, c.column)
		}
		if got := f.Line(c.offset); got != c.line {
			t.Errorf("byte %d: got line %d, want %d", c.offset, got, c.line)
		}
	}
}

func TestKindsAndRoles(t *testing.T) {
	for k := tree.Invalid + 1; k.Known(); k++ {
		if k.String() == "" || k.String() == "Kind?" {
			t.Errorf("kind %d has no name", k)
		}
	}
	seen := map[string]tree.Role{}
	for r := tree.RoleNone; r.Known(); r++ {
		if other, ok := seen[r.String()]; ok || r.String() == "role?" {
			t.Errorf("roles %d and %d are both %q", other, r, r)
		}
		seen[r.String()] = r
	}
	for _, c := range []struct {
		kind                  tree.Kind
		expression, statement bool
	}{
		{tree.Name, true, false}, {tree.Call, true, false}, {tree.Super, true, false}, {tree.Element, true, false},
		{tree.Typed, true, false}, {tree.Deep, true, false}, {tree.If, false, true}, {tree.Package, false, true},
		{tree.Function, false, true}, {tree.Empty, false, true}, {tree.Parameter, false, false},
		{tree.Modifier, false, false}, {tree.FileKind, false, false}, {tree.Type, false, false},
		{tree.Ellipsis, false, false},
	} {
		if got := c.kind.Expression(); got != c.expression {
			t.Errorf("%s.Expression() = %v, want %v", c.kind, got, c.expression)
		}
		if got := c.kind.Statement(); got != c.statement {
			t.Errorf("%s.Statement() = %v, want %v", c.kind, got, c.statement)
		}
	}
	for got, want := range map[string]string{
		tree.Kind(250).String(): "Kind?", tree.Role(250).String(): "role?", tree.RoleNone.String(): "",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if tree.Invalid.Known() || tree.Kind(250).Known() || tree.Role(250).Known() {
		t.Error("a kind or role that does not exist is known")
	}
}

func TestCheck(t *testing.T) {
	if err := sample().Check(); err != nil {
		t.Fatalf("a valid tree: %v", err)
	}
	for _, c := range []struct {
		name, want string
		damage     func(f *tree.File)
	}{
		{"no nodes", "no nodes", func(f *tree.File) { f.Nodes = nil }},
		{"an invalid kind", "kind 0", func(f *tree.File) { f.Nodes[first].Kind = tree.Invalid }},
		{"an unknown kind", "kind 250", func(f *tree.File) { f.Nodes[first].Kind = 250 }},
		{"an unknown role", "role 250", func(f *tree.File) { f.Nodes[first].Role = 250 }},
		{"a range that ends before its start", "range 8–7", func(f *tree.File) {
			f.Nodes[first].Start = 8
			f.Nodes[first].End = 7
		}},
		{"a range beyond the source", "range 7–99", func(f *tree.File) { f.Nodes[first].End = 99 }},
		{"a link to itself", "next 6", func(f *tree.File) { f.Nodes[first].Next = first }},
		{"a link beyond the nodes", "next 99", func(f *tree.File) { f.Nodes[number].Next = 99 }},
		{"a root with a parent", "parent 3", func(f *tree.File) { f.Nodes[tree.Root].Parent = 3 }},
		{"a node without a parent", "parent -1", func(f *tree.File) { f.Nodes[first].Parent = tree.None }},
		{"a parent that follows", "parent 9", func(f *tree.File) { f.Nodes[first].Parent = assign }},
		{"a node longer than its parent", "beyond its parent", func(f *tree.File) { f.Nodes[second].Next = other + 1 }},
		{"a call without a callee", "has no callee", func(f *tree.File) { f.Nodes[member].Role = tree.RoleArgument }},
		{"an assignment without a value", "has no value", func(f *tree.File) {
			f.Nodes[number].Role = tree.RoleTarget
		}},
	} {
		f := sample()
		c.damage(f)
		err := f.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
}
