// Package pattern matches the patterns and formulas of rules against generic trees:
// the search mode of the Semgrep format (https://semgrep.dev/docs/writing-rules).
//
// A pattern is a tree too (see lang.Language.ParsePattern). Matching goes down both
// trees at once and returns every way in which metavariables can be bound, as a list
// of environments: most attempts end at the first node, with none. Lists with
// ellipses are matched by going through the pattern once with the set of places in
// the source that are reached so far, so no list takes more than the product of both
// lengths and of the bindings. A budget of steps bounds the rest.
//
// What a pattern means beyond equality of trees is described where it is done:
// statements.go (ellipses that reach into nested blocks, expressions inside of
// statements), names.go (imports and aliases), literals.go (strings, constants),
// operators.go (associativity and commutativity), types.go (typed metavariables),
// definitions.go (functions, classes, imports). formula.go joins the matches of
// patterns by their ranges, conditions.go evaluates the metavariable-* conditions.
package pattern

import (
	"fmt"
	"strings"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pcre"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/tree"
)

// A node is a node of a compiled pattern. It is compiled once per rule: what depends on the
// pattern alone is not computed for each candidate.
type node struct {
	kind  tree.Kind
	role  tree.Role
	flags tree.Flags
	text  string
	kids  []*node
	slots [][]*node // children by the slots of the kind; see slots.go

	meta   string       // the metavariable that the node is, or that its whole text is
	regex  *pcre.Regexp // of a string "=~/…/"
	dotted []string     // of a Name, or of Members of Names: the parts; "$X" for a metavariable
	ground bool         // no metavariable below: one match is as good as another
	tick   bool         // a string in the quotes of a template
	bare   bool         // a block without braces
	quoted bool         // a string in quotes of its own
	single bool         // an element that is one tag
}

// A leaf is one compiled pattern. Formulas refer to leaves; everything that depends on the text of
// the pattern alone is computed when it is compiled.
type leaf struct {
	key    string // what equals another leaf's matches the same
	text   string
	root   *node
	stmts  []*node // when the pattern is several statements, or an ellipsis among them
	inside bool    // below pattern-inside: only the longest match of a last ellipsis counts
	words  []string

	imports []*node // when the pattern imports several names of one module
}

// compileNode copies the tree of a pattern. Placeholders of the fragment parser are turned back
// into metavariables and ellipses by the lowering; here each node learns what it is.
func compileNode(l *lang.Language, f *tree.File, i int32) (*node, error) {
	t := &f.Nodes[i]
	n := &node{kind: t.Kind, role: t.Role, flags: t.Flags, text: t.Text, ground: true}
	code := f.Code(i)
	n.tick = t.Kind == tree.String && strings.HasPrefix(code, "`")
	n.quoted = startsQuoted(code)
	n.single = t.Kind == tree.Element && strings.HasSuffix(code, "/>")
	n.bare = t.Kind == tree.Block && !strings.HasPrefix(code, "{")
	for c := range f.Children(i) {
		kid, err := compileNode(l, f, c)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
		n.ground = n.ground && kid.ground
	}
	n.findMetavariable(code)
	if isRegexText(t.Text) && (t.Kind == tree.String || t.Kind == tree.Name) {
		if err := n.compileRegex(code, l.Patterns.Resolved); err != nil {
			return nil, err
		}
	}
	n.dotted = n.dottedParts()
	n.fillSlots()
	return n, nil
}

// findMetavariable sets the metavariable that the node is, that its text is, or that is
// the only part of a string.
func (n *node) findMetavariable(code string) {
	switch n.kind {
	case tree.Metavariable, tree.MetaEllipsis:
		n.meta, n.ground = n.text, false
	case tree.String, tree.Character, tree.Regex, tree.Type, tree.Token:
		if name := wholeMetavariable(n.text); name != "" {
			n.meta, n.ground = name, false
		}
	case tree.Template:
		if len(n.kids) == 1 && n.kids[0].kind == tree.Metavariable && strings.Trim(code, "\"'") == n.kids[0].meta {
			n.kind, n.meta, n.text, n.kids = tree.String, n.kids[0].meta, n.kids[0].meta, nil
		}
	}
}

// startsQuoted reports whether code begins with a quote. The lowering makes strings of bare words
// too.
func startsQuoted(code string) bool {
	return code != "" && (code[0] == '"' || code[0] == '\'' || code[0] == '`')
}

// wholeMetavariable returns the text when it is one metavariable, without its
// slashes for a regular expression, else "".
func wholeMetavariable(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/")
	if rule.IsMetavariable(text) {
		return text
	}
	return ""
}

// isRegexText reports whether the text of a string is an expression, "=~/…/".
func isRegexText(text string) bool { return strings.HasPrefix(text, "=~/") }

