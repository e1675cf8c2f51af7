package terraform

import (
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// This file shows evaluated modules in the form that the query library asks: one
// document for each file of a module instance, {"resource": {TYPE: {NAME: …}}},
// where what is not known, and what names a resource, is a text: "${…}".

// Documents returns the documents of the project. Plans, and what development kits
// wrote, are JSON that describes itself: who reads all JSON has them.
func (p *Project) Documents() []*document.Document {
	var out []*document.Document
	seen := map[string]int{}
	for _, m := range p.Modules {
		for _, f := range m.scope.folder.files {
			if f.sniffed {
				continue
			}
			d := &document.Document{Platform: document.Terraform, Format: document.HCL, Path: f.name,
				Index: seen[f.name], Unit: m.Root.Dir, Text: f.text}
			if strings.HasSuffix(f.name, ".json") {
				d.Format = document.JSON
			}
			if m.Address != "" {
				d.Prefix = m.Address + "."
			}
			t := &tree{values: map[string]any{}, lines: &document.Node{Line: 1, Fields: map[string]*document.Node{}}}
			for _, b := range m.blocksOfFile(f.name) {
				t.addBlock(b)
			}
			if len(t.values) == 0 {
				continue
			}
			seen[f.name]++
			d.Root, d.Lines = t.values, t.lines
			out = append(out, d)
		}
	}
	return out
}

// blocksOfFile returns the blocks of the module that are in the file, of resources the
// first instance: all instances have the same lines.
func (m *Module) blocksOfFile(name string) []*Block {
	var out []*Block
	for _, b := range m.Others {
		if b.Place.Path == name {
			out = append(out, b)
		}
	}
	seen := map[*node]bool{}
	for _, r := range m.Resources {
		if r.Body.Place.Path == name && !seen[r.declaration] {
			seen[r.declaration] = true
			out = append(out, r.Body)
		}
	}
	return out
}

// tree is a map of a document with its positions.
type tree struct {
	values map[string]any
	lines  *document.Node
}

// newTree returns an empty object at a place.
func newTree(at finding.Location) *tree {
	return &tree{map[string]any{}, &document.Node{Line: at.StartLine, Column: at.StartColumn, Path: at.Path,
		Fields: map[string]*document.Node{}}}
}

// addBlock puts a block below its type and labels. Blocks of the same name become a list,
// as the query library expects.
func (t *tree) addBlock(b *Block) {
	name := b.Type
	for _, label := range b.Labels {
		below, ok := t.values[name].(map[string]any)
		if !ok {
			if t.values[name] != nil {
				return // an attribute of the same name
			}
			below = map[string]any{}
			t.values[name] = below
			t.lines.Fields[name] = &document.Node{Line: b.Place.StartLine, Column: b.Place.StartColumn,
				Fields: map[string]*document.Node{}}
		}
		t = &tree{below, t.lines.Fields[name]}
		name = label
	}
	body := blockTree(b)
	switch old := t.values[name].(type) {
	case nil:
		t.values[name], t.lines.Fields[name] = body.values, body.lines
	case []any:
		node := t.lines.Fields[name]
		t.values[name] = append(old, body.values)
		node.Items = append(node.Items, body.lines)
		node.Line, node.Column = body.lines.Line, body.lines.Column
	default:
		node := &document.Node{Line: body.lines.Line, Column: body.lines.Column,
			Items: []*document.Node{t.lines.Fields[name], body.lines}}
		t.values[name], t.lines.Fields[name] = []any{old, body.values}, node
	}
}

// blockTree converts the body of a block.
func blockTree(b *Block) *tree {
	t := newTree(b.Place)
	for name, a := range b.Attributes {
		value, node := a.toDocument()
		t.values[name], t.lines.Fields[name] = value, node
	}
	for _, inner := range b.Blocks {
		t.addBlock(inner)
	}
	return t
}

// toDocument converts an attribute to the value and positions of a document.
func (a *Attribute) toDocument() (any, *document.Node) {
	node := &document.Node{Line: a.Place.StartLine, Column: a.Place.StartColumn, Path: a.Place.Path}
	if a.expr == nil {
		node.Unknown = isUnknown(a.Value)
		return replaceUnknown(a.Value, "unknown"), node
	}
	s := &converter{source: a.expr.source, frame: a.expr.frame}
	value, inner := s.convert(a.expr.expr, a.Value)
	node.Fields, node.Items, node.Unknown = inner.Fields, inner.Items, inner.Unknown && !metaArguments[a.Name]
	if a.under != nil {
		return a.mergeDocuments(value, node)
	}
	return value, node
}

// isUnknown reports whether nothing of the value is known: not even which resource it
// names.
func isUnknown(v any) bool {
	switch v := v.(type) {
	case Unknown:
		return true
	case string: // a variable that nobody gives a value
		return strings.HasPrefix(v, "${var.") && strings.IndexByte(v, '}') == len(v)-1
	}
	return false
}

// converter converts expressions of one file. It works on the expression beside its value,
// because the value has lost the positions.
type converter struct {
	source *source
	frame  frame
}

// convert returns the value of an expression as the documents have it, with the position
// of each part.
func (s *converter) convert(e hclsyntax.Expression, value any) (any, *document.Node) {
	at := s.source.locationOf(e.Range())
	node := &document.Node{Line: at.StartLine, Column: at.StartColumn, Path: at.Path, Unknown: isUnknown(value)}
	switch e := e.(type) {
	case *countedExpr:
		return s.convert(e.Expression, value)
	case *hclsyntax.ParenthesesExpr:
		return s.convert(e.Expression, value)
	case *hclsyntax.TemplateWrapExpr:
		return s.convert(e.Wrapped, value)
	case *hclsyntax.LiteralValueExpr:
		return replaceUnknown(plainOf(e.Val).value, ""), node
	case *hclsyntax.TupleConsExpr:
		return s.convertItems(e, value, node), node
	case *hclsyntax.ObjectConsExpr:
		return s.convertFields(e, value, node), node
	case *hclsyntax.TemplateExpr:
		if text, ok := value.(string); ok {
			return text, node
		}
		node.Unknown = false // its text is
		return s.convertTemplate(e), node
	case *hclsyntax.ScopeTraversalExpr:
		if !s.showsValue(e, value) {
			node.Unknown = false // a resource, or what it has
			return "${" + s.source.textOf(e.Range()) + "}", node
		}
	}
	return replaceUnknown(value, s.source.textOf(e.Range())), node
}

// showsValue reports whether a name is shown by its value: those of resources stay names,
// because rules join resources by them.
func (s *converter) showsValue(e *hclsyntax.ScopeTraversalExpr, value any) bool {
	switch root := e.Traversal.RootName(); root {
	case "var", "local", "each", "count", "path":
		return true
	case "module":
		text, ok := value.(string)
		return !ok || !Symbolic(text)
	case "data":
		words := rootWords(e.Traversal)
		return len(words) > 3 && words[1] == "aws_iam_policy_document" && words[3] == "json"
	default:
		if _, ok := s.frame[root]; ok { // the iterator of a dynamic block
			text, ok := value.(string)
			return !ok || !Symbolic(text)
		}
	}
	return false
}

// convertItems converts the items of a list, and adds their places to the node.
func (s *converter) convertItems(e *hclsyntax.TupleConsExpr, value any, node *document.Node) []any {
	list, _ := value.([]any)
	out := make([]any, 0, len(e.Exprs))
	for i, item := range e.Exprs {
		v, n := s.convert(item, itemOf(list, i, len(e.Exprs)))
		// An object in a list has no key: it is shown where its own begin.
		if o, ok := item.(*hclsyntax.ObjectConsExpr); ok && len(o.Items) > 0 {
			where := s.source.locationOf(o.Items[0].KeyExpr.Range())
			n.Line, n.Column = where.StartLine, where.StartColumn
		}
		out, node.Items = append(out, v), append(node.Items, n)
	}
	return out
}

// convertFields converts the fields of an object, and adds their places to the node.
func (s *converter) convertFields(e *hclsyntax.ObjectConsExpr, value any, node *document.Node) map[string]any {
	object, _ := value.(map[string]any)
	out := map[string]any{}
	node.Fields = map[string]*document.Node{}
	for _, item := range e.Items {
		name := s.keyText(item.KeyExpr)
		v, n := s.convert(item.ValueExpr, fieldOf(object, name))
		where := s.source.locationOf(item.KeyExpr.Range())
		n.Line, n.Column = where.StartLine, where.StartColumn
		out[name], node.Fields[name] = v, n
	}
	return out
}

// convertTemplate converts a template whose value is not known, part by part, so that its
// literal text can still be matched.
func (s *converter) convertTemplate(e *hclsyntax.TemplateExpr) string {
	var b strings.Builder
	for _, part := range e.Parts {
		if l, ok := part.(*hclsyntax.LiteralValueExpr); ok {
			if text, ok := plainOf(l.Val).value.(string); ok {
				b.WriteString(text)
				continue
			}
		}
		b.WriteString("${" + s.source.textOf(part.Range()) + "}")
	}
	return b.String()
}

// keyText returns the text of an object's key, or the expression in "${…}".
func (s *converter) keyText(e hclsyntax.Expression) string {
	if name, ok := literalKey(e); ok {
		return name
	}
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		if name, ok := literalKey(k.Wrapped); ok {
			return name
		}
		e = k.Wrapped
	}
	return "${" + s.source.textOf(e.Range()) + "}"
}

