package terraform

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"merlon/internal/scan"
)

// This file reads the JSON form of a plan, `terraform show -json`
// (https://developer.hashicorp.com/terraform/internals/json-format), and what
// CDKTF writes, which is the JSON syntax under another name. Both are known by
// their content.

// readDetected reads a JSON file if it is a plan or written by CDKTF, which only its
// content shows.
func (l *loader) readDetected(name string) {
	info, err := fs.Stat(l.fs, name)
	if err != nil || info.Size() > maxFile {
		return // whoever reads all JSON says so
	}
	text, err := fs.ReadFile(l.fs, name)
	if err != nil {
		return
	}
	s := &source{name: name, text: text, sniffed: true}
	switch {
	// Two words that occur together in no other JSON: decoding all JSON files would be expensive.
	case bytes.Contains(text, []byte(`"planned_values"`)) && bytes.Contains(text, []byte(`"format_version"`)):
		s.lines = scan.NewLines(text)
		l.readPlan(s)
	case bytes.Contains(text, []byte(`"resource"`)) && bytes.Contains(text, []byte(`"stackName"`)):
		s.lines = scan.NewLines(text)
		if p := l.parseJSON(s); p == nil && len(s.blocks) > 0 {
			l.addStandalone(s)
		}
	}
}

// addStandalone makes a file a module of its own: it has nothing to do with the files
// beside it.
func (l *loader) addStandalone(s *source) {
	// The NUL byte cannot be part of a real path, so the name collides with no folder.
	dir := path.Join(path.Dir(s.name), "\x00"+path.Base(s.name))
	l.dirs[dir] = &folder{dir: path.Dir(s.name), files: []*source{s}}
}

// readPlan reads a plan. Its values are final, not templates; what is known only after it
// is applied is listed beside them.
func (l *loader) readPlan(s *source) {
	if p := checkJSONDepth(s.text); p != nil {
		p.Path = s.name
		l.report(*p)
		return
	}
	file, diags := hcljson.Parse(s.text, s.name)
	if diags.HasErrors() {
		l.report(Problem{Code: "malformed", Path: s.name, Message: diags[0].Summary})
		return
	}
	var about struct {
		ResourceChanges []struct {
			Address string
			Change  struct {
				AfterUnknown map[string]any `json:"after_unknown"`
			}
		} `json:"resource_changes"`
	}
	// The text is parsed twice: with positions for the values, and plainly for the changes.
	if err := json.Unmarshal(s.text, &about); err != nil {
		l.report(Problem{Code: "malformed", Path: s.name, Message: "the changes of the plan cannot be read"})
		return
	}
	p := &planReader{source: s, unknown: map[string]map[string]any{}}
	for _, c := range about.ResourceChanges {
		p.unknown[c.Address] = c.Change.AfterUnknown
	}
	top, _ := file.Body.JustAttributes()
	if a := top["planned_values"]; a != nil {
		p.readModule(memberOf(a.Expr, "root_module"), 0)
	}
	if len(s.blocks) > 0 {
		l.addStandalone(s)
	}
}

// planReader is a plan that is being read.
type planReader struct {
	source  *source
	unknown map[string]map[string]any // by address
}

// memberOf returns the value of a key of an object, or nil.
func memberOf(e hcl.Expression, name string) hcl.Expression {
	if e == nil {
		return nil
	}
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		return nil
	}
	for _, p := range pairs {
		if k, ok := literalKey(p.Key); ok && k == name {
			return p.Value
		}
	}
	return nil
}

// memberText returns the text of a member, or "".
func memberText(e hcl.Expression, name string) string {
	if m := memberOf(e, name); m != nil {
		text, _ := literalKey(m)
		return text
	}
	return ""
}

// listItems returns the elements of a list, or nil.
func listItems(e hcl.Expression) []hcl.Expression {
	if e == nil {
		return nil
	}
	list, diags := hcl.ExprList(e)
	if diags.HasErrors() {
		return nil
	}
	return list
}

