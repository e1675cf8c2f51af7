// Package normalize shows the resources that templates declare, CloudFormation's and
// Azure's, in the form in which evaluated Terraform is: blocks of arguments that know
// their places. So one language of rules serves all of them.
//
// What a template computes when it is deployed is unknown, and rules are silent about
// it. A reference to a resource of the same template leads to that resource.
package normalize

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/sam"
	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
)

// maxDepth bounds templates in templates and resources in resources.
const maxDepth = 20

// Project returns the resources of the templates among the documents. Each template
// is a root module of its own; a resource has the type of its platform
// ("AWS::S3::Bucket", "microsoft.storage/storageaccounts" in lower case, because
// Azure does not tell cases apart) and, of CloudFormation, the properties as its body.
func Project(docs []*document.Document) *terraform.Project {
	p := &terraform.Project{}
	for _, d := range docs {
		t := &templateReading{doc: d, module: &terraform.Module{Dir: d.Path}, byName: map[string]*terraform.Resource{}}
		t.module.Root = t.module
		switch d.Platform {
		case document.CloudFormation:
			t.readStack()
		case document.ARM:
			t.readDeployment(d.Root, d.Lines, 0)
		}
		if len(t.module.Resources) > 0 {
			p.Modules = append(p.Modules, t.module)
		}
	}
	return p
}

// templateReading collects the resources of one template.
type templateReading struct {
	doc    *document.Document
	module *terraform.Module
	byName map[string]*terraform.Resource
}

// locationOf is where a node is written.
func (t *templateReading) locationOf(n *document.Node) finding.Location {
	l := finding.Location{Path: t.doc.File(n), StartLine: 1, EndLine: 1}
	if n != nil && n.Line > 0 {
		l.StartLine, l.EndLine, l.StartColumn = n.Line, n.Line, n.Column
	}
	return l
}

// addResource makes a resource; its body is read later, when all names are known.
func (t *templateReading) addResource(kind, name, address string) *terraform.Resource {
	r := &terraform.Resource{Address: address, Type: kind, Name: name, Module: t.module}
	t.module.Resources = append(t.module.Resources, r)
	return r
}

// readStack reads a CloudFormation template.
func (t *templateReading) readStack() {
	all, _ := t.doc.Root["Resources"].(map[string]any)
	lines, _ := t.doc.Lines.Find("Resources")
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		one, _ := all[name].(map[string]any)
		if kind, ok := one["Type"].(string); ok {
			t.byName[name] = t.addResource(kind, name, sam.Written(name)+" "+kind)
		}
	}
	for _, name := range names {
		r := t.byName[name]
		if r == nil {
			continue
		}
		one := all[name].(map[string]any)
		at := lines.Fields[name]
		properties, ok := one["Properties"].(map[string]any)
		if ok && at != nil && at.Fields["Properties"] != nil {
			at = at.Fields["Properties"]
		}
		r.Body = t.newBlock("Properties", properties, at)
		if one["Properties"] != nil && (!ok || isComputed(properties)) {
			r.Body.Unsure = true
		}
	}
}

// readDeployment reads the resources of an Azure template, and of those inside of it.
func (t *templateReading) readDeployment(root map[string]any, lines *document.Node, depth int) {
	t.readAzure(root["resources"], fieldNode(lines, "resources"), "", depth)
}

