package helm

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"text/template/parse"
	"time"
)

// This file follows rendered text back to the template. The interpreter of
// text/template writes the very bytes of a text node, so the writer recognises the
// node by their address. An empty text node before every action is such a mark
// too: the writer learns at which line the template is, and counts steps.

// Limits of rendering one chart.
const (
	maxOutput = 32 << 20 // bytes
	maxSteps  = 5_000_000
	maxTime   = 5 * time.Minute // a last resort: steps and bytes end it before
)

// errBudget ends a chart that takes more steps or bytes than it is given.
var errBudget = errors.New("rendering the chart takes too long or writes too much")

// A budget is what one chart may use up.
type budget struct {
	steps  int
	bytes  int
	depth  int // calls of templates inside of each other
	until  time.Time
	failed error
}

// spendStep takes one step and the bytes, and fails when nothing is left.
func (b *budget) spendStep(bytes int) error {
	b.steps++
	b.bytes += bytes
	if b.failed == nil && (b.steps > maxSteps || b.bytes > maxOutput || b.steps%1024 == 0 &&
		time.Now().After(b.until)) {
		b.failed = errBudget
	}
	return b.failed
}

// A mark is the place of a text node.
type mark struct {
	path string
	line int
}

// textMarks finds a text node's place by the address of its first byte.
type textMarks map[*byte]mark

// addMarks puts marks into a parsed template whose source is given.
func (m textMarks) addMarks(tree *parse.Tree, path string, source []byte) {
	var starts []int // offsets of lines
	starts = append(starts, 0)
	for i, c := range source {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	in := instrument{marks: m, path: path, line: func(pos parse.Pos) int {
		return sort.SearchInts(starts, int(pos)+1)
	}}
	in.markList(tree.Root)
}

// An instrument marks the texts of a template so that what is written can be told from what is
// computed.
type instrument struct {
	marks textMarks
	path  string
	line  func(parse.Pos) int
}

// markList marks the nodes of a list, and the list itself so that an empty body of a loop
// counts as a step.
func (in *instrument) markList(l *parse.ListNode) {
	if l == nil {
		return
	}
	nodes := []parse.Node{in.newMark(l.Pos)}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			if len(n.Text) > 0 {
				in.marks[&n.Text[0]] = mark{in.path, in.line(n.Pos)}
			}
			nodes = append(nodes, n)
			continue
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, newCommand(n.Pos, "out"))
			}
		case *parse.TemplateNode:
			nodes = append(nodes, in.newMark(n.Pos), newInclude(n))
			continue
		case *parse.IfNode:
			in.markList(n.List)
			in.markList(n.ElseList)
		case *parse.RangeNode:
			in.markList(n.List)
			in.markList(n.ElseList)
		case *parse.WithNode:
			in.markList(n.List)
			in.markList(n.ElseList)
		}
		nodes = append(nodes, in.newMark(n.Position()), n)
	}
	l.Nodes = nodes
}

// newMark returns an empty text node whose address is known.
func (in *instrument) newMark(pos parse.Pos) parse.Node {
	text := make([]byte, 1)
	in.marks[&text[0]] = mark{in.path, in.line(pos)}
	return &parse.TextNode{NodeType: parse.NodeText, Pos: pos, Text: text[:0]}
}

// newCommand returns the command that calls a function without more arguments.
func newCommand(pos parse.Pos, name string) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{
		parse.NewIdentifier(name).SetPos(pos),
	}}
}

// newInclude returns the action {{ include "name" argument }} in the place of {{ template
// "name" argument }}: the text is the same, and include counts depth.
func newInclude(n *parse.TemplateNode) parse.Node {
	c := newCommand(n.Pos, "include")
	c.Args = append(c.Args, &parse.StringNode{NodeType: parse.NodeString, Pos: n.Pos, Quoted: fmt.Sprintf("%q", n.Name),
		Text: n.Name})
	if n.Pipe == nil {
		c.Args = append(c.Args, &parse.NilNode{NodeType: parse.NodeNil, Pos: n.Pos})
	} else {
		c.Args = append(c.Args, n.Pipe)
	}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: n.Pos, Line: n.Line, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: n.Pos, Line: n.Line, Cmds: []*parse.CommandNode{c},
	}}
}

// A writer collects the text of one template, and for each line the line of the
// template that its first visible byte comes from.
type writer struct {
	budget *budget
	marks  textMarks
	path   string // of the template; "" when lines do not matter
	text   bytes.Buffer
	lines  []int
	at     int  // line of the template
	open   bool // the last line has nothing visible yet
}

// Write takes what the interpreter writes. See the comment of the file.
func (w *writer) Write(p []byte) (int, error) {
	if err := w.budget.spendStep(len(p)); err != nil {
		return 0, err
	}
	w.text.Write(p)
	if w.path == "" {
		return len(p), nil
	}
	moving := false
	if cap(p) > 0 {
		if m, ok := w.marks[&p[:1][0]]; ok && m.path == w.path {
			w.at, moving = m.line, len(p) > 0
		}
	}
	if len(w.lines) == 0 {
		w.lines, w.open = append(w.lines, w.at), true
	}
	for _, c := range p {
		switch {
		case c == '\n':
			if moving {
				w.at++
			}
			w.lines, w.open = append(w.lines, w.at), true
		case w.open && c != ' ' && c != '\t' && c != '\r':
			w.lines[len(w.lines)-1], w.open = w.at, false
		}
	}
	return len(p), nil
}
