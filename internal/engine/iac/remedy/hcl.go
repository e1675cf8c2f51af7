package remedy

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"merlon/internal/finding"
)

// This file merges arguments into a block of Terraform. Lines that are not concerned stay as they
// are, with their comments.

// A place says which resource of a file is edited.
type place struct {
	line  int
	kinds []string // none: any
	name  string   // "aws_s3_bucket.logs"; empty: any

	keepBlocks bool // add no nested block
}

// hclMerge is one edit of a file. It fails where the file and the arguments cannot be joined
// without a decision.
type hclMerge struct {
	text   []byte
	lines  []string
	code   []byte // the arguments
	edits  []finding.Edit
	failed bool

	// keepBlocks says that no block is added: what else a new one needs is not known.
	keepBlocks bool
}

// mergeHCL returns the edits that put the arguments into the resource; nil where that is not
// possible or changes nothing.
func mergeHCL(file *source, at place, code string) []finding.Edit {
	block := file.findResource(at)
	if block == nil {
		return nil
	}
	wanted, problems := hclsyntax.ParseConfig([]byte(code+"\n"), "", hcl.InitialPos)
	if problems.HasErrors() {
		return nil
	}
	m := &hclMerge{text: file.text, lines: file.lines, code: []byte(code + "\n"), keepBlocks: at.keepBlocks}
	m.merge(block, wanted.Body.(*hclsyntax.Body))
	if m.failed {
		return nil
	}
	return m.edits
}

// listResources parses the file and returns its resources; none of a file that is not Terraform.
func (s *source) listResources() []*hclsyntax.Block {
	if s.parsed {
		return s.resources
	}
	s.parsed = true
	file, problems := hclsyntax.ParseConfig(s.text, "", hcl.InitialPos)
	if problems.HasErrors() {
		return nil
	}
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		if b.Type == "resource" && len(b.Labels) == 2 {
			s.resources = append(s.resources, b)
		}
	}
	return s.resources
}

// findResource returns the resource at the line.
func (s *source) findResource(at place) *hclsyntax.Block {
	for _, b := range s.listResources() {
		if at.line < b.TypeRange.Start.Line || at.line > b.CloseBraceRange.End.Line {
			continue
		}
		if len(at.kinds) > 0 && !slices.Contains(at.kinds, b.Labels[0]) ||
			at.name != "" && at.name != b.Labels[0]+"."+b.Labels[1] {
			return nil
		}
		return b
	}
	return nil
}

// merge puts the arguments and blocks of the wanted body into the block.
func (m *hclMerge) merge(b *hclsyntax.Block, wanted *hclsyntax.Body) {
	if b.OpenBraceRange.Start.Line == b.CloseBraceRange.Start.Line ||
		strings.TrimSpace(m.lines[b.CloseBraceRange.Start.Line-1]) != "}" {
		m.failed = true // "block {}" in one line
		return
	}
	indent := m.indentOf(b.TypeRange.Start.Line) + "  "
	var added []string
	for _, want := range inOrder(wanted.Attributes) {
		value := string(want.Expr.Range().SliceBytes(m.code))
		if have := b.Body.Attributes[want.Name]; have != nil {
			m.replaceValue(have, want, value)
			continue
		}
		added = append(added, want.Name+" = "+value)
	}
	m.addAttributes(b, indent, added)
	for _, want := range wanted.Blocks {
		m.mergeBlock(b, want, indent)
	}
}

// inOrder returns attributes as they are written.
func inOrder(all hclsyntax.Attributes) []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	for _, a := range all {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *hclsyntax.Attribute) int { return a.SrcRange.Start.Byte - b.SrcRange.Start.Byte })
	return out
}

// indentOf returns the blanks before a line.
func (m *hclMerge) indentOf(line int) string {
	text := m.lines[line-1]
	return text[:len(text)-len(strings.TrimLeft(text, " \t"))]
}

