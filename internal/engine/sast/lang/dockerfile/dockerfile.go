// Package dockerfile lowers Dockerfiles to the generic tree, by a parser of its own:
// the format is made of lines. It follows the Dockerfile reference of Docker's
// documentation: directives, continuations, comments between them, here-documents,
// the exec form, which is JSON, and the shell form, which package bash lowers.
//
// An instruction is a Call of its name in capital letters. Flags are Keywords among
// its Modifiers, which patterns may leave out; so are the parts of FROM besides the
// image: tag, digest and as; and the group of USER. The form of a command is a Modifier too: shell or exec.
//
//	FROM --platform=linux a:1 AS b
//
//	Call
//	  callee: Name "FROM"
//	  argument: String "a"
//	  modifier: Keyword (platform, tag, as)
//
// ENV, LABEL and ARG have a Keyword for each "name=value"; ARG without a value has the
// Name. A variable is a Unary "$" of the Name, as in shells.
package dockerfile

import (
	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/lang/bash"
	"merlon/internal/engine/sast/tree"
)

// Language is Dockerfile.
var Language = &lang.Language{
	Name:      "dockerfile",
	Spellings: []string{"dockerfile", "docker"},
	Grammar:   cst.Dockerfile,
	Lower:     lowerFile,
	Patterns: lang.Patterns{
		Contexts: []lang.Context{{}, {Before: "RUN ", After: ""}, {Before: "RUN <<QZEND\n", After: "\nQZEND"}},
		Prepare:  bash.Language.Patterns.Prepare,
		Sigil:    true,
		Finish:   finishPattern,
	},
	Semantics: lang.Semantics{Pipes: true, Comment: "#"},
}

// lowerFile lowers the file. While it works, the source is the one in which
// continuations and the comments between them are blank, byte by byte.
func lowerFile(l *lang.Lowering) {
	source := l.File.Source
	instructions, masked := splitInstructions(source)
	l.File.Source = masked
	l.Open(tree.FileKind, tree.RoleNone, 0, uint32(len(source)))
	for _, in := range instructions {
		l.Open(tree.ExpressionStatement, tree.RoleStatement, in.start, in.lastByte())
		lowerInstruction(l, in, tree.RoleValue)
		l.Close()
	}
	l.Close()
	l.File.Source = source
}

// finishPattern makes a pattern's shell code one that is looked for anywhere in the
// instruction: "RUN b" is in "RUN a && b".
func finishPattern(f *tree.File) *tree.File {
	f = bash.Language.Patterns.Finish(f)
	b := &tree.Builder{File: &tree.File{Language: f.Language, Source: f.Source}}
	copyWithDeep(b, f, tree.Root, tree.RoleNone)
	return b.Finish()
}

// copyWithDeep copies a subtree and puts a Deep around the arguments in shell form.
func copyWithDeep(b *tree.Builder, f *tree.File, i int32, role tree.Role) {
	n := f.Nodes[i]
	c := b.Open(n.Kind, role, n.Start, n.End)
	b.File.Nodes[c].Text, b.File.Nodes[c].Flags = n.Text, n.Flags
	shell := isShell(f, i)
	for child := range f.Children(i) {
		kind, role := f.Nodes[child].Kind, f.Nodes[child].Role
		if !shell || role != tree.RoleArgument || kind == tree.Ellipsis || kind == tree.MetaEllipsis {
			copyWithDeep(b, f, child, role)
			continue
		}
		b.Open(tree.Deep, role, f.Nodes[child].Start, f.Nodes[child].End)
		copyWithDeep(b, f, child, tree.RoleValue)
		b.Close()
	}
	b.Close()
}

// isShell reports whether the node is an instruction with a command in shell form.
func isShell(f *tree.File, i int32) bool {
	if !f.Is(i, tree.Call) {
		return false
	}
	for m := range f.All(i, tree.RoleModifier) {
		if f.Name(m) == "shell" {
			return true
		}
	}
	return false
}