// compileRegex reads "=~/expression/flags". The expression is what is written, not
// what the escapes of a string make of it.
func (n *node) compileRegex(code string, resolved bool) error {
	body := n.text[len("=~/"):]
	code = strings.ReplaceAll(strings.ReplaceAll(code, lang.EllipsisName, "..."), lang.Placeholder(""), "$")
	if i := strings.Index(code, "=~/"); i >= 0 && !resolved {
		body = strings.TrimRight(code[i+len("=~/"):], "\"'`")
	}
	end := strings.LastIndexByte(body, '/')
	if end < 0 {
		return nil // a string that only looks so
	}
	flags := pcre.Flags(0)
	for _, c := range body[end+1:] {
		switch c {
		case 'i':
			flags |= pcre.IgnoreCase
		case 'm':
			flags |= pcre.Multiline
		default:
			return nil
		}
	}
	expr := body[:end]
	re, err := pcre.Compile(expr, flags)
	if err != nil {
		return fmt.Errorf("compile %s: %w", n.text, err)
	}
	n.regex = re
	return nil
}

// dottedParts returns the parts of a dotted name, nil for anything else. They are computed once,
// since most names are compared with imports.
func (n *node) dottedParts() []string {
	switch n.kind {
	case tree.Name, tree.Metavariable:
		return []string{n.text}
	case tree.Type:
		if len(n.kids) == 0 && n.text != "" && n.meta == "" {
			return strings.Split(n.text, ".")
		}
	case tree.Member:
		object, property := n.child(tree.RoleObject), n.child(tree.RoleProperty)
		if object == nil || property == nil || object.dotted == nil || property.dotted == nil ||
			property.kind == tree.Member {
			return nil
		}
		return append(append([]string(nil), object.dotted...), property.dotted...)
	}
	return nil
}

// child returns the first child with the role, nil when there is none. Nodes have few children, so
// a search is quick.
func (n *node) child(r tree.Role) *node {
	for _, k := range n.kids {
		if k.role == r {
			return k
		}
	}
	return nil
}

// childrenWith returns the children with the role. Their order is that of the pattern, which
// statements and arguments depend on.
func (n *node) childrenWith(r tree.Role) []*node {
	var out []*node
	for _, k := range n.kids {
		if k.role == r {
			out = append(out, k)
		}
	}
	return out
}

// isEllipsis reports whether the node stands for any number of anything without a
// name, as an element or as a statement.
func (n *node) isEllipsis() bool {
	return n.kind == tree.Ellipsis || n.kind == tree.ExpressionStatement && len(n.kids) == 1 &&
		n.kids[0].kind == tree.Ellipsis
}

// ellipsisName returns the "$...X" that the node is, as an element or as a statement. It is "" for
// anything else.
func (n *node) ellipsisName() string {
	switch {
	case n.kind == tree.MetaEllipsis:
		return n.meta
	case n.kind == tree.ExpressionStatement && len(n.kids) == 1:
		return n.kids[0].ellipsisName()
	}
	return ""
}

// compileLeaf parses and compiles one pattern. A pattern without a semicolon is an expression,
// with one a statement, as in the format.
func compileLeaf(l *lang.Language, text string, inside bool) (*leaf, error) {
	f, err := l.ParsePattern(text)
	if err != nil {
		return nil, err
	}
	root, err := compileNode(l, f, tree.Root)
	if err != nil {
		return nil, err
	}
	out := &leaf{text: text, root: root, inside: inside}
	trimmed := strings.TrimSpace(text)
	switch {
	case root.kind == tree.ExpressionStatement && !strings.HasSuffix(trimmed, ";") && root.kids[0].ellipsisName() == "":
		out.root = root.kids[0]
		out.root.role = tree.RoleNone
	case root.kind == tree.Block && !strings.HasPrefix(trimmed, "{"), root.kind == tree.FileKind:
		out.stmts = root.kids
	}
	if len(out.stmts) == 1 && !out.stmts[0].isEllipsis() {
		out.root, out.stmts = out.stmts[0], nil
	}
	if len(out.stmts) > 1 && oneImport(f) {
		out.imports, out.stmts = out.stmts, nil
	}
	out.words = mandatoryWords(root, text)
	return out, nil
}

// oneImport reports whether the statements of a pattern are all of one import. The lowering has
// split "from a import b, c" into one node for each name.
func oneImport(f *tree.File) bool {
	first := tree.Root + 1
	for c := range f.Children(tree.Root) {
		if !f.Is(c, tree.Import) || f.Nodes[c].Start != f.Nodes[first].Start || f.Nodes[c].End != f.Nodes[first].End {
			return false
		}
	}
	return true
}
