package lang

import (
	"slices"
	"strings"

	"merlon/internal/engine/sast/tree"
)

// Restore turns the names that stand for the signs of patterns back into the
// pattern kinds. A node that only carries such a sign (a statement, parameter,
// type, annotation, import or member that is nothing but an ellipsis) becomes the
// sign itself, with its role; so does the text "..." among the parts of a Template. Names that are listed are no signs.
func Restore(f *tree.File, keep ...string) *tree.File {
	out := &tree.File{Path: f.Path, Language: f.Language, Source: f.Source}
	r := &restoration{f: f, b: &tree.Builder{File: out}, keep: keep}
	r.restoreNode(tree.Root, f.Nodes[tree.Root].Role)
	return r.b.Finish()
}

// restoration copies a tree and puts the signs of patterns back; it is the state of
// Restore.
type restoration struct {
	f    *tree.File
	b    *tree.Builder
	keep []string
}

// restoreNode copies the node, or what it stands for.
func (r *restoration) restoreNode(i int32, role tree.Role) {
	n := &r.f.Nodes[i]
	if inner := r.findCarried(i); inner >= 0 {
		r.restoreNode(inner, role)
		return
	}
	if kind, text, ok := r.readSign(n); ok {
		c := r.b.Leaf(kind, role, text, n.Start, n.End)
		r.b.File.Nodes[c].Flags = n.Flags
		return
	}
	switch {
	case n.Kind == tree.Call && r.restoreCall(i, role):
		return
	case n.Kind == tree.Index && r.f.Text(r.f.Child(i, tree.RoleIndex)) == TypedName:
		r.restoreNode(r.f.Child(i, tree.RoleObject), role) // a Typed where a call may not stand
		return
	case n.Kind == tree.Member && r.restoreMember(i, role):
		return
	}
	text := restoreText(n.Text)
	if n.Kind == tree.String && text == "..." && r.isTemplatePart(n) {
		r.b.Leaf(tree.Ellipsis, role, "", n.Start, n.End)
		return
	}
	c := r.b.Open(n.Kind, role, n.Start, n.End)
	r.b.File.Nodes[c].Text, r.b.File.Nodes[c].Flags = text, n.Flags
	if n.Kind == tree.String && strings.HasPrefix(n.Text, "=~/") {
		r.b.File.Nodes[c].Flags |= tree.Pattern
	}
	for child := range r.f.Children(i) {
		r.restoreNode(child, r.f.Nodes[child].Role)
	}
	r.b.Close()
}

// restoreCall restores a call of DeepName or TypedName, which no source calls; it
// reports false for any other call.
func (r *restoration) restoreCall(i int32, role tree.Role) bool {
	callee := r.f.Child(i, tree.RoleCallee)
	if !r.f.Is(callee, tree.Name) {
		return false
	}
	switch name, arguments := r.f.Text(callee), r.f.Count(i, tree.RoleArgument); {
	case name == DeepName && arguments == 1:
		n := &r.f.Nodes[i]
		r.b.Open(tree.Deep, role, n.Start, n.End)
		r.restoreNode(r.f.Child(i, tree.RoleArgument), tree.RoleValue)
		r.b.Close()
	case name == TypedName && arguments == 2:
		r.restoreTyped(i, role)
	case name == TypedName && arguments == 1:
		r.restoreNode(r.f.Child(i, tree.RoleArgument), role) // what may not stand alone
	default:
		return false
	}
	return true
}

// restoreMember restores "a. ... .b", the ellipsis of a method chain: a Member without
// a property. It reports false for any other Member.
func (r *restoration) restoreMember(i int32, role tree.Role) bool {
	p := r.f.Child(i, tree.RoleProperty)
	if !r.f.Is(p, tree.Name) || r.f.Text(p) != EllipsisName {
		return false
	}
	n := &r.f.Nodes[i]
	r.b.File.Nodes[r.b.Open(tree.Member, role, n.Start, n.End)].Text = "..."
	r.restoreNode(r.f.Child(i, tree.RoleObject), tree.RoleObject)
	r.b.Close()
	return true
}

// isTemplatePart reports whether the string is a text between the parts of a Template,
// and not a string in quotes that is a part itself: "..." is an ellipsis in a text only.
func (r *restoration) isTemplatePart(n *tree.Node) bool {
	return n.Role == tree.RolePart && r.f.Is(n.Parent, tree.Template) &&
		!strings.ContainsAny(r.f.Source[n.Start:min(n.Start+1, n.End)], "\"'`")
}

