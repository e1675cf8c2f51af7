package template

import (
	"maps"
	"slices"

	"merlon/internal/engine/iac/document"
)

// This file puts the globals of serverless templates into their resources, and finds
// the templates that a stack deploys.
// See https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-template-anatomy-globals.html.

// globalOf names the section for a type of resource.
var globalOf = map[string]string{
	"AWS::Serverless::Function": "Function", "AWS::Serverless::Api": "Api", "AWS::Serverless::HttpApi": "HttpApi",
	"AWS::Serverless::SimpleTable": "SimpleTable", "AWS::Serverless::StateMachine": "StateMachine", "AWS::Serverless::LayerVersion": "LayerVersion",
}

// globals returns the resources with the properties that all of their type have.
func (s *stack) globals(resources map[string]any, n *document.Node) (map[string]any, *document.Node) {
	sections, _ := s.tree.Root["Globals"].(map[string]any)
	if len(sections) == 0 {
		return resources, n
	}
	out, at := maps.Clone(resources), *n
	at.Fields = maps.Clone(n.Fields)
	for name, r := range resources {
		one, _ := r.(map[string]any)
		kind, _ := one["Type"].(string)
		section, ok := sections[globalOf[kind]].(map[string]any)
		from := field(field(s.tree.Lines, "Globals"), globalOf[kind])
		place := field(n, name)
		if !ok || from == nil || place == nil {
			continue
		}
		own, has := one["Properties"].(map[string]any)
		mine := field(place, "Properties")
		if !has || mine == nil {
			own, mine = map[string]any{}, &document.Node{Line: place.Line, Column: place.Column, Fields: map[string]*document.Node{}}
		}
		merged, where := under(section, from, own, mine, 0)
		whole, node := maps.Clone(one), *place
		node.Fields = maps.Clone(place.Fields)
		whole["Properties"], node.Fields["Properties"] = merged, where
		out[name], at.Fields[name] = whole, &node
	}
	return out, &at
}

// under lays a value over the global one: maps are joined, lists put behind it.
func under(global any, from *document.Node, own any, at *document.Node, depth int) (any, *document.Node) {
	if at == nil || from == nil || at.Tag != "" || from.Tag != "" || depth > document.MaxDepth {
		return own, at
	}
	node := *at
	switch o := own.(type) {
	case map[string]any:
		g, ok := global.(map[string]any)
		if !ok {
			return own, at
		}
		out := maps.Clone(o)
		node.Fields = maps.Clone(at.Fields)
		if node.Fields == nil {
			node.Fields = map[string]*document.Node{}
		}
		for key, v := range g {
			if mine, has := o[key]; has {
				out[key], node.Fields[key] = under(v, from.Fields[key], mine, at.Fields[key], depth+1)
			} else {
				out[key], node.Fields[key] = v, from.Fields[key]
			}
		}
		return out, &node
	case []any:
		g, ok := global.([]any)
		if !ok || len(g) != len(from.Items) || len(o) != len(at.Items) {
			return own, at
		}
		node.Items = append(slices.Clone(from.Items), at.Items...)
		return append(slices.Clone(g), o...), &node
	}
	return own, at
}

// nested notes the stacks and applications whose template is a file of the tree.
func (s *stack) nested(resources any, n *document.Node) {
	list, _ := resources.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		r, _ := list[name].(map[string]any)
		properties, _ := r["Properties"].(map[string]any)
		where := ""
		switch r["Type"] {
		case "AWS::CloudFormation::Stack":
			where, _ = properties["TemplateURL"].(string)
		case "AWS::Serverless::Application":
			where, _ = properties["Location"].(string)
		}
		_, file, ok := s.read(where)
		if !ok || file == s.file {
			continue
		}
		at := field(n, name)
		places := field(field(at, "Properties"), "Parameters")
		given := map[string]any{}
		params, _ := properties["Parameters"].(map[string]any)
		for key, v := range params {
			given[key] = document.Unknown{}
			if place := field(places, key); place != nil && !place.Unknown {
				if known, ok := s.known(v, place); ok {
					given[key] = known
				}
			}
		}
		d := document.Deployment{Name: name, Path: file, Given: given}
		if at != nil {
			d.Line = at.Line
		}
		s.deploys = append(s.deploys, d)
	}
}
