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
	apis   = map[string]func(*expansion, origin){"Api": (*expansion).restAPI, "HttpApi": (*expansion).httpAPI}
	others = map[string]func(*expansion, origin){
		"Function": (*expansion).function, "SimpleTable": (*expansion).table,
		"StateMachine": (*expansion).stateMachine, "GraphQLApi": (*expansion).graphQL,
	}
)

// An expansion collects what resources become.
type expansion struct {
	out  map[string]any
	at   map[string]*document.Node
	apis map[string]api
}

// add makes a resource, unless the template has one of the name. It is false then.
func (x *expansion) add(name, kind string, from origin, p *properties) bool {
	if _, taken := x.out[name]; taken {
		return false
	}
	x.put(name, kind, from, p)
	return true
}

// put makes a resource, also in the place of another.
func (x *expansion) put(name, kind string, from origin, p *properties) {
	one := map[string]any{"Type": kind, "Properties": p.values}
	node := &document.Node{Line: from.node.Line, Column: from.node.Column, Path: from.node.Path, Made: true,
		Fields: map[string]*document.Node{
			"Type": p.here(), "Properties": p.node,
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

// field returns a property with its place; the place is nil where there is none.
func (o origin) field(path ...string) (any, *document.Node) {
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

// text returns a property that is a plain text.
func (o origin) text(path ...string) string {
	v, at := o.field(path...)
	s, ok := v.(string)
	if !ok || at.Tag != "" || at.Unknown {
		return ""
	}
	return s
}

// has reports whether there is such a property.
func (o origin) has(path ...string) bool {
	_, at := o.field(path...)
	return at != nil
}

// properties are those of a resource that is made.
type properties struct {
	values map[string]any
	node   *document.Node
}

// become begins the properties of a resource at the place of the origin's.
func (o origin) become() *properties {
	return &properties{map[string]any{}, &document.Node{
		Line: o.place.Line, Column: o.place.Column, Path: o.place.Path, Made: true, Fields: map[string]*document.Node{},
	}}
}

// set sets a property; without a place of its own it stands where all do.
func (p *properties) set(key string, v any, at *document.Node) {
	if at == nil {
		at = p.here()
	}
	p.values[key], p.node.Fields[key] = v, at
}

// here is a place without a value.
func (p *properties) here() *document.Node {
	return &document.Node{Line: p.node.Line, Column: p.node.Column, Path: p.node.Path}
}

// refer sets a property to "!Ref name".
func (p *properties) refer(key, name string) { p.tagged(key, "!Ref", name) }

func (p *properties) tagged(key, tag, text string) {
	at := p.here()
	at.Tag = tag
	p.set(key, text, at)
}

// take copies properties of the same names.
func (p *properties) take(o origin, keys ...string) {
	for _, key := range keys {
		p.rename(o, key, key)
	}
}

// rename copies a property under another name.
func (p *properties) rename(o origin, to string, from ...string) {
	if v, at := o.field(from...); at != nil {
		p.set(to, v, at)
	}
}

// tags copies a map of tags as a list.
func (p *properties) tags(o origin) {
	v, at := o.field("Tags")
	m, ok := v.(map[string]any)
	if at == nil || !ok || at.Tag != "" {
		p.rename(o, "Tags", "Tags")
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
	p.set("Tags", list, &place)
}

// within makes a property a field of another: {outer: {key: value}}.
func (p *properties) within(outer, key string, v any, at *document.Node) {
	p.set(outer, map[string]any{key: v}, &document.Node{Line: at.Line, Column: at.Column, Path: at.Path,
		Fields: map[string]*document.Node{key: at}})
}
