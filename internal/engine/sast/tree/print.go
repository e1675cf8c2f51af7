package tree

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints the tree, a node a line, children indented by two blanks:
//
//	role: Kind "text" [flags]
//
// It is the form in which tests carry the trees that they expect.
func (f *File) String() string { return f.Print(Root) }

// Print prints the tree below the node, as String does.
func (f *File) Print(root int32) string {
	var b strings.Builder
	depth := make([]int, f.Nodes[root].Next-root)
	for i := root; i < f.Nodes[root].Next; i++ {
		n := &f.Nodes[i]
		if i > root {
			depth[i-root] = depth[n.Parent-root] + 1
		}
		b.WriteString(strings.Repeat("  ", depth[i-root]))
		if n.Role != RoleNone {
			b.WriteString(n.Role.String() + ": ")
		}
		b.WriteString(n.Kind.String())
		if n.Text != "" {
			b.WriteString(" " + strconv.Quote(n.Text))
		}
		for flag, name := range flagNames {
			if n.Flags&(1<<flag) != 0 {
				b.WriteString(" " + name)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// flagNames are the names of flags, by their bit.
var flagNames = []string{"postfix", "optional", "raw", "implied", "pattern", "ownthis"}

// Check verifies the invariants of the form: pre-order links, ranges inside of the
// source, roles where the kind has them, no pattern kinds in a file. It returns the
// first fault.
func (f *File) Check() error {
	if len(f.Nodes) == 0 {
		return fmt.Errorf("tree has no nodes")
	}
	for i := range f.Nodes {
		if err := f.checkNode(int32(i)); err != nil {
			n := &f.Nodes[i]
			return fmt.Errorf("node %d (%s %q at byte %d): %w", i, n.Kind, n.Text, n.Start, err)
		}
	}
	return nil
}

// checkNode returns the first invariant that the node breaks.
func (f *File) checkNode(i int32) error {
	n := &f.Nodes[i]
	switch {
	case n.Kind == Invalid || n.Kind >= kinds:
		return fmt.Errorf("kind %d", n.Kind)
	case n.Role >= roles:
		return fmt.Errorf("role %d", n.Role)
	case n.Start > n.End || int(n.End) > len(f.Source):
		return fmt.Errorf("range %d–%d of %d", n.Start, n.End, len(f.Source))
	case n.Next <= i || int(n.Next) > len(f.Nodes):
		return fmt.Errorf("next %d of %d", n.Next, len(f.Nodes))
	case i == Root && n.Parent != None, i > Root && (n.Parent < 0 || n.Parent >= i):
		return fmt.Errorf("parent %d", n.Parent)
	case i > Root && n.Next > f.Nodes[n.Parent].Next:
		return fmt.Errorf("reaches beyond its parent %d", n.Parent)
	}
	if need := required[n.Kind]; need != nil {
		for _, r := range need {
			if f.Child(i, r) == None {
				return fmt.Errorf("has no %s", r)
			}
		}
	}
	return nil
}

// required lists the roles that a kind cannot do without.
var required = map[Kind][]Role{
	Annotation: {RoleValue}, ExpressionStatement: {RoleValue},
	If: {RoleCondition, RoleThen}, While: {RoleCondition, RoleBody}, DoWhile: {RoleBody, RoleCondition},
	For:     {RoleBody},
	ForEach: {RoleIterable, RoleBody}, Case: {RoleBody}, Try: {RoleBody}, Catch: {RoleBody}, Lambda: {RoleBody},
	Call: {RoleCallee}, New: {RoleType}, Keyword: {RoleName, RoleValue}, Spread: {RoleValue}, Member: {RoleObject},
	Index: {RoleObject}, Assign: {RoleTarget, RoleValue}, Binary: {RoleLeft, RoleRight}, Unary: {RoleValue},
	Update: {RoleValue}, Conditional: {RoleCondition, RoleThen, RoleElse}, Cast: {RoleType, RoleValue},
	TypeTest: {RoleValue, RoleType}, Pair: {RoleKey, RoleValue}, Comprehension: {RoleValue},
	Clause: {RoleTarget, RoleIterable},
	Await:  {RoleValue}, Defer: {RoleValue}, Spawn: {RoleValue}, Assert: {RoleCondition}, Deep: {RoleValue},
	Typed: {RoleType, RoleValue}, Attribute: {RoleName},
}