// restoreTyped makes a Typed of a call of TypedName(type, metavariable).
func (r *restoration) restoreTyped(i int32, role tree.Role) {
	n := &r.f.Nodes[i]
	first := r.f.Child(i, tree.RoleArgument)
	second := r.f.Nodes[first].Next
	r.b.Open(tree.Typed, role, n.Start, n.End)
	if r.f.Is(first, tree.Cast) { // the only place of a type among expressions
		first = r.f.Child(first, tree.RoleType)
	}
	if r.f.Is(first, tree.Type) || r.f.Dotted(first) == "" {
		r.restoreNode(first, tree.RoleType)
	} else if kind, text, ok := r.readSign(&r.f.Nodes[first]); ok {
		r.b.Leaf(kind, tree.RoleType, text, r.f.Nodes[first].Start, r.f.Nodes[first].End)
	} else {
		r.b.Leaf(tree.Type, tree.RoleType, r.f.Dotted(first), r.f.Nodes[first].Start, r.f.Nodes[first].End)
	}
	r.restoreNode(second, tree.RoleValue)
	r.b.Close()
}

// carriers are the kinds that a lone ellipsis or "$...X" takes the place of, with
// the role in which it stands.
var carriers = map[tree.Kind][]tree.Role{
	tree.ExpressionStatement: {tree.RoleValue}, tree.Parameter: {tree.RoleTarget, tree.RoleType},
	tree.Field: {tree.RoleType, tree.RoleTarget}, tree.Variable: {tree.RoleType, tree.RoleTarget},
	tree.Annotation: {tree.RoleValue}, tree.Import: {tree.RolePath, tree.RoleName},
	tree.TypeParameter: {tree.RoleName}, tree.Keyword: {tree.RoleName, tree.RoleValue},
	tree.Pair: {tree.RoleKey, tree.RoleValue}, tree.Spread: {tree.RoleValue}, tree.Attribute: {tree.RoleName},
	tree.Function: {tree.RoleName}, tree.Case: nil, tree.Catch: nil, tree.Clause: nil,
}

// findCarried returns the sign that the node only carries, None when it is more than
// that: every child is the ellipsis or the same "$...X".
func (r *restoration) findCarried(i int32) int32 {
	if _, ok := carriers[r.f.Nodes[i].Kind]; !ok {
		return tree.None
	}
	first := tree.None
	for c := range r.f.Children(i) {
		if r.f.Is(c, tree.Block) && r.f.Nodes[c].Next == c+1 && (r.f.Is(i, tree.Case) || r.f.Is(i, tree.Catch) &&
			r.f.Nodes[c].Flags&tree.Implied != 0) {
			continue // the case has no statements
		}
		kind, text, ok := r.readSign(&r.f.Nodes[c])
		if !ok || kind == tree.Metavariable && r.f.Nodes[i].Kind != tree.Parameter {
			return tree.None
		}
		if kind == tree.Metavariable {
			return tree.None
		}
		if first >= 0 {
			if _, other, _ := r.readSign(&r.f.Nodes[first]); other != text {
				return tree.None
			}
		} else {
			first = c
		}
	}
	return first
}

// readSign returns the pattern kind that a leaf stands for.
func (r *restoration) readSign(n *tree.Node) (tree.Kind, string, bool) {
	switch n.Kind {
	case tree.Ellipsis, tree.MetaEllipsis, tree.Metavariable:
		return n.Kind, n.Text, true
	case tree.Name, tree.Type, tree.Token:
	default:
		return 0, "", false
	}
	switch {
	case slices.Contains(r.keep, n.Text):
		return 0, "", false
	case n.Text == EllipsisName || n.Text == "...":
		return tree.Ellipsis, "", true
	case strings.HasPrefix(n.Text, manyHolder) && holders.FindString(n.Text) == n.Text:
		return tree.MetaEllipsis, "$..." + n.Text[len(manyHolder):], true
	case (strings.HasPrefix(n.Text, placeholder) || strings.HasPrefix(n.Text, capitalHolder)) &&
		holders.FindString(n.Text) == n.Text:
		return tree.Metavariable, "$" + n.Text[len(placeholder):], true
	case n.Kind != tree.Token && signMeta.FindString(n.Text) == n.Text && n.Text != "":
		return tree.Metavariable, n.Text, true
	}
	return 0, "", false
}

// restoreText gives a text that holds such names its signs back, for strings.
func restoreText(text string) string {
	if !strings.Contains(text, "qz") && !strings.Contains(text, "Qz") {
		return text
	}
	text = strings.ReplaceAll(text, DeepName+"(", "<...")
	return holders.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case s == EllipsisName:
			return "..."
		case strings.HasPrefix(s, manyHolder):
			return "$..." + s[len(manyHolder):]
		default:
			return "$" + s[len(placeholder):]
		}
	})
}
