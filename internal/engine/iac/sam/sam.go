// Package sam shows what CloudFormation makes of the resources of the Serverless
// Application Model: of a function also its role, its URL, the permissions of its events
// and the methods of APIs that they are; of an API its stage, domain, authorizers and
// usage plan; of a simple table, a state machine and a GraphQL API what these are.
//
// What is made stands beside what it is made of, at the places that say it. The
// specification: https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification.html,
// what comes of it: …/sam-specification-generated-resources.html.
//
// Not followed are policy templates, whose rights the authors of the model have cut to one
// purpose, connectors, which are made of such, and the documents of an API: where it has
// one of its own, the model's events are not what it asks of callers.
package sam

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// mark stands between the name of a resource and what is made of it under the same name:
// "Orders:Function" is the AWS::Lambda::Function of the AWS::Serverless::Function Orders.
const mark = ":"

// marked matches what converters write behind the names of resources.
var marked = lazyregexp.New(`([A-Za-z0-9]):(?:Function|RestApi|Api)\b`)

// Written returns a text with the names of resources as templates have them.
func Written(text string) string {
	if !strings.Contains(text, mark) {
		return text
	}
	return marked.ReplaceAllString(text, "$1")
}

const prefix = "AWS::Serverless::"

// Uses reports whether resources, those of a CloudFormation template by their names, hold
// one of the model.
func Uses(resources map[string]any) bool {
	for _, r := range resources {
		one, _ := r.(map[string]any)
		if kind, _ := one["Type"].(string); strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return false
}

// Expand returns the resources with what they become; the globals must have been put into
// them before. Nothing given is changed.
func Expand(resources map[string]any, n *document.Node) (map[string]any, *document.Node) {
	if !Uses(resources) || n == nil {
		return resources, n
	}
	at := *n
	at.Fields = maps.Clone(n.Fields)
	x := &expansion{out: maps.Clone(resources), at: at.Fields, apis: map[string]api{}}
	names := slices.Sorted(maps.Keys(resources))
	for _, pass := range []map[string]func(*expansion, origin){apis, others} {
		for _, name := range names {
			one, _ := resources[name].(map[string]any)
			kind, _ := one["Type"].(string)
			become := pass[strings.TrimPrefix(kind, prefix)]
			if become == nil || !strings.HasPrefix(kind, prefix) || n.Fields[name] == nil {
				continue
			}
			become(x, newOrigin(name, one, n.Fields[name]))
		}
	}
	return x.out, &at
}

// apis are looked at first: events belong to them.
var (
	apis = map[string]func(*expansion, origin){"Api": (*expansion).expandRestAPI,
		"HttpApi": (*expansion).expandHTTPAPI}
	others = map[string]func(*expansion, origin){
		"Function": (*expansion).expandFunction, "SimpleTable": (*expansion).expandTable,
		"StateMachine": (*expansion).expandStateMachine, "GraphQLApi": (*expansion).expandGraphQL,
	}
)

// An expansion collects what resources become.
type expansion struct {
	out  map[string]any
	at   map[string]*document.Node
	apis map[string]api
}

// addResource makes a resource, unless the template has one of the name. It is false then.
func (x *expansion) addResource(name, kind string, from origin, p *properties) bool {
	if _, taken := x.out[name]; taken {
		return false
	}
	x.putResource(name, kind, from, p)
	return true
}

// putResource makes a resource, also in the place of another.
func (x *expansion) putResource(name, kind string, from origin, p *properties) {
	one := map[string]any{"Type": kind, "Properties": p.values}
	node := &document.Node{Line: from.node.Line, Column: from.node.Column, Path: from.node.Path, Made: true,
		Fields: map[string]*document.Node{
			"Type": p.newNode(), "Properties": p.node,
		}}
	if at := from.node.Fields["Type"]; at != nil {
		node.Fields["Type"] = at
	}
	if at := from.node.Fields["Condition"]; at != nil {
		one["Condition"], node.Fields["Condition"] = from.whole["Condition"], at
	}
	x.out[name], x.at[name] = one, node
}

// An origin is a resource of the model, or a part of one.
type origin struct {
	name   string
	whole  map[string]any
	node   *document.Node // of the resource
	values map[string]any // its properties; nil where the deployment computes them
	place  *document.Node // of the properties
}

// newOrigin returns a resource of the model with its properties, as far as they are
// written.
func newOrigin(name string, whole map[string]any, node *document.Node) origin {
	o := origin{name: name, whole: whole, node: node, place: node}
	if at := node.Fields["Properties"]; at != nil {
		o.place = at
		if at.Tag == "" {
			o.values, _ = whole["Properties"].(map[string]any)
		}
	}
	return o
}

// property returns a property with its position; the position is nil where there is none.
func (o origin) property(path ...string) (any, *document.Node) {
	var v any = o.values
	at := o.place
	for _, key := range path {
		m, ok := v.(map[string]any)
		if at == nil || at.Tag != "" || !ok {
			return nil, nil
		}
		v, at = m[key], at.Fields[key]
	}
	if at == nil {
		return nil, nil
	}
	return v, at
}

// textProperty returns a property that is a plain text.
func (o origin) textProperty(path ...string) string {
	v, at := o.property(path...)
	s, ok := v.(string)
	if !ok || at.Tag != "" || at.Unknown {
		return ""
	}
	return s
}

// hasProperty reports whether there is such a property.
func (o origin) hasProperty(path ...string) bool {
	_, at := o.property(path...)
	return at != nil
}

// properties are those of a resource that is made.
type properties struct {
	values map[string]any
	node   *document.Node
}

// newProperties returns the properties of a resource at the position of the origin's.
func (o origin) newProperties() *properties {
	return &properties{map[string]any{}, &document.Node{
		Line: o.place.Line, Column: o.place.Column, Path: o.place.Path, Made: true, Fields: map[string]*document.Node{},
	}}
}

// setProperty sets a property; without a position of its own it is where all are.
func (p *properties) setProperty(key string, v any, at *document.Node) {
	if at == nil {
		at = p.newNode()
	}
	p.values[key], p.node.Fields[key] = v, at
}

// newNode is a position without a value.
func (p *properties) newNode() *document.Node {
	return &document.Node{Line: p.node.Line, Column: p.node.Column, Path: p.node.Path}
}

// setRef sets a property to "!Ref name".
func (p *properties) setRef(key, name string) { p.setTagged(key, "!Ref", name) }

// setTagged sets a property to a text with a tag.
func (p *properties) setTagged(key, tag, text string) {
	at := p.newNode()
	at.Tag = tag
	p.setProperty(key, text, at)
}

// copySame copies properties of the same names.
func (p *properties) copySame(o origin, keys ...string) {
	for _, key := range keys {
		p.copyAs(o, key, key)
	}
}

// copyAs copies a property under another name.
func (p *properties) copyAs(o origin, to string, from ...string) {
	if v, at := o.property(from...); at != nil {
		p.setProperty(to, v, at)
	}
}

// copyTags copies a map of tags as a list.
func (p *properties) copyTags(o origin) {
	v, at := o.property("Tags")
	m, ok := v.(map[string]any)
	if at == nil || !ok || at.Tag != "" {
		p.copyAs(o, "Tags", "Tags")
		return
	}
	list, place := []any{}, *at
	place.Fields = nil
	for _, key := range slices.Sorted(maps.Keys(m)) {
		one := at.Fields[key]
		if one == nil {
			continue
		}
		list = append(list, map[string]any{"Key": key, "Value": m[key]})
		place.Items = append(place.Items, &document.Node{Line: one.Line, Column: one.Column, Path: one.Path,
			Fields: map[string]*document.Node{"Key": one, "Value": one}})
	}
	p.setProperty("Tags", list, &place)
}

// setWithin makes a property a field of another: {outer: {key: value}}.
func (p *properties) setWithin(outer, key string, v any, at *document.Node) {
	p.setProperty(outer, map[string]any{key: v}, &document.Node{Line: at.Line, Column: at.Column, Path: at.Path,
		Fields: map[string]*document.Node{key: at}})
}
