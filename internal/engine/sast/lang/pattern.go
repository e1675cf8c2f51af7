package lang

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/tree"
)

// Patterns says how the fragments that rules write become files of the language.
//
// The signs of patterns are first replaced by names that no source has; the
// result is put into one context after the other until the grammar accepts it; the
// tree is lowered as any file is; then the names become Ellipsis, Metavariable and
// so on, and the part that the fragment made is cut out. So a pattern goes through
// the very code that the source goes through.
type Patterns struct {
	// Contexts are tried in order. The first is usually Context{"", ""}.
	Contexts []Context

	// Prepare rewrites what a mere name cannot stand for, before the signs are
	// replaced: typed metavariables, an ellipsis where the grammar wants more than a
	// name. It may use the names below (Ellipsis, Name). Nil changes nothing.
	Prepare func(text string) []string // alternatives, tried in order in each context

	// Sigil is false in languages in which "$X" is a variable anyway and stays as it
	// is (PHP, Bash): their lowering makes "$X" in upper case a Name with its "$",
	// which Restore recognises. True elsewhere.
	Sigil bool

	// Variables are what is not a metavariable although it looks like one: "$_GET".
	Variables []string

	// Spread: "..." in front of an expression is the language's own (JavaScript, PHP);
	// the ellipsis of a pattern stands before a blank or a sign.
	Spread bool

	// Resolved: the expression of a string "=~/…/" is the value of the string, not what
	// is written between its quotes; Prepare has seen to its backslashes.
	Resolved bool

	// Finish changes the finished pattern. Nil changes nothing.
	Finish func(*tree.File) *tree.File

	// Else lists languages with the same lowering that are asked when this one does
	// not accept the fragment: a rule may name a dialect and write in another.
	Else []*Language
}

// A Context is what stands around a fragment. Only, when it is given, says which
// fragments it is for.
type Context struct {
	Before, After string
	Only          *regexp.Regexp
}

// The names that stand for the signs of patterns. They are legal identifiers
// everywhere; Capital is for languages in which a capital letter matters.
const (
	placeholder   = "qzmv_"      // qzmv_X stands for $X
	manyHolder    = "qzmany_"    // qzmany_X stands for $...X
	EllipsisName  = "qzellipsis" // stands for ...
	DeepName      = "qzdeep"     // qzdeep(e) stands for <... e ...>
	TypedName     = "qztyped"    // qztyped(T, x) stands for (T $X); a lowering or Prepare writes it
	capitalHolder = "Qzmv_"
	RealDots      = "\ue000" // stands for three dots that are the language's own; Prepare writes it
)

// Placeholder returns the name that stands for a metavariable "$X".
func Placeholder(metavariable string) string {
	return placeholder + strings.TrimPrefix(metavariable, "$")
}

var (
	signMany = regexp.MustCompile(`\$\.\.\.([A-Z_][A-Z_0-9]*)`)
	signMeta = regexp.MustCompile(`\$([A-Z_][A-Z_0-9]*)\b`)
	holders  = regexp.MustCompile(`(?:[qQ]zmv_|qzmany_)[A-Z_0-9]+|qzellipsis`)
	spread   = regexp.MustCompile(`\.\.\.([A-Za-z_$\[({])`)
)

// Holder reports whether a name stands for a sign of a pattern. A lowering that
// makes names into something else (the key of an object into a String) asks first.
func Holder(name string) bool {
	return len(name) > 5 && (name[0] == 'q' || name[0] == 'Q') && name[1] == 'z' && holders.FindString(name) == name
}

// Expression reports whether the text of a string is a regular expression of a
// pattern, "=~/…/", whose backslashes are its own.
func Expression(text string) bool { return strings.HasPrefix(text, "=~/") }

// errPattern says that no context made the grammar accept the fragment.
var errPattern = errors.New("the pattern is not valid in this language")

