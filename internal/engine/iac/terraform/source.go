package terraform

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file reads files into blocks: one form for the native syntax and for JSON.

// source is a file.
type source struct {
	name string
	// as read; ranges are offsets in it
	text  []byte
	lines *scan.Lines
	// empty for a file of values alone
	blocks []*block
	// sniffed is set when the content told what the file is, not its name.
	sniffed bool
}

// block is a block as it is written.
type block struct {
	kind string // "resource"
	// type and name of a resource, the name of a module
	labels []string
	source *source
	// the line with type and labels
	header     hcl.Range
	attributes []attribute
	blocks     []*block
}

// attribute is an argument as it is written.
type attribute struct {
	name  string
	file  *source   // when it is not the block's: an override
	where hcl.Range // of the name
	whole hcl.Range
	expr  hclsyntax.Expression
	raw   hcl.Expression // in JSON, before it was turned
}

// fileIn returns the file in which the attribute of a block is written.
func (a *attribute) fileIn(b *block) *source {
	if a.file != nil {
		return a.file
	}
	return b.source
}

// attributeOf returns the attribute of the name, or nil.
func (b *block) attributeOf(name string) *attribute {
	for i := range b.attributes {
		if b.attributes[i].name == name {
			return &b.attributes[i]
		}
	}
	return nil
}

// locationOf returns a range as a location.
func (s *source) locationOf(r hcl.Range) finding.Location {
	from, to := clamp(r.Start.Byte, len(s.text)), clamp(r.End.Byte, len(s.text))
	out := finding.Location{Path: s.name}
	out.StartLine, out.StartColumn = s.lines.Position(from)
	out.EndLine, out.EndColumn = s.lines.Position(max(from, to))
	return out
}

// sortAttributes puts them in the order in which they are written.
func sortAttributes(list []attribute) {
	slices.SortFunc(list, func(a, b attribute) int { return cmp.Compare(a.whole.Start.Byte, b.whole.Start.Byte) })
}

// clamp limits an offset to the text: ranges of the library can end behind it.
func clamp(n, most int) int { return max(0, min(n, most)) }

// textOf returns the text of a range.
func (s *source) textOf(r hcl.Range) string {
	from, to := clamp(r.Start.Byte, len(s.text)), clamp(r.End.Byte, len(s.text))
	return string(s.text[from:max(from, to)])
}

// readFile adds a file to its folder.
func (l *loader) readFile(name string) {
	// Before the file is read: a state or a dump in the tree can have gigabytes.
	if info, err := fs.Stat(l.fs, name); err == nil && info.Size() > maxFile {
		l.report(Problem{Code: "too-large", Path: name, Message: fmt.Sprintf("the file is larger "+
			"than %d MB", maxFile>>20)})
		return
	}
	text, err := fs.ReadFile(l.fs, name)
	if err != nil {
		l.report(Problem{Code: "unreadable", Path: name, Message: err.Error()})
		return
	}
	s := &source{name: name, text: text, lines: scan.NewLines(text)}
	parse := l.parseNative
	switch {
	case strings.HasSuffix(name, ".json"):
		parse = l.parseJSON
	case strings.HasSuffix(name, ".hcl"):
		l.grunt[name] = s
	}
	if p := parse(s); p != nil {
		p.Path = name
		l.report(*p)
	}
	if l.grunt[name] != nil {
		return
	}
	d := l.dirs[path.Dir(name)]
	if d == nil {
		d = &folder{dir: path.Dir(name)}
		l.dirs[d.dir] = d
	}
	if isValuesFile(name) {
		d.values = append(d.values, s)
	} else if len(s.blocks) > 0 {
		d.files = append(d.files, s)
	}
}

// parseNative reads HCL's own syntax. A file with errors gives the blocks that could be
// read.
func (l *loader) parseNative(s *source) *Problem {
	// The lexer does not recurse, so the text can be measured before it is parsed.
	tokens, _ := hclsyntax.LexConfig(s.text, s.name, hcl.InitialPos)
	if p := checkComplexity(tokens); p != nil {
		return p
	}
	file, diags := hclsyntax.ParseConfig(s.text, s.name, hcl.InitialPos)
	var problem *Problem
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			problem = &Problem{Code: "malformed", Message: d.Summary}
			if d.Subject != nil {
				problem.Line = d.Subject.Start.Line
			}
			break
		}
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return problem
	}
	// the visitor finds no fault
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics { l.wrapForExpr(n); return nil })
	top := nativeBlock(s, &hclsyntax.Block{Body: body})
	s.blocks = top.blocks
	if len(top.attributes) > 0 && (isValuesFile(s.name) || strings.HasSuffix(s.name, ".hcl")) {
		s.blocks = append(s.blocks, &block{kind: "values", source: s, attributes: top.attributes})
	}
	return problem
}