// itemOf returns an element of a list that has as many elements as were written, else
// Unknown: with a splat or a condition among them, positions in list and text do not
// correspond.
func itemOf(list []any, i, written int) any {
	if len(list) == written {
		return list[i]
	}
	return Unknown{}
}

// fieldOf returns a field of an object, or Unknown.
func fieldOf(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return Unknown{}
}

// replaceUnknown replaces what is not known by the text of the expression, and whole
// numbers by integers.
func replaceUnknown(v any, text string) any {
	switch v := v.(type) {
	case Unknown:
		return "${" + text + "}"
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = replaceUnknown(e, text)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = replaceUnknown(e, text)
		}
		return out
	}
	return v
}

// locateKeys adds the positions of the keys of an object, or of the objects of a list.
func (e *expression) locateKeys(to map[string]finding.Location) {
	_ = hclsyntax.VisitAll(e.expr, func(n hclsyntax.Node) hcl.Diagnostics { // it finds no fault
		object, ok := n.(*hclsyntax.ObjectConsExpr)
		if !ok {
			return nil
		}
		for _, item := range object.Items {
			name := (&converter{source: e.source}).keyText(item.KeyExpr)
			if _, ok := to[name]; !ok {
				to[name] = e.source.locationOf(hcl.RangeBetween(item.KeyExpr.Range(), item.ValueExpr.Range()))
			}
		}
		return nil
	})
}