// readAzure reads a list of resources, or a map of them by their symbolic names. Those
// inside of another have types that begin with its type.
func (t *templateReading) readAzure(list any, lines *document.Node, parent string, depth int) {
	if depth > maxDepth {
		return
	}
	switch list := list.(type) {
	case []any:
		for i, one := range list {
			if m, ok := one.(map[string]any); ok {
				t.readAzureResource(m, itemNode(lines, i), parent, depth)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if m, ok := list[name].(map[string]any); ok {
				t.readAzureResource(m, fieldNode(lines, name), parent, depth)
			}
		}
	}
}

// readAzureResource reads a resource of an Azure template and those in it.
func (t *templateReading) readAzureResource(m map[string]any, at *document.Node, parent string, depth int) {
	kind, _ := m["type"].(string)
	if kind == "" || m["existing"] == true {
		return
	}
	if parent != "" && !strings.HasPrefix(strings.ToLower(kind), "microsoft.") {
		kind = parent + "/" + kind
	}
	name, _ := m["name"].(string)
	if identifier, ok := m["identifier"].(string); ok && (name == "" || strings.HasPrefix(name, "[")) {
		name = identifier
	}
	r := t.addResource(strings.ToLower(kind), name, strings.TrimSpace(kind+" "+name))
	own := maps.Clone(m)
	delete(own, "resources")
	r.Body = t.newBlock("resource", own, at)
	if full, ok := m["name"].(string); ok {
		if end := lastPart.FindStringSubmatch(full); end != nil {
			r.Body.Attributes["name"].Value = "${name}" + end[1]
		}
	}
	t.readAzure(m["resources"], fieldNode(at, "resources"), kind, depth+1)
	if strings.EqualFold(kind, "Microsoft.Resources/deployments") {
		properties, _ := m["properties"].(map[string]any)
		if inner, ok := properties["template"].(map[string]any); ok {
			t.readDeployment(inner, fieldNode(fieldNode(at, "properties"), "template"), depth+1)
		}
	}
}

// newBlock turns a map into a block: maps in it are blocks, lists of maps are blocks of
// one name, all else are arguments.
func (t *templateReading) newBlock(kind string, m map[string]any, at *document.Node) *terraform.Block {
	b := &terraform.Block{Type: kind, Place: t.locationOf(at), Attributes: map[string]*terraform.Attribute{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		t.addArgument(b, key, m[key], fieldNode(at, key))
	}
	return b
}

// addArgument adds an argument, or the blocks that it is, to a block.
func (t *templateReading) addArgument(b *terraform.Block, key string, v any, at *document.Node) {
	where := t.locationOf(at)
	if at == nil {
		where = b.Place
	}
	if at == nil || at.Tag == "" {
		switch v := v.(type) {
		case map[string]any:
			if !isComputed(v) {
				b.Blocks = append(b.Blocks, t.newBlock(key, v, at))
				return
			}
		case []any:
			if blocks, ok := t.listBlocks(key, v, at); ok {
				b.Blocks = append(b.Blocks, blocks...)
				return
			}
		}
	}
	value, refs := t.plainValue(v, at)
	if value == nil {
		return // null, and what stands for nothing
	}
	b.Attributes[key] = &terraform.Attribute{Name: key, Value: value, Place: where, Refs: refs}
}

// listBlocks turns a list of maps into blocks. One whose entries are partly computed is a
// value.
func (t *templateReading) listBlocks(key string, list []any, at *document.Node) ([]*terraform.Block, bool) {
	var out []*terraform.Block
	for i, e := range list {
		m, ok := e.(map[string]any)
		n := itemNode(at, i)
		if !ok || n != nil && n.Tag != "" || isComputed(m) {
			return nil, false
		}
		out = append(out, t.newBlock(key, m, n))
	}
	return out, len(out) > 0
}

// plainValue returns what is known of a value, and the resources that it names.
func (t *templateReading) plainValue(v any, at *document.Node) (any, []*terraform.Resource) {
	if at != nil && at.Tag != "" {
		return t.functionValue("Fn::"+strings.TrimPrefix(at.Tag, "!"), v)
	}
	if at != nil && at.Unknown {
		return terraform.Unknown{}, nil
	}
	switch v := v.(type) {
	case string:
		if t.doc.Platform == document.ARM && strings.HasPrefix(v, "[") && !strings.HasPrefix(v, "[[") {
			return terraform.Unknown{}, nil
		}
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case map[string]any:
		if name := functionName(v); name != "" {
			return t.functionValue(name, v[name])
		}
		return t.plainMap(v, at)
	case []any:
		return t.plainList(v, at)
	}
	return v, nil
}

// plainMap returns what is known of the fields of a map.
func (t *templateReading) plainMap(m map[string]any, at *document.Node) (any, []*terraform.Resource) {
	out := map[string]any{}
	var refs []*terraform.Resource
	for _, key := range slices.Sorted(maps.Keys(m)) {
		e, more := t.plainValue(m[key], fieldNode(at, key))
		out[key], refs = e, append(refs, more...)
	}
	return out, refs
}

// plainList returns what is known of the items of a list, without those that are left out
// (AWS::NoValue).
func (t *templateReading) plainList(list []any, at *document.Node) (any, []*terraform.Resource) {
	out := []any{}
	var refs []*terraform.Resource
	for i, e := range list {
		one, more := t.plainValue(e, itemNode(at, i))
		if one != nil {
			out, refs = append(out, one), append(refs, more...)
		}
	}
	return out, refs
}

// functionValue returns what an intrinsic function of CloudFormation gives, as far as it
// is known before the stack is made.
func (t *templateReading) functionValue(name string, argument any) (any, []*terraform.Resource) {
	target := ""
	switch strings.TrimPrefix(name, "Fn::") {
	case "Ref":
		target, _ = argument.(string)
		if target == "AWS::NoValue" {
			return nil, nil
		}
	case "GetAtt":
		switch a := argument.(type) {
		case string:
			target, _, _ = strings.Cut(a, ".")
		case []any:
			if len(a) > 0 {
				target, _ = a[0].(string)
			}
		}
	case "Sub":
		if text, ok := argument.(string); ok {
			return text, nil // with "${", which rules take for unknown
		}
	}
	if r := t.byName[target]; r != nil {
		return terraform.Unknown{}, []*terraform.Resource{r}
	}
	return terraform.Unknown{}, nil
}

// functionName returns the name of the function that the map is.
func functionName(m map[string]any) string {
	if len(m) == 1 {
		for key := range m {
			if key == "Ref" || strings.HasPrefix(key, "Fn::") {
				return key
			}
		}
	}
	return ""
}

// lastPart is the end of a name that is put together: [concat(parameters('site'), '/web')].
// Which part of its parent a resource is stands there.
var lastPart = regexp.MustCompile(`^\[\s*(?:concat|format)\(.*'[^']*?(/[A-Za-z0-9_.-]+)'\s*(?:,[^']*)?\)\s*\]$`)

// isComputed reports whether a map is made when the stack is.
func isComputed(m map[string]any) bool {
	if functionName(m) != "" {
		return true
	}
	for key := range m {
		if strings.HasPrefix(key, "Fn::") {
			return true
		}
	}
	return false
}

// fieldNode returns the node of a field, or nil.
func fieldNode(n *document.Node, key string) *document.Node {
	if n == nil {
		return nil
	}
	return n.Fields[key]
}

// itemNode returns the node of an item, or nil.
func itemNode(n *document.Node, i int) *document.Node {
	if n == nil || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}