// checkComplexity refuses texts whose shape would need a deep stack: the parser and the
// evaluator call themselves for each level (CWE-674).
func checkComplexity(tokens hclsyntax.Tokens) *Problem {
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
			hclsyntax.TokenCQuote:
			depth--
		// A new argument or item begins a new expression.
		case hclsyntax.TokenEqual, hclsyntax.TokenComma:
			operators = 0
		case hclsyntax.TokenIdent, hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenQuotedLit,
			hclsyntax.TokenStringLit, hclsyntax.TokenNumberLit:
		default:
			operators++
		}
		if depth > maxDepth || operators > maxOperators {
			return &Problem{Code: "too-complex", Line: t.Range.Start.Line, Message: "an expression is nested too " +
				"deeply or too long to be evaluated"}
		}
	}
	return nil
}

// nativeBlock turns a parsed block, in the order in which it is written.
func nativeBlock(s *source, b *hclsyntax.Block) *block {
	out := &block{kind: b.Type, labels: b.Labels, source: s, header: b.DefRange()}
	for name, a := range b.Body.Attributes {
		out.attributes = append(out.attributes, attribute{name: name, where: a.NameRange, whole: a.SrcRange,
			expr: a.Expr})
	}
	sortAttributes(out.attributes)
	for _, inner := range b.Body.Blocks {
		out.blocks = append(out.blocks, nativeBlock(s, inner))
	}
	return out
}

// labelCounts is the number of labels of the blocks of a file in JSON.
// JSON has no labels: {"resource": {"aws_s3_bucket": {"logs": {…}}}} has two levels of names. Types
// without a row are ignored.
var labelCounts = map[string]int{"resource": 2, "data": 2, "ephemeral": 2, "module": 1, "variable": 1, "output": 1,
	"provider": 1, "check": 1,
	"locals": 0, "terraform": 0, "import": 0, "moved": 0, "removed": 0}

// parseJSON reads the JSON syntax, or a file of values in it.
func (l *loader) parseJSON(s *source) *Problem {
	if p := checkJSONDepth(s.text); p != nil {
		return p
	}
	file, diags := hcljson.Parse(s.text, s.name)
	if diags.HasErrors() {
		p := &Problem{Code: "malformed", Message: diags[0].Summary}
		if diags[0].Subject != nil {
			p.Line = diags[0].Subject.Start.Line
		}
		return p
	}
	attributes, _ := file.Body.JustAttributes()
	top := &block{kind: "values", source: s}
	for name, a := range attributes {
		top.attributes = append(top.attributes, attribute{name: name, where: a.NameRange, whole: a.Range, raw: a.Expr})
	}
	sortAttributes(top.attributes)
	if isValuesFile(s.name) {
		for i := range top.attributes {
			top.attributes[i].expr = l.nativeExpression(s, top.attributes[i].raw)
		}
		s.blocks = []*block{top}
		return nil
	}
	for _, a := range top.attributes {
		n, ok := labelCounts[a.name]
		if !ok {
			continue
		}
		l.addJSONBlocks(s, &block{kind: a.name, source: s, header: a.where}, a.raw, n)
	}
	return nil
}

// addJSONBlocks adds the blocks that a member of a JSON object stands for.
func (l *loader) addJSONBlocks(s *source, b *block, e hcl.Expression, labels int) {
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		for _, item := range list {
			l.addJSONBlocks(s, b, item, labels)
		}
		return
	}
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		return
	}
	if labels > 0 {
		for _, p := range pairs {
			if name, ok := literalKey(p.Key); ok {
				l.addJSONBlocks(s, &block{kind: b.kind, source: s, header: p.Key.Range(),
					labels: append(append([]string(nil), b.labels...), name)}, p.Value, labels-1)
			}
		}
		return
	}
	out := &block{kind: b.kind, labels: b.labels, source: s, header: b.header}
	for _, p := range pairs {
		name, ok := literalKey(p.Key)
		switch {
		// "//" is a comment (JSON syntax of Terraform, "Comment Properties").
		case !ok || name == "//":
		case name == "dynamic":
			l.addJSONDynamic(s, out, p.Value)
		default:
			out.attributes = append(out.attributes,
				attribute{name: name, where: p.Key.Range(), whole: hcl.RangeBetween(p.Key.Range(), p.Value.Range()),
					expr: l.nativeExpression(s, p.Value), raw: p.Value})
		}
	}
	s.blocks = append(s.blocks, out)
}

