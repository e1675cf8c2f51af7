package rust

import (
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// lowerMacro lowers the use of a macro. A sign of a pattern in place of the name stays
// one.
func lowerMacro(l *lang.Lowering, r tree.Role, i int32) {
	l.Begin(tree.Call, r, i)
	name := l.Field(i, "macro")
	switch {
	case name < 0:
		l.Lost(tree.RoleCallee, i)
	case l.Kind(name) == "identifier" && !lang.Holder(l.Source(name)):
		l.Put(tree.Name, tree.RoleCallee, l.Source(name)+"!", name)
	default:
		l.Node(tree.RoleCallee, name)
	}
	if list := l.Find(i, "token_tree"); list >= 0 {
		lowerArguments(l, list)
	}
	l.Close()
}

// What is put around the tokens of a macro to read them as arguments.
const before, behind = "fn a(){a(", ");}"

// lowerArguments lowers the tokens of a macro as the arguments of a call, which the
// grammar does not read. If they are none, they stay tokens.
func lowerArguments(l *lang.Lowering, list int32) {
	start, end := l.Range(list)
	if end-start < 2 {
		return
	}
	start, end = start+1, end-1
	text := l.File.Source[start:end]
	if strings.TrimSpace(text) == "" {
		return
	}
	if !isShallow(text) {
		lowerTokens(l, list)
		return
	}
	t, err := cst.Rust.Parse([]byte(before+text+behind), cst.Limits{})
	if err != nil || t.Errors {
		lowerTokens(l, list)
		return
	}
	place := func(at uint32) uint32 { // in the file; what is around the tokens shrinks to nothing
		return min(max(at, uint32(len(before)))-uint32(len(before))+start, end)
	}
	for i := range t.Nodes {
		t.Nodes[i].Start, t.Nodes[i].End = place(t.Nodes[i].Start), place(t.Nodes[i].End)
	}
	f := l.Again(t)
	for c := range f.Nodes {
		if f.Nodes[c].Kind == tree.Call { // the first one is that around the arguments
			for a := range f.All(int32(c), tree.RoleArgument) {
				lang.Copy(&l.Builder, f, a, tree.RoleArgument)
			}
			return
		}
	}
	lowerTokens(l, list)
}

// maxMacros bounds the nesting of macros that are read again: each level is read
// once more for every level around it.
const maxMacros = 4

// isShallow reports whether the text nests few macros.
func isShallow(text string) bool {
	var open []bool
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			is := i > 0 && text[i-1] == '!'
			open = append(open, is)
			if is {
				depth++
			}
			if depth > maxMacros || len(open) > 200 {
				return false
			}
		case ')', ']', '}':
			if n := len(open); n > 0 {
				if open[n-1] {
					depth--
				}
				open = open[:n-1]
			}
		}
	}
	return true
}

// lowerTokens adds the tokens of a macro or an attribute: names and literals are lowered,
// and signs are Tokens, except for commas.
func lowerTokens(l *lang.Lowering, list int32) {
	for c := range l.Every(list) {
		switch kind := l.Kind(c); {
		case l.Extra(c) || strings.Contains("(){}[],", kind):
		case kind == "token_tree":
			l.BeginText(tree.Other, tree.RoleArgument, kind, c)
			if !l.TooDeep() {
				lowerTokens(l, c)
			}
			l.Close()
		case l.Named(c):
			l.Node(tree.RoleArgument, c)
		default:
			l.Same(tree.Token, tree.RoleArgument, c)
		}
	}
}
