package langtest

import (
	"testing"

	"merlon/internal/engine/sast/tree"
)

// build returns the tree that a function adds to a builder, below a root of the kind.
func build(root tree.Kind, add func(b *tree.Builder)) *tree.File {
	b := &tree.Builder{File: &tree.File{Source: "0123456789"}}
	b.Open(root, tree.RoleNone, 0, 10)
	add(b)
	return b.Finish()
}

func TestOutline(t *testing.T) {
	leaf := func(k tree.Kind, r tree.Role, text string) func(b *tree.Builder) {
		return func(b *tree.Builder) { b.Leaf(k, r, text, 0, 1) }
	}
	for _, c := range []struct {
		name, want string
		root       tree.Kind
		add        []func(b *tree.Builder)
	}{
		{"names stand bare, strings in quotes", `Call(f, "a\"b", 'c')`, tree.Call, []func(b *tree.Builder){
			leaf(tree.Name, tree.RoleCallee, "f"), leaf(tree.String, tree.RoleArgument, `a"b`),
			leaf(tree.Character, tree.RoleArgument, "c")}},
		{"a character that does not print is escaped", `List('\n', '\x00')`, tree.List, []func(b *tree.Builder){
			leaf(tree.Character, tree.RoleElement, "\n"), leaf(tree.Character, tree.RoleElement, "\x00")}},
		{"roles that matter are given", `If(condition: a, then: Block)`, tree.If, []func(b *tree.Builder){
			leaf(tree.Name, tree.RoleCondition, "a"), leaf(tree.Block, tree.RoleThen, "")}},
		{"the text of other kinds is in quotes", `Binary "+"(1, true)`, tree.Binary, []func(b *tree.Builder){
			func(b *tree.Builder) { b.File.Nodes[0].Text = "+" },
			leaf(tree.Number, tree.RoleLeft, "1"), leaf(tree.Bool, tree.RoleRight, "true")}},
		{"flags are in brackets", `Update "++" [postfix](a)`, tree.Update, []func(b *tree.Builder){
			func(b *tree.Builder) { b.File.Nodes[0].Text, b.File.Nodes[0].Flags = "++", tree.Postfix },
			leaf(tree.Name, tree.RoleValue, "a")}},
		{"a leaf with a flag shows its kind", `Return(Name "a" [implied])`, tree.Return, []func(b *tree.Builder){
			func(b *tree.Builder) { b.File.Nodes[b.Leaf(tree.Name, tree.RoleValue, "a", 0, 1)].Flags = tree.Implied }}},
		{"the signs of patterns are themselves", `Call($X, ..., $...Y, <T>)`, tree.Call, []func(b *tree.Builder){
			leaf(tree.Metavariable, tree.RoleCallee, "$X"), leaf(tree.Ellipsis, tree.RoleArgument, ""),
			leaf(tree.MetaEllipsis, tree.RoleArgument, "$...Y"), leaf(tree.Type, tree.RoleArgument, "T")}},
		{"the receiver and its superclass are words", `Tuple(this, super, This "A")`, tree.Tuple,
			[]func(b *tree.Builder){leaf(tree.This, tree.RoleElement, ""), leaf(tree.Super, tree.RoleElement, ""),
				leaf(tree.This, tree.RoleElement, "A")}},
		{"a file is a line for each statement", "a;\nBreak", tree.FileKind, []func(b *tree.Builder){
			func(b *tree.Builder) {
				b.Open(tree.ExpressionStatement, tree.RoleStatement, 0, 2)
				b.Leaf(tree.Name, tree.RoleValue, "a", 0, 1)
				b.Close()
			}, leaf(tree.Break, tree.RoleStatement, "")}},
		{"an empty file has no lines", "", tree.FileKind, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Outline(build(c.root, func(b *tree.Builder) {
				for _, add := range c.add {
					add(b)
				}
			}))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSplitArchive(t *testing.T) {
	got := splitArchive("before the first\n-- a.go --\npackage a\n-- not a head\n-- a.go.tree --\nFile\n-- empty --\n")
	want := []section{{"a.go", "package a\n-- not a head\n"}, {"a.go.tree", "File\n"}, {"empty", ""}}
	if len(got) != len(want) {
		t.Fatalf("got %d sections, want %d: %q", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("section %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestDescribeUnknown(t *testing.T) {
	f := build(tree.FileKind, func(b *tree.Builder) {
		b.File.Source = "ab\ncd\nef"
		b.File.Nodes[0].End = 8
		b.Unknown(tree.RoleStatement, 3, 5)
		b.Unknown(tree.RoleStatement, 6, 8)
	})
	if got, want := describeUnknown(f), `line 2: "cd"; line 3: "ef"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOneLine(t *testing.T) {
	if got, want := oneLine("a\nb", 10), "a ba ba b"; got != want {
		t.Errorf("got %q, want %q: about ten bytes, without line breaks", got, want)
	}
}