// addJSONDynamic adds dynamic blocks, with their content.
func (l *loader) addJSONDynamic(s *source, to *block, e hcl.Expression) {
	inner := &source{name: s.name, text: s.text, lines: s.lines}
	l.addJSONBlocks(inner, &block{kind: "dynamic", header: e.Range()}, e, 1)
	for _, d := range inner.blocks {
		d.source = s
		if a := d.attributeOf("content"); a != nil {
			content := &source{name: s.name, text: s.text, lines: s.lines}
			l.addJSONBlocks(content, &block{kind: "content", header: a.where}, a.raw, 0)
			for _, c := range content.blocks {
				c.source = s
			}
			d.blocks = content.blocks
		}
		to.blocks = append(to.blocks, d)
	}
}

// checkJSONDepth refuses JSON that is nested too deeply: the parser calls itself for each
// level (CWE-674).
func checkJSONDepth(text []byte) *Problem {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxDepth {
			return &Problem{Code: "too-complex", Line: 1 + bytes.Count(text[:i], []byte("\n")),
				Message: "the file is nested too deeply"}
		}
	}
	return nil
}

// nativeExpression converts an expression of the JSON syntax into the native form. Its
// strings are templates.
func (l *loader) nativeExpression(s *source, e hcl.Expression) hclsyntax.Expression {
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		out := &hclsyntax.ObjectConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, p := range pairs {
			if name, ok := literalKey(p.Key); ok {
				out.Items = append(out.Items, hclsyntax.ObjectConsItem{
					KeyExpr:   &hclsyntax.LiteralValueExpr{Val: cty.StringVal(name), SrcRange: p.Key.Range()},
					ValueExpr: l.nativeExpression(s, p.Value)})
			}
		}
		return out
	}
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		out := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, item := range items {
			out.Exprs = append(out.Exprs, l.nativeExpression(s, item))
		}
		return out
	}
	v, diags := e.Value(nil)
	literal := &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String ||
		!strings.ContainsAny(v.AsString(), "$%") {
		return literal
	}
	start := e.Range().Start
	// Behind the quote, so that positions inside of the template are those of the file.
	start.Byte, start.Column = start.Byte+1, start.Column+1
	text := []byte(v.AsString())
	tokens, _ := hclsyntax.LexTemplate(text, s.name, start)
	if p := checkComplexity(tokens); p != nil {
		l.report(Problem{Code: p.Code, Message: p.Message, Path: s.name, Line: start.Line})
		return literal
	}
	template, diags := hclsyntax.ParseTemplate(text, s.name, start)
	if diags.HasErrors() {
		return literal
	}
	// the visitor finds no fault
	_ = hclsyntax.VisitAll(template, func(n hclsyntax.Node) hcl.Diagnostics { l.wrapForExpr(n); return nil })
	return template
}

// literalKey returns the text of a key that needs no evaluation.
func literalKey(e hcl.Expression) (string, bool) {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		if word := hcl.ExprAsKeyword(e); word != "" {
			return word, true
		}
		return "", false
	}
	return v.AsString(), true
}

// countedExpr is an expression whose every evaluation is counted. It wraps the bodies of
// for expressions, so that one that never ends is stopped.
type countedExpr struct {
	hclsyntax.Expression
	loader *loader
}

// limitExceeded is what an evaluation beyond the limits panics with; it is caught where
// the evaluation begins.
type limitExceeded struct{ what string }

// Value evaluates the expression.
func (c *countedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := c.Expression.Value(ctx)
	c.loader.countStep(v)
	return v, diags
}

// countStep counts one step and the text of its result.
func (l *loader) countStep(v cty.Value) {
	l.steps++
	v, _ = v.Unmark()
	if v != cty.NilVal && v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
		l.text += len(v.AsString())
	}
	if l.steps > maxSteps || l.text > maxText {
		panic(limitExceeded{"the expressions take too many steps"})
	}
	// Not at each step: asking the context takes a lock.
	if l.steps%1024 == 0 && l.ctx.Err() != nil {
		panic(limitExceeded{"the scan was stopped"})
	}
}

// wrapForExpr puts counters into for expressions.
func (l *loader) wrapForExpr(n hclsyntax.Node) {
	if e, ok := n.(*hclsyntax.ForExpr); ok {
		if _, done := e.ValExpr.(*countedExpr); !done {
			e.ValExpr = &countedExpr{e.ValExpr, l}
		}
	}
}
