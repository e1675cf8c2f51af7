package template

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file puts other files of the tree into a template of CloudFormation.
// See https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-aws-include.html.

// These bound the files that are put into a template: inside of each other, and all.
const (
	maxIncludes = 20
	maxIncluded = 200
)

// applyTransforms follows what is over the whole template: files that are put into it, and
// macros, whose result nobody knows.
func (s *stack) applyTransforms() {
	v, n := s.tree.Root["Transform"], fieldNode(s.tree.Lines, "Transform")
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for i, one := range list {
		at := n
		if isList {
			at = itemNode(n, i)
		}
		switch one := one.(type) {
		// A name alone: a macro, or one of AWS such as AWS::Serverless-2016-10-31.
		case string:
			s.reportMacro(one, at)
		case map[string]any:
			out, places := map[string]any{}, map[string]*document.Node{}
			if s.includeFile(one, at, out, places) {
				s.mergeSections(out, places)
			}
		}
	}
}

// reportMacro records a macro of the account.
func (s *stack) reportMacro(name string, n *document.Node) {
	if !strings.HasPrefix(name, "AWS::") {
		s.addGap(n, "what the macro %s makes of the template is not analyzed: it runs when the stack is made", name)
	}
}

// addGap records what is not followed.
func (s *stack) addGap(n *document.Node, format string, args ...any) {
	g := document.Gap{Code: "unavailable", Path: s.file, Line: 1, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		g.Line = n.Line
		if n.Path != "" {
			g.Path = n.Path
		}
	}
	if !slices.Contains(s.gaps, g) {
		s.gaps = append(s.gaps, g)
	}
}

// mergeSections lays the sections of an included file over those of the template.
func (s *stack) mergeSections(out map[string]any, places map[string]*document.Node) {
	root, top := maps.Clone(s.tree.Root), *s.tree.Lines
	top.Fields = maps.Clone(s.tree.Lines.Fields)
	for name, v := range out {
		section, ok := v.(map[string]any)
		before, has := root[name].(map[string]any)
		if !ok || !has || places[name] == nil || top.Fields[name] == nil {
			root[name], top.Fields[name] = v, places[name]
			continue
		}
		whole, at := maps.Clone(before), *top.Fields[name]
		at.Fields = maps.Clone(at.Fields)
		maps.Copy(whole, section)
		maps.Copy(at.Fields, places[name].Fields)
		root[name], top.Fields[name] = whole, &at
	}
	s.tree = document.Tree{Root: root, Lines: &top}
}

// includeFile adds the fields of a file of the tree: AWS::Include. It is false for what is
// not followed.
func (s *stack) includeFile(v any, n *document.Node, out map[string]any, at map[string]*document.Node) bool {
	m, _ := v.(map[string]any)
	if name, ok := m["Name"].(string); ok && name != "AWS::Include" {
		s.reportMacro(name, n)
		return false
	}
	parameters, _ := m["Parameters"].(map[string]any)
	where := s.fileLocation(parameters["Location"], fieldNode(fieldNode(n, "Parameters"), "Location"))
	if s.included++; s.included > maxIncluded {
		where = "" // a file that puts itself in
	}
	tree, name, ok := s.readTemplate(where)
	if !ok || s.depth > maxIncludes {
		s.addGap(n, "the included file %s is not analyzed: it is not part of the tree, and nothing is "+
			"fetched", firstNonEmpty(where, "(its address is not known)"))
		return false
	}
	if !slices.Contains(s.parts, name) {
		s.parts = append(s.parts, name)
	}
	made, places, _ := s.evaluateValue(tree.Root, tree.Lines.In(name))
	if fields, ok := made.(map[string]any); ok {
		maps.Copy(out, fields)
		maps.Copy(at, places.Fields)
	}
	return true
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// fileLocation returns the address of another file, as far as it is known: what is not is
// "${}".
func (s *stack) fileLocation(v any, n *document.Node) string {
	if known, ok := s.computeWhole(v, n); ok {
		text, _ := known.(string)
		return text
	}
	name, arg, at := functionOf(v, n)
	parts, _ := arg.([]any)
	switch name {
	case "Fn::Sub":
		if len(parts) > 0 {
			arg = parts[0]
		}
		text, _ := arg.(string)
		return text
	case "Fn::Join":
		if len(parts) != 2 {
			return ""
		}
		by, _ := parts[0].(string)
		inner, places := unwrapList(parts[1], itemNode(at, 1))
		list, _ := inner.([]any)
		var texts []string
		for i, one := range list {
			text, ok := one.(string)
			if below := itemNode(places, i); !ok || below != nil && below.Tag != "" {
				text = "${}"
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, by)
	}
	return ""
}

// readTemplate returns a template of the tree that a location names: a path beside the
// template, or an address that ends as the path of a file beside it or around it does.
func (s *stack) readTemplate(where string) (document.Tree, string, bool) {
	name, ok := findNearby(where, s.file, s.source)
	if !ok {
		return document.Tree{}, "", false
	}
	text, err := s.source(name)
	if err != nil {
		return document.Tree{}, "", false
	}
	read := document.DecodeYAML
	if trimmed := strings.TrimSpace(string(text)); strings.HasPrefix(trimmed, "{") {
		read = document.DecodeJSON
	}
	// What cannot be read is told where the file itself is looked at.
	trees, err := read(text)
	return firstTree(trees), name, err == nil && len(trees) > 0
}

// findNearby finds the file of the tree that an address names. Of one in the cloud the end
// counts: as many folders as there are, the name alone only beside the file that refers to
// it.
func findNearby(where, file string, source Source) (string, bool) {
	where, _, _ = strings.Cut(where, "?")
	// "s3://${Bucket}/stacks/vpc.yaml": what follows the last variable is known.
	if i := strings.LastIndex(where, "}"); i >= 0 && strings.Contains(where, "${") {
		where = "https://" + where[i+1:]
	}
	dir := path.Dir(file)
	_, rest, remote := strings.Cut(where, "://")
	if !remote {
		name := path.Join(dir, where)
		return name, where != "" && !path.IsAbs(where) && isPresent(source, name)
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return r == '/' })
	// Each part is tried in each folder above, so that their number is bounded.
	if len(parts) > 20 || !strings.Contains(path.Ext(rest), ".") {
		return "", false
	}
	for i := range parts {
		end := path.Join(parts[i:]...)
		for at := dir; ; at = path.Dir(at) {
			if name := path.Join(at, end); name != file && isPresent(source, name) {
				return name, true
			}
			// The name alone ("vpc.yaml") is only taken beside the template: elsewhere it may be
			// another.
			if at == "." || i == len(parts)-1 {
				break
			}
		}
	}
	return "", false
}
