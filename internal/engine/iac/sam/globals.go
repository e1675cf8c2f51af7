package sam

import (
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file puts what a template says of all resources of a type into each of them.
// See
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-template-anatomy-globals.html.

// sectionOf names the section of the globals for a type of resource.
var sectionOf = map[string]string{
	prefix + "Function": "Function", prefix + "Api": "Api", prefix + "HttpApi": "HttpApi",
	prefix + "SimpleTable": "SimpleTable", prefix + "StateMachine": "StateMachine", prefix +
		"LayerVersion": "LayerVersion",
}

// Globals returns the resources of a template with the APIs that their events imply, and
// with the globals: the properties that all resources of a type have. Nothing given is
// changed.
func Globals(globals any, from *document.Node, resources map[string]any,
	n *document.Node) (map[string]any, *document.Node) {
	// Globals only apply with the transform AWS::Serverless.
	if !Uses(resources) || n == nil {
		return resources, n
	}
	resources, n = addImplied(resources, n)
	sections, _ := globals.(map[string]any)
	if len(sections) == 0 || from == nil {
		return resources, n
	}
	out, at := maps.Clone(resources), *n
	at.Fields = maps.Clone(n.Fields)
	for name, r := range resources {
		one, _ := r.(map[string]any)
		kind, _ := one["Type"].(string)
		section, ok := sections[sectionOf[kind]].(map[string]any)
		common, place := from.Fields[sectionOf[kind]], n.Fields[name]
		if !ok || common == nil || place == nil {
			continue
		}
		own, has := one["Properties"].(map[string]any)
		mine := place.Fields["Properties"]
		// A function may consist of globals alone.
		if !has || mine == nil {
			own, mine = map[string]any{}, &document.Node{Line: place.Line, Column: place.Column,
				Fields: map[string]*document.Node{}}
		}
		merged, where := mergeGlobal(section, common, own, mine, 0)
		whole, node := maps.Clone(one), *place
		node.Fields = maps.Clone(place.Fields)
		whole["Properties"], node.Fields["Properties"] = merged, where
		out[name], at.Fields[name] = whole, &node
	}
	return out, &at
}

// mergeGlobalFields lays the fields of a map over the global ones.
func mergeGlobalFields(global map[string]any, from *document.Node, own map[string]any, at *document.Node,
	depth int) (any, *document.Node) {
	out, node := maps.Clone(own), *at
	node.Fields = maps.Clone(at.Fields)
	if node.Fields == nil {
		node.Fields = map[string]*document.Node{}
	}
	for key, v := range global {
		if mine, has := own[key]; has {
			out[key], node.Fields[key] = mergeGlobal(v, from.Fields[key], mine, at.Fields[key], depth+1)
		} else {
			out[key], node.Fields[key] = v, from.Fields[key]
		}
	}
	return out, &node
}

// mergeGlobal lays a value over the global one: maps are joined, lists put behind it.
func mergeGlobal(global any, from *document.Node, own any, at *document.Node, depth int) (any, *document.Node) {
	// A function such as !Ref has no parts that could be merged: the value of the resource counts.
	if at == nil || from == nil || at.Tag != "" || from.Tag != "" || depth > document.MaxDepth {
		return own, at
	}
	node := *at
	switch o := own.(type) {
	case map[string]any:
		if g, ok := global.(map[string]any); ok {
			return mergeGlobalFields(g, from, o, at, depth)
		}
	case []any:
		g, ok := global.([]any)
		if !ok || len(g) != len(from.Items) || len(o) != len(at.Items) {
			return own, at
		}
		// Global items come first, then those of the resource (specification, "Lists are
		// additive").
		node.Items = append(slices.Clone(from.Items), at.Items...)
		return append(slices.Clone(g), o...), &node
	}
	return own, at
}

// Names of the APIs that events imply, as the model gives them.
const (
	impliedRest = "ServerlessRestApi"
	impliedHTTP = "ServerlessHttpApi"
)

// addImplied adds the APIs of events that name none, at the first such event.
func addImplied(resources map[string]any, n *document.Node) (map[string]any, *document.Node) {
	type wanted struct {
		kind, property, key string
		properties          map[string]any
	}
	all := map[string]wanted{
		// The implied REST API always has the stage "Prod".
		"Api":     {impliedRest, "RestApiId", prefix + "Api", map[string]any{"StageName": "Prod"}},
		"HttpApi": {impliedHTTP, "ApiId", prefix + "HttpApi", map[string]any{}},
	}
	var out map[string]any
	at := *n
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		one, _ := resources[name].(map[string]any)
		if one["Type"] != prefix+"Function" || n.Fields[name] == nil {
			continue
		}
		for _, e := range newOrigin(name, one, n.Fields[name]).listEvents() {
			w, ok := all[e.kind]
			if _, has := resources[w.kind]; !ok || has || e.hasProperty(w.property) {
				continue
			}
			if out == nil {
				out, at.Fields = maps.Clone(resources), maps.Clone(n.Fields)
			}
			if _, has := out[w.kind]; has {
				continue
			}
			// It is written nowhere: findings about it are reported at the event that implies it.
			place := &document.Node{Line: e.node.Line, Column: e.node.Column, Path: e.node.Path, Made: true}
			fields := map[string]*document.Node{}
			for key := range w.properties {
				fields[key] = place
			}
			below := *place
			below.Fields = fields
			whole := *place
			whole.Fields = map[string]*document.Node{"Type": place, "Properties": &below}
			out[w.kind], at.Fields[w.kind] = map[string]any{"Type": w.key, "Properties": w.properties}, &whole
		}
	}
	if out == nil {
		return resources, n
	}
	return out, &at
}

// alphanumeric leaves what may be in the name of a resource.
func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
}
