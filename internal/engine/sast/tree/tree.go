// Package tree is the generic form of source code: one tree for all languages.
// A language's folder lowers its concrete syntax to it; rules match it, and the
// intermediate form is made from it. What has no generic kind becomes Other, whose
// text is the grammar's name of the construct, so that patterns can match it
// although nobody else knows what it means.
//
// A tree is one flat array in pre-order, as the concrete tree is. The shape of
// each kind is in kind.go. Parentheses and comments are left out; the order of
// children is the order of the roles in the kind's comment, in which the source
// text agrees unless the comment says otherwise.
package tree

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A Node is one node. Its children are
//
//	for c := i + 1; c < nodes[i].Next; c = nodes[c].Next
type Node struct {
	Text       string // what Kind says; often part of the source
	Start, End uint32 // bytes of the source
	Parent     int32  // -1 for the root
	Next       int32  // index one past the last descendant
	Kind       Kind
	Role       Role
	Flags      Flags
}

// Flags say what a Kind does not.
type Flags uint8

// The flags.
const (
	// Postfix marks an Update that yields the old value.
	Postfix Flags = 1 << iota
	// Optional marks a Member, Index or Call that yields nothing on a null object.
	Optional
	// Raw marks a String whose source has a prefix or quotes that change its kind:
	// bytes, raw, here-document.
	Raw
	// Implied marks a node that the source does not spell.
	Implied
	// Pattern marks a String whose text is a regular expression in a pattern:
	// "=~/…/".
	Pattern
	// OwnThis marks a Lambda that has a receiver of its own, unlike one that shares
	// that of the function around it.
	OwnThis
)

// A File is a lowered file, or a lowered pattern.
type File struct {
	Path     string
	Language string // name of the lang.Language
	Source   string
	Nodes    []Node // Nodes[0] is the root

	// Unknown lists the source ranges that were not understood, at most 100.
	Unknown []Range

	lines []uint32 // offsets at which lines begin
}

// A Range is a part of the source, in bytes.
type Range struct{ Start, End uint32 }

// Root is the index of the root.
const Root int32 = 0

// None is the index of no node.
const None int32 = -1

// Children calls f for each child of the node, in order, until it returns false.
func (f *File) Children(i int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for c := i + 1; c < f.Nodes[i].Next; c = f.Nodes[c].Next {
			if !yield(c) {
				return
			}
		}
	}
}

// Child returns the first child with the role, None when there is none.
func (f *File) Child(i int32, role Role) int32 {
	for c := i + 1; c < f.Nodes[i].Next; c = f.Nodes[c].Next {
		if f.Nodes[c].Role == role {
			return c
		}
	}
	return None
}

// All calls f for each child with the role, in order.
func (f *File) All(i int32, role Role) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for c := i + 1; c < f.Nodes[i].Next; c = f.Nodes[c].Next {
			if f.Nodes[c].Role == role && !yield(c) {
				return
			}
		}
	}
}

// Count returns the number of children with the role.
func (f *File) Count(i int32, role Role) int {
	n := 0
	for range f.All(i, role) {
		n++
	}
	return n
}

// Is reports whether the node exists and has the kind.
func (f *File) Is(i int32, k Kind) bool { return i >= 0 && f.Nodes[i].Kind == k }

// Text returns the text of the node, "" for None.
func (f *File) Text(i int32) string {
	if i < 0 {
		return ""
	}
	return f.Nodes[i].Text
}

// Code returns the source of the node.
func (f *File) Code(i int32) string {
	if i < 0 {
		return ""
	}
	return f.Source[f.Nodes[i].Start:f.Nodes[i].End]
}

// Name returns the text of the node's child with the role Name.
func (f *File) Name(i int32) string { return f.Text(f.Child(i, RoleName)) }

// Dotted returns a Name, or a chain of Members over one, as "a.b.c", and "" for
// anything else. This and Super are "this" and "super".
func (f *File) Dotted(i int32) string {
	var parts []string
	for {
		if i < 0 {
			return ""
		}
		switch n := &f.Nodes[i]; n.Kind {
		case Name:
			return joinReversed(n.Text, parts)
		case This:
			return joinReversed("this", parts)
		case Super:
			return joinReversed("super", parts)
		case Type:
			if n.Next != i+1 {
				return ""
			}
			return joinReversed(n.Text, parts)
		case Member:
			property := f.Child(i, RoleProperty)
			if !f.Is(property, Name) {
				return ""
			}
			parts = append(parts, f.Nodes[property].Text)
			i = f.Child(i, RoleObject)
		default:
			return ""
		}
	}
}

// joinReversed joins the first name and the rest, which is in reverse order.
func joinReversed(first string, rest []string) string {
	if len(rest) == 0 {
		return first
	}
	var b strings.Builder
	b.WriteString(first)
	for i := len(rest) - 1; i >= 0; i-- {
		b.WriteByte('.')
		b.WriteString(rest[i])
	}
	return b.String()
}

// Enclosing returns the nearest ancestor of one of the kinds, None when there is
// none.
func (f *File) Enclosing(i int32, kinds ...Kind) int32 {
	for i = f.Nodes[i].Parent; i >= 0; i = f.Nodes[i].Parent {
		for _, k := range kinds {
			if f.Nodes[i].Kind == k {
				return i
			}
		}
	}
	return None
}

// Contains reports whether b is a or one of its descendants.
func (f *File) Contains(a, b int32) bool { return a <= b && b < f.Nodes[a].Next }

// Line returns the line of the byte, from 1.
func (f *File) Line(offset uint32) int {
	f.indexLines()
	return sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset })
}

// Position returns the line and the column of the byte; the column counts
// characters; both from 1.
func (f *File) Position(offset uint32) (line, column int) {
	line = f.Line(offset)
	return line, utf8.RuneCountInString(f.Source[f.lines[line-1]:offset]) + 1
}

// indexLines finds the lines. Finish does it, so that finished files can be shared.
func (f *File) indexLines() {
	if f.lines != nil {
		return
	}
	lines := make([]uint32, 1, 1+strings.Count(f.Source, "\n"))
	for i := 0; i < len(f.Source); i++ {
		if f.Source[i] == '\n' {
			lines = append(lines, uint32(i+1))
		}
	}
	f.lines = lines
}
