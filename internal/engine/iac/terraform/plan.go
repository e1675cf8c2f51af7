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

// sniff reads a JSON file if it is a plan or made by CDKTF.
func (l *loader) sniff(name string) {
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
	case bytes.Contains(text, []byte(`"planned_values"`)) && bytes.Contains(text, []byte(`"format_version"`)):
		s.lines = scan.NewLines(text)
		l.plan(s)
	case bytes.Contains(text, []byte(`"resource"`)) && bytes.Contains(text, []byte(`"stackName"`)):
		s.lines = scan.NewLines(text)
		if p := l.json(s); p == nil && len(s.blocks) > 0 {
			l.alone(s)
		}
	}
}

// alone makes a file a module of its own: it has nothing to do with its
// neighbours.
func (l *loader) alone(s *source) {
	dir := path.Join(path.Dir(s.name), "\x00"+path.Base(s.name))
	l.dirs[dir] = &folder{dir: path.Dir(s.name), files: []*source{s}}
}

// plan reads a plan. Its values are final, no templates; what is known only after
// it is applied is listed beside them.
func (l *loader) plan(s *source) {
	if p := measureJSON(s.text); p != nil {
		p.Path = s.name
		l.problem(*p)
		return
	}
	file, diags := hcljson.Parse(s.text, s.name)
	if diags.HasErrors() {
		l.problem(Problem{Code: "malformed", Path: s.name, Message: diags[0].Summary})
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
	if err := json.Unmarshal(s.text, &about); err != nil {
		l.problem(Problem{Code: "malformed", Path: s.name, Message: "the changes of the plan cannot be read"})
		return
	}
	p := &plan{source: s, unknown: map[string]map[string]any{}}
	for _, c := range about.ResourceChanges {
		p.unknown[c.Address] = c.Change.AfterUnknown
	}
	top, _ := file.Body.JustAttributes()
	if a := top["planned_values"]; a != nil {
		p.module(member(a.Expr, "root_module"), 0)
	}
	if len(s.blocks) > 0 {
		l.alone(s)
	}
}

// plan is a plan that is being read.
type plan struct {
	source  *source
	unknown map[string]map[string]any // by address
}

// member returns the value of a key of an object, or nil.
func member(e hcl.Expression, name string) hcl.Expression {
	if e == nil {
		return nil
	}
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		return nil
	}
	for _, p := range pairs {
		if k, ok := key(p.Key); ok && k == name {
			return p.Value
		}
	}
	return nil
}

// word returns the text of a member, or "".
func word(e hcl.Expression, name string) string {
	if m := member(e, name); m != nil {
		text, _ := key(m)
		return text
	}
	return ""
}

// elements returns the elements of a list.
func elements(e hcl.Expression) []hcl.Expression {
	if e == nil {
		return nil
	}
	list, diags := hcl.ExprList(e)
	if diags.HasErrors() {
		return nil
	}
	return list
}

// module reads the resources of a module of the plan, and of those it calls.
func (p *plan) module(e hcl.Expression, depth int) {
	if e == nil || depth > maxCalls {
		return
	}
	for _, r := range elements(member(e, "resources")) {
		p.resource(r)
	}
	for _, child := range elements(member(e, "child_modules")) {
		p.module(child, depth+1)
	}
}

// resource reads one resource. It is called by its whole address.
func (p *plan) resource(e hcl.Expression) {
	kind, address := word(e, "type"), word(e, "address")
	if kind == "" || address == "" || len(p.source.blocks) >= maxResources {
		return
	}
	b := &block{kind: "resource", labels: []string{kind, address}, source: p.source,
		header: member(e, "address").Range()}
	if word(e, "mode") == "data" {
		b.kind = "data"
	}
	// All tags are those of the resource and those that the provider adds.
	allTags := strings.HasPrefix(kind, "aws_") && hasMembers(member(member(e, "values"), "tags_all"))
	seen := map[string]bool{}
	if values := member(e, "values"); values != nil {
		pairs, _ := hcl.ExprMap(values)
		for _, pair := range pairs {
			name, ok := key(pair.Key)
			if !ok {
				continue
			}
			later := p.unknown[address][name]
			if allTags && name == "tags" {
				continue
			} else if allTags && name == "tags_all" {
				name = "tags"
			}
			seen[name] = true
			b.attributes = append(b.attributes, attribute{name: name, where: pair.Key.Range(),
				whole: hcl.RangeBetween(pair.Key.Range(), pair.Value.Range()), expr: final(pair.Value, later)})
		}
	}
	for name, u := range p.unknown[address] {
		if !seen[name] && anyUnknown(u) {
			b.attributes = append(b.attributes, attribute{name: name, where: b.header, whole: b.header,
				expr: &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: b.header}})
		}
	}
	sortAttributes(b.attributes)
	p.source.blocks = append(p.source.blocks, b)
}

// hasMembers reports whether a value is an object that is not empty.
func hasMembers(e hcl.Expression) bool {
	if e == nil {
		return false
	}
	pairs, diags := hcl.ExprMap(e)
	return !diags.HasErrors() && len(pairs) > 0
}

// final turns a value of a plan. The other tree says with true what in it is not
// known yet.
func final(e hcl.Expression, unknown any) hclsyntax.Expression {
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
			if name, ok := key(p.Key); ok {
				seen[name] = true
				add(name, p.Key.Range(), final(p.Value, fields[name]))
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
			out.Exprs = append(out.Exprs, final(item, u))
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

// planned reports whether the name of a resource is an address of a plan.
func planned(b *block) bool {
	return strings.HasSuffix(b.source.name, ".json") && strings.Contains(b.labels[1], ".")
}