// ParsePattern parses a fragment. The root of the result is the fragment's node,
// or a Block when it is several statements. An error names the language.
func (l *Language) ParsePattern(text string) (*tree.File, error) {
	if len(text) > 64<<10 {
		return nil, fmt.Errorf("%s: the pattern has %d bytes, more than 65536", l.Name, len(text))
	}
	if l.Patterns.Sigil {
		text = anyReceiver(text)
	}
	alternatives := []string{text}
	if l.Patterns.Prepare != nil {
		alternatives = l.Patterns.Prepare(text)
	}
	contexts := l.Patterns.Contexts
	if len(contexts) == 0 {
		contexts = []Context{{}}
	}
	for _, c := range contexts {
		for _, alternative := range alternatives {
			if c.Only != nil && !c.Only.MatchString(strings.TrimSpace(alternative)) {
				continue
			}
			if f := l.parseInContext(c, l.replaceSigns(alternative)); f != nil {
				return f, nil
			}
		}
	}
	for _, other := range l.Patterns.Else {
		if f, err := other.ParsePattern(text); err == nil {
			f.Language = l.Name
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: %s", l.Name, errPattern, oneLine(text))
}

// receiver is an ellipsis in front of a member: "... .m()".
var receiver = regexp.MustCompile(`\.\.\.\s+\.\s*[A-Za-z_$]`)

// anyReceiver makes an ellipsis that a fragment begins with, and whose member is
// asked for, any object: "... .m()" is "$_.m()".
func anyReceiver(text string) string {
	trimmed := strings.TrimSpace(text)
	if at := receiver.FindStringIndex(trimmed); at != nil && at[0] == 0 {
		return "$_" + strings.TrimLeft(trimmed[len("..."):], " \t\n")
	}
	return text
}

// replaceSigns replaces the signs of patterns by names.
func (l *Language) replaceSigns(text string) string {
	text = signMany.ReplaceAllString(text, manyHolder+"$1")
	if l.Patterns.Sigil {
		text = signMeta.ReplaceAllString(text, placeholder+"$1")
	}
	text = replaceDeep(text)
	if l.Patterns.Spread {
		text = spread.ReplaceAllString(text, RealDots+"$1")
	}
	text = strings.ReplaceAll(text, "...", EllipsisName)
	return strings.ReplaceAll(text, RealDots, "...")
}

// replaceDeep replaces "<... e ...>"; "...>" without its beginning stays.
func replaceDeep(text string) string {
	if !strings.Contains(text, "<...") {
		return text
	}
	var b strings.Builder
	open := 0
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "<..."):
			b.WriteString(DeepName + "(")
			open++
			i += len("<...") - 1
		case open > 0 && strings.HasPrefix(rest, "...>"):
			b.WriteString(")")
			open--
			i += len("...>") - 1
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// parseInContext parses the fragment in the context; nil when the grammar does not accept
// it.
func (l *Language) parseInContext(c Context, fragment string) *tree.File {
	fragment = strings.TrimSpace(fragment)
	if fragment == "" {
		return nil
	}
	t, err := l.parseConcrete([]byte(c.Before+fragment+c.After), cst.Limits{})
	if err != nil || t.Errors {
		return nil
	}
	f := l.lowerConcrete("", t)
	if len(f.Unknown) > 0 {
		return nil
	}
	start := uint32(len(c.Before))
	f = cutRange(f, start, start+uint32(len(fragment)))
	if f == nil {
		return nil
	}
	f = Restore(unwrapExpression(f), l.Patterns.Variables...)
	if l.Patterns.Finish != nil {
		f = l.Patterns.Finish(f)
	}
	return f
}

// cutRange returns the part of the tree that lies in the range: one node, or a Block of
// siblings. Nil when the context broke the fragment apart.
func cutRange(f *tree.File, start, end uint32) *tree.File {
	tops := findTops(f, start, end)
	if len(tops) == 0 {
		return nil
	}
	for _, i := range tops[1:] {
		if f.Nodes[i].Parent != f.Nodes[tops[0]].Parent {
			return nil
		}
	}
	out := &tree.File{Language: f.Language, Source: f.Source}
	b := &tree.Builder{File: out}
	if len(tops) == 1 {
		Copy(b, f, tops[0], tree.RoleNone)
	} else {
		b.Open(tree.Block, tree.RoleNone, start, end)
		for _, i := range tops {
			Copy(b, f, i, f.Nodes[i].Role)
		}
	}
	return b.Finish()
}

// findTops returns the nodes that lie in the range whose parents do not. It is nil when
// a leaf reaches across an end of the range: the context took a part of the fragment.
func findTops(f *tree.File, start, end uint32) []int32 {
	var tops []int32
	for i := int32(0); i < int32(len(f.Nodes)); {
		n := &f.Nodes[i]
		inside := n.Start >= start && n.End <= end && n.End > n.Start
		switch {
		case inside && i != tree.Root || inside && start == 0 && int(end) == len(f.Source) && n.Kind != tree.FileKind:
			tops = append(tops, i)
			i = n.Next
		case n.Start >= end || n.End <= start:
			i = n.Next
		case n.Next == i+1 && n.Kind != tree.FileKind:
			return nil
		default:
			i++
		}
	}
	return tops
}

// unwrapExpression returns the expression of a pattern that is a mere statement of it: only
// with a semicolon does a fragment ask for a statement.
func unwrapExpression(f *tree.File) *tree.File {
	root := &f.Nodes[tree.Root]
	if root.Kind != tree.ExpressionStatement || strings.HasSuffix(f.Code(tree.Root), ";") {
		return f
	}
	value := f.Child(tree.Root, tree.RoleValue)
	if value == tree.None {
		return f
	}
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	Copy(b, f, value, tree.RoleNone)
	return b.Finish()
}

// AnyParameters lets a block "{ … }" of a pattern stand for functions with any
// parameters: what it does not name does not matter. It is the Finish of languages
// whose calls take blocks.
func AnyParameters(f *tree.File) *tree.File {
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	anyParameters(b, f, tree.Root)
	return b.Finish()
}

// anyParameters copies a subtree for AnyParameters.
func anyParameters(b *tree.Builder, f *tree.File, i int32) {
	n := &f.Nodes[i]
	c := b.Open(n.Kind, n.Role, n.Start, n.End)
	b.File.Nodes[c].Text, b.File.Nodes[c].Flags = n.Text, n.Flags
	if n.Kind == tree.Lambda && f.Child(i, tree.RoleParameter) == tree.None && strings.HasPrefix(f.Code(i), "{") {
		b.File.Nodes[b.Leaf(tree.Ellipsis, tree.RoleParameter, "", n.Start, n.Start)].Flags = tree.Implied
	}
	for child := range f.Children(i) {
		anyParameters(b, f, child)
	}
	b.Close()
}

// Copy adds a copy of a subtree to what is being built.
func Copy(b *tree.Builder, f *tree.File, i int32, role tree.Role) {
	n := &f.Nodes[i]
	c := b.Open(n.Kind, role, n.Start, n.End)
	b.File.Nodes[c].Text, b.File.Nodes[c].Flags = n.Text, n.Flags
	for child := range f.Children(i) {
		Copy(b, f, child, f.Nodes[child].Role)
	}
	b.Close()
}

// oneLine returns a pattern for an error message: on one line, and cut at 200 bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}
