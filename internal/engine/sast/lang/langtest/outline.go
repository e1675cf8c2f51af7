package langtest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// This file tests short snippets against trees that are written on one line, so that a
// table beside the code of a language says what it promises. The archives in testdata
// show whole trees, with every role and flag.

// A Case is a snippet and the outline of its tree, a line for each statement.
type Case struct {
	Name, Source string
	Want         []string
}

// Snippets lowers the source of each case and compares the outline of its statements,
// one statement a line.
func Snippets(t *testing.T, l *lang.Language, cases []Case) {
	t.Helper()
	compareOutlines(t, cases, func(t *testing.T, source string) *tree.File {
		f, err := l.Parse("snippet", []byte(source), cst.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Unknown) > 0 {
			t.Errorf("not understood: %s", describeUnknown(f))
		}
		return f
	})
}

// PatternSnippets parses each source as the pattern of a rule and compares its outline.
func PatternSnippets(t *testing.T, l *lang.Language, cases []Case) {
	t.Helper()
	compareOutlines(t, cases, func(t *testing.T, source string) *tree.File {
		f, err := l.ParsePattern(source)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}

// compareOutlines runs each case: the tree that parse makes must be valid and have the
// outline that the case wants.
func compareOutlines(t *testing.T, cases []Case, parse func(t *testing.T, source string) *tree.File) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			f := parse(t, c.Source)
			if err := f.Check(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Want, strings.Split(Outline(f), "\n")); diff != "" {
				t.Errorf("%s\nthe outline differs (-want +got):\n%s", c.Source, diff)
			}
		})
	}
}

// Outline returns a tree on one line, or one line a statement for a file. A leaf is its
// text: names bare, strings in quotes. Other nodes are the kind, the text in quotes, the
// flags in brackets and the children in parentheses; an expression that is a statement
// ends in a semicolon. The role of a child is given where its place does not tell it.
func Outline(f *tree.File) string {
	o := &outliner{file: f}
	if !f.Is(tree.Root, tree.FileKind) {
		o.writeNode(tree.Root)
		return o.out.String()
	}
	for c := range f.Children(tree.Root) {
		if o.out.Len() > 0 {
			o.out.WriteByte('\n')
		}
		o.writeNode(c)
	}
	return o.out.String()
}

// outliner writes the outline of a file.
type outliner struct {
	file *tree.File
	out  strings.Builder
}

// plainRoles are the roles that an outline leaves out: what they mean shows from the kind
// of the parent and the order of its children.
var plainRoles = map[tree.Role]bool{
	tree.RoleNone: true, tree.RoleStatement: true, tree.RoleCallee: true, tree.RoleArgument: true,
	tree.RoleObject: true, tree.RoleProperty: true, tree.RoleLeft: true, tree.RoleRight: true,
	tree.RoleElement: true, tree.RolePart: true, tree.RoleTarget: true, tree.RoleValue: true,
	tree.RoleName: true, tree.RoleParameter: true, tree.RoleKey: true, tree.RoleIndex: true,
	tree.RoleModifier: true, tree.RoleAnnotation: true, tree.RoleCase: true, tree.RoleAttribute: true,
	tree.RoleClause: true, tree.RoleHandler: true, tree.RoleTypeParameter: true,
}

// flagNames are the flags in the order of their bits; see tree.Flags.
var flagNames = []string{"postfix", "optional", "raw", "implied", "pattern", "ownthis"}

// writeNode writes the node and what is below it.
func (o *outliner) writeNode(i int32) {
	n := &o.file.Nodes[i]
	if !plainRoles[n.Role] {
		o.out.WriteString(n.Role.String() + ": ")
	}
	if n.Kind == tree.ExpressionStatement && n.Flags == 0 {
		o.writeChildren(i)
		o.out.WriteByte(';')
		return
	}
	if text, ok := leafText(n); ok && n.Next == i+1 && n.Flags == 0 {
		o.out.WriteString(text)
		return
	}
	o.out.WriteString(n.Kind.String())
	if n.Text != "" {
		o.out.WriteString(" " + strconv.Quote(n.Text))
	}
	for bit, name := range flagNames {
		if n.Flags&(1<<bit) != 0 {
			o.out.WriteString(" [" + name + "]")
		}
	}
	if n.Next > i+1 {
		o.out.WriteByte('(')
		o.writeChildren(i)
		o.out.WriteByte(')')
	}
}

// writeChildren writes the children with commas between them.
func (o *outliner) writeChildren(i int32) {
	separator := ""
	for c := range o.file.Children(i) {
		o.out.WriteString(separator)
		o.writeNode(c)
		separator = ", "
	}
}

// leafText returns what stands for a leaf whose kind shows from its text alone.
func leafText(n *tree.Node) (string, bool) {
	switch n.Kind {
	case tree.Name, tree.Number, tree.Bool, tree.Metavariable, tree.MetaEllipsis, tree.Modifier:
		return n.Text, n.Text != ""
	case tree.String:
		return strconv.Quote(n.Text), true
	case tree.Character:
		quoted := strconv.Quote(n.Text)
		return "'" + quoted[1:len(quoted)-1] + "'", true
	case tree.Type:
		return "<" + n.Text + ">", true
	case tree.Ellipsis:
		return "...", true
	case tree.This:
		return "this", n.Text == ""
	case tree.Super:
		return "super", n.Text == ""
	}
	return "", false
}