// replaceValue replaces the value of an argument, unless it depends on something else: then
// another file or a person decides. A number that is only a lower limit is not lowered.
func (m *hclMerge) replaceValue(have, want *hclsyntax.Attribute, value string) {
	r := have.Expr.Range()
	written := string(bytes.TrimSpace(r.SliceBytes(m.text)))
	if written == value || isLarger(written, value) {
		return
	}
	if !isLiteral(have.Expr) || r.Start.Line != r.End.Line {
		m.failed = true
		return
	}
	line := m.lines[r.Start.Line-1]
	start := r.Start.Byte - lineStart(m.text, r.Start.Byte)
	end := start + r.End.Byte - r.Start.Byte
	m.edits = append(m.edits, replaceLines(r.Start.Line, r.Start.Line, line[:start]+value+line[end:]))
}

// isLarger reports whether both are whole numbers and a is the larger one.
func isLarger(a, b string) bool {
	m, err := strconv.Atoi(a)
	n, other := strconv.Atoi(b)
	return err == nil && other == nil && m > n
}

// isLiteral reports whether the value is written where it stands.
func isLiteral(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.TemplateExpr:
		return e.IsStringLiteral() || len(e.Parts) == 0
	case *hclsyntax.TupleConsExpr:
		return !slices.ContainsFunc(e.Exprs, func(e hclsyntax.Expression) bool { return !isLiteral(e) })
	}
	return false
}

// lineStart returns the offset of the line's first byte.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// addAttributes inserts arguments behind the last one of the block, or as the first.
func (m *hclMerge) addAttributes(b *hclsyntax.Block, indent string, added []string) {
	if len(added) == 0 {
		return
	}
	at, width := b.OpenBraceRange.Start.Line+1, 0
	if have := inOrder(b.Body.Attributes); len(have) > 0 {
		last := have[len(have)-1]
		end := last.SrcRange.End
		if at = end.Line + 1; end.Column == 1 { // behind a here-document
			at = end.Line
		} else if last.SrcRange.Start.Line == end.Line {
			width = last.EqualsRange.Start.Column - last.NameRange.Start.Column - 1
		}
	}
	var lines []string
	for _, text := range added {
		name, value, _ := strings.Cut(text, " = ")
		lines = append(lines, indent+name+strings.Repeat(" ", max(0, width-len(name)))+" = "+value)
	}
	if len(b.Body.Attributes) == 0 && len(b.Body.Blocks) > 0 {
		lines = append(lines, "")
	}
	m.edits = append(m.edits, insertBefore(at, lines...))
}

// mergeBlock merges a nested block into the one of its type, or adds it before the closing brace.
func (m *hclMerge) mergeBlock(b, want *hclsyntax.Block, indent string) {
	var have []*hclsyntax.Block
	for _, one := range b.Body.Blocks {
		switch {
		case one.Type == want.Type:
			have = append(have, one)
		case one.Type == "dynamic" && len(one.Labels) == 1 && one.Labels[0] == want.Type:
			m.failed = true
		}
	}
	if b.Body.Attributes[want.Type] != nil || len(have) > 1 || len(have) == 0 && m.keepBlocks {
		m.failed = true
		return
	}
	if len(have) == 1 {
		m.merge(have[0], want.Body)
		return
	}
	source := splitLines(m.code[lineStart(m.code, want.TypeRange.Start.Byte):want.CloseBraceRange.End.Byte])
	depth := len(source[0]) - len(strings.TrimLeft(source[0], " "))
	var lines []string
	close := b.CloseBraceRange.Start.Line
	if before := strings.TrimSpace(m.lines[close-2]); before != "" && !strings.HasSuffix(before, "{") {
		lines = append(lines, "")
	}
	for _, line := range source {
		if line != "" {
			line = indent + line[min(depth, len(line)):]
		}
		lines = append(lines, line)
	}
	m.edits = append(m.edits, insertBefore(close, lines...))
}
