package template

import (
	"maps"
	"slices"

	"merlon/internal/engine/iac/document"
)

// This file finds the templates that a stack deploys.

// addNested records the stacks and applications whose template is a file of the tree.
func (s *stack) addNested(resources any, n *document.Node) {
	list, _ := resources.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		r, _ := list[name].(map[string]any)
		properties, _ := r["Properties"].(map[string]any)
		at := fieldNode(n, name)
		// The property with the address of the template differs by type.
		key := ""
		switch r["Type"] {
		case "AWS::CloudFormation::Stack":
			key = "TemplateURL"
		case "AWS::Serverless::Application":
			key = "Location"
		default:
			continue
		}
		place := fieldNode(fieldNode(at, "Properties"), key)
		where := s.fileLocation(properties[key], place)
		_, file, ok := s.readTemplate(where)
		// A template that deploys itself would not end; CloudFormation rejects it as well.
		if !ok || file == s.file {
			s.addGap(place, "the template of %s is not analyzed: %s is not part of the tree, and nothing is "+
				"fetched", name, firstNonEmpty(where, "its address is not known, or it"))
			continue
		}
		places := fieldNode(fieldNode(at, "Properties"), "Parameters")
		// Parameters that cannot be computed are unknown rather than absent: with an absent one the
		// nested template would fall back to its default, which does not apply.
		given := map[string]any{}
		params, _ := properties["Parameters"].(map[string]any)
		for key, v := range params {
			given[key] = document.Unknown{}
			if place := fieldNode(places, key); place != nil && !place.Unknown {
				if known, ok := s.computeWhole(v, place); ok {
					given[key] = known
				}
			}
		}
		// The nested template is evaluated again with these values, once for each stack.
		d := document.Deployment{Name: name, Path: file, Given: given}
		if at != nil {
			d.Line = at.Line
		}
		s.deploys = append(s.deploys, d)
	}
}