// readModule reads the resources of a module of the plan, and of those it calls.
func (p *planReader) readModule(e hcl.Expression, depth int) {
	if e == nil || depth > maxCalls {
		return
	}
	for _, r := range listItems(memberOf(e, "resources")) {
		p.readResource(r)
	}
	for _, child := range listItems(memberOf(e, "child_modules")) {
		p.readModule(child, depth+1)
	}
}

// readResource reads one resource. Its name is its whole address.
func (p *planReader) readResource(e hcl.Expression) {
	kind, address := memberText(e, "type"), memberText(e, "address")
	if kind == "" || address == "" || len(p.source.blocks) >= maxResources {
		return
	}
	b := &block{kind: "resource", labels: []string{kind, address}, source: p.source,
		header: memberOf(e, "address").Range()}
	if memberText(e, "mode") == "data" {
		b.kind = "data"
	}
	// All tags are those of the resource and those that the provider adds.
	allTags := strings.HasPrefix(kind, "aws_") && hasMembers(memberOf(memberOf(e, "values"), "tags_all"))
	seen := map[string]bool{}
	if values := memberOf(e, "values"); values != nil {
		pairs, _ := hcl.ExprMap(values)
		for _, pair := range pairs {
			name, ok := literalKey(pair.Key)
			if !ok || allTags && name == "tags" {
				continue
			}
			later := p.unknown[address][name]
			if allTags && name == "tags_all" {
				name = "tags"
			}
			seen[name] = true
			b.attributes = append(b.attributes, attribute{name: name, where: pair.Key.Range(),
				whole: hcl.RangeBetween(pair.Key.Range(), pair.Value.Range()), expr: plannedValue(pair.Value, later)})
		}
	}
	p.addUnknown(b, p.unknown[address], seen)
	sortAttributes(b.attributes)
	p.source.blocks = append(p.source.blocks, b)
}

// addUnknown adds the attributes of a resource that only the provider knows.
func (p *planReader) addUnknown(b *block, unknown map[string]any, seen map[string]bool) {
	for name, u := range unknown {
		if !seen[name] && anyUnknown(u) {
			b.attributes = append(b.attributes, attribute{name: name, where: b.header, whole: b.header,
				expr: &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: b.header}})
		}
	}
}

// hasMembers reports whether a value is an object that is not empty.
func hasMembers(e hcl.Expression) bool {
	if e == nil {
		return false
	}
	pairs, diags := hcl.ExprMap(e)
	return !diags.HasErrors() && len(pairs) > 0
}

// plannedValue converts a value of a plan. The other tree marks with true what in it is
// not known yet.
func plannedValue(e hcl.Expression, unknown any) hclsyntax.Expression {
	if unknown == true {
		return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: e.Range()}
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		fields, _ := unknown.(map[string]any)
		out := &hclsyntax.ObjectConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		add := func(name string, at hcl.Range, v hclsyntax.Expression) {
			out.Items = append(out.Items,
				hclsyntax.ObjectConsItem{KeyExpr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(name), SrcRange: at},
					ValueExpr: v})
		}
		seen := map[string]bool{}
		for _, p := range pairs {
			if name, ok := literalKey(p.Key); ok {
				seen[name] = true
				add(name, p.Key.Range(), plannedValue(p.Value, fields[name]))
			}
		}
		for name, u := range fields {
			if !seen[name] && anyUnknown(u) {
				add(name, e.StartRange(), &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: e.StartRange()})
			}
		}
		return out
	}
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		list, _ := unknown.([]any)
		out := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for i, item := range items {
			var u any
			if i < len(list) {
				u = list[i]
			}
			out.Exprs = append(out.Exprs, plannedValue(item, u))
		}
		return out
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() {
		v = cty.DynamicVal
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
}

// anyUnknown reports whether something in the tree is not known.
func anyUnknown(u any) bool {
	switch u := u.(type) {
	case bool:
		return u
	case []any:
		for _, e := range u {
			if anyUnknown(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range u {
			if anyUnknown(e) {
				return true
			}
		}
	}
	return false
}

// isPlanned reports whether the name of a resource is an address of a plan.
func isPlanned(b *block) bool {
	return strings.HasSuffix(b.source.name, ".json") && strings.Contains(b.labels[1], ".")
}
