package template

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/sam"
)

// This file evaluates CloudFormation's templates: parameters with their defaults,
// mappings, conditions and the functions whose arguments are known. What is not known
// is left as it is written, which is the form that rules expect of it; a choice whose
// condition is not known is marked so.
//
// The functions: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html.

// maxCopies bounds the copies that one loop makes.
// Loops nest: two levels make 10,000 resources, which maxMade then bounds.
const maxCopies = 100

// A stack is a template under evaluation.
type stack struct {
	file   string
	source Source
	tree   document.Tree
	given  map[string]any // by whoever deploys it

	open map[string]bool // conditions that are being asked
	// conditions that were evaluated, by name
	asked map[string]verdict
	loop  map[string]string // what the names of loops stand for
	made  int               // values
	// of functions and values inside of each other
	depth int
	// files of AWS::Include so far
	included int
	deploys  []document.Deployment
	// files that were included
	parts []string
	gaps  []document.Gap
}

// A verdict is what is known of a condition.
type verdict int

const (
	// the zero value, so that a condition that is being evaluated (a circle) is unsure
	unsure verdict = iota
	yes
	no
)

// verdictOf returns the verdict of a condition that is known.
func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// evaluateStack returns the tree with its resources evaluated, and the templates of the
// tree that it deploys.
func evaluateStack(tree document.Tree, file string, given map[string]any, source Source) Result {
	s := &stack{file: file, source: source, tree: tree, given: given, open: map[string]bool{},
		asked: map[string]verdict{}, loop: map[string]string{}}
	s.applyTransforms()
	tree = s.tree
	root, top := maps.Clone(tree.Root), *tree.Lines
	top.Fields = maps.Clone(tree.Lines.Fields)
	for _, part := range []string{"Resources", "Outputs"} {
		fields, ok := tree.Root[part].(map[string]any)
		if n := fieldNode(tree.Lines, part); ok && n != nil {
			// Globals come before the evaluation and Expand after it: globals may contain
			// functions, and what the transform makes needs their results.
			if part == "Resources" {
				fields, n = sam.Globals(tree.Root["Globals"], fieldNode(tree.Lines, "Globals"), fields, n)
			}
			v, at, ok := s.evaluateValue(fields, n)
			if made, is := v.(map[string]any); is && part == "Resources" {
				v, at = sam.Expand(made, at)
			}
			if ok {
				root[part], top.Fields[part] = v, at
			}
		}
	}
	s.addNested(root["Resources"], top.Fields["Resources"])
	return Result{document.Tree{Root: root, Lines: &top}, s.deploys, s.parts, s.gaps}
}

// shortFunctions are the functions that YAML has as tags.
var shortFunctions = map[string]string{"!Ref": "Ref", "!Condition": "Condition"}

// functionOf returns the function that a value is, with its argument.
func functionOf(v any, n *document.Node) (name string, arg any, at *document.Node) {
	if n == nil {
		n = &document.Node{}
	}
	if n.Tag != "" {
		if name = shortFunctions[n.Tag]; name == "" {
			name = "Fn::" + strings.TrimPrefix(n.Tag, "!")
		}
		return name, v, n
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return "", nil, nil
	}
	for key, inner := range m {
		// A loop is no function: it stands beside other keys in its map.
		if key == "Ref" || strings.HasPrefix(key, "Fn::") && !strings.HasPrefix(key, "Fn::ForEach::") {
			return key, inner, fieldNode(n, key)
		}
	}
	return "", nil, nil
}

// evaluateValue returns the value with its positions; it is false for one that is left out
// (AWS::NoValue).
func (s *stack) evaluateValue(v any, n *document.Node) (any, *document.Node, bool) {
	if s.made++; s.made > maxMade || s.depth > document.MaxDepth || n == nil {
		return v, n, true
	}
	s.depth++
	defer func() { s.depth-- }()
	list, below := unwrapList(v, n)
	if name, arg, at := functionOf(list, below); name != "" {
		out, place, ok := s.evaluateCall(name, arg, at, list, below)
		if below != n && ok && place != nil && place.Tag != "" { // as it is written
			return map[string]any{document.Playbooks: out}, &document.Node{
				Line: n.Line, Column: n.Column, Path: n.Path, Unknown: place.Unknown,
				Fields: map[string]*document.Node{document.Playbooks: place},
			}, true
		}
		return out, place, ok
	}
	switch v := v.(type) {
	case map[string]any:
		return s.evaluateObject(v, n)
	case []any:
		out, at := make([]any, 0, len(v)), *n
		at.Items = make([]*document.Node, 0, len(v))
		for i, e := range v {
			if inner, place, ok := s.evaluateValue(e, itemNode(n, i)); ok {
				out, at.Items = append(out, inner), append(at.Items, place)
			}
		}
		return out, &at, true
	case string:
		return s.replaceLoopNames(v), n, true
	}
	return v, n, true
}

// evaluateObject evaluates the fields of a map. A loop stands for what it makes.
func (s *stack) evaluateObject(v map[string]any, n *document.Node) (any, *document.Node, bool) {
	out, at := make(map[string]any, len(v)), *n
	at.Fields = make(map[string]*document.Node, len(v))
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if strings.HasPrefix(key, "Fn::ForEach::") {
			s.expandLoop(v[key], fieldNode(n, key), out, at.Fields)
			continue
		}
		if key == "Fn::Transform" && s.includeFile(v[key], fieldNode(n, key), out, at.Fields) {
			continue
		}
		if inner, place, ok := s.evaluateValue(v[key], fieldNode(n, key)); ok {
			name := s.replaceLoopNames(key)
			out[name], at.Fields[name] = inner, place
		}
	}
	return out, &at, true
}

// replaceLoopNames puts in what the names of loops stand for: "${Name}" and "&{Name}".
func (s *stack) replaceLoopNames(text string) string {
	for name, value := range s.loop {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "${"+name+"}", value), "&{"+name+"}", value)
	}
	return text
}

// expandLoop adds what a loop makes: [name, values, {key: template}].
func (s *stack) expandLoop(v any, n *document.Node, out map[string]any, at map[string]*document.Node) {
	parts, _ := v.([]any)
	if len(parts) != 3 || n == nil || len(n.Items) != 3 {
		return
	}
	name, _ := parts[0].(string)
	body, _ := parts[2].(map[string]any)
	list, ok := s.computeWhole(parts[1], n.Items[1])
	values, isList := list.([]any)
	if !ok || !isList || name == "" || s.loop[name] != "" {
		values = []any{"${" + name + "}"} // once, under a name that says so
	}
	for _, value := range values[:min(len(values), maxCopies)] {
		text, ok := scalarText(value)
		if !ok {
			continue
		}
		s.loop[name] = text
		made, places, _ := s.evaluateObject(body, n.Items[2])
		maps.Copy(out, made.(map[string]any))
		maps.Copy(at, places.Fields)
		delete(s.loop, name)
	}
}

// firstTree returns the first tree, or an empty one.
func firstTree(trees []document.Tree) document.Tree {
	if len(trees) == 0 {
		return document.Tree{}
	}
	return trees[0]
}

// unwrapList returns a list in a list, which is in a map of its own in a document.
func unwrapList(v any, n *document.Node) (any, *document.Node) {
	if m, ok := v.(map[string]any); ok && len(m) == 1 && n != nil {
		if list, ok := m[document.Playbooks].([]any); ok && n.Fields[document.Playbooks] != nil {
			return list, n.Fields[document.Playbooks]
		}
	}
	return v, n
}

// evaluateCall returns what a function stands for, or the value as it is written with its
// arguments evaluated.
func (s *stack) evaluateCall(name string, arg any, at *document.Node, v any,
	n *document.Node) (any, *document.Node, bool) {
	if name == "Fn::If" {
		return s.chooseBranch(arg, at, v, n)
	}
	// The property is as if it were not written; rules about absent properties apply.
	if name == "Ref" && arg == "AWS::NoValue" {
		return nil, nil, false
	}
	if name == "Fn::Transform" {
		out, place := map[string]any{}, *n
		place.Tag, place.Fields = "", map[string]*document.Node{}
		if s.includeFile(arg, at, out, place.Fields) {
			return out, &place, true
		}
	}
	if with, ok := s.applyFunction(name, arg, at); ok {
		return with, asValue(with, n), true
	}
	if n.Tag != "" {
		plain := *n
		plain.Tag = ""
		inner, place, ok := s.evaluateValue(v, &plain)
		if ok && place != nil {
			tagged := *place
			tagged.Tag = n.Tag
			place = &tagged
		}
		return inner, place, ok
	}
	return s.evaluateObject(v.(map[string]any), n)
}

// asValue is the node of a value that stands for a function.
func asValue(v any, n *document.Node) *document.Node {
	out := &document.Node{Line: n.Line, Column: n.Column, Path: n.Path}
	switch v := v.(type) {
	case map[string]any:
		out.Fields = map[string]*document.Node{}
		for key, e := range v {
			out.Fields[key] = asValue(e, n)
		}
	case []any:
		for _, e := range v {
			out.Items = append(out.Items, asValue(e, n))
		}
	}
	return out
}

// chooseBranch returns the branch of [condition, then, else] that applies.
func (s *stack) chooseBranch(arg any, at *document.Node, v any, n *document.Node) (any, *document.Node, bool) {
	parts, _ := arg.([]any)
	if len(parts) != 3 || at == nil || len(at.Items) != 3 {
		return v, n, true
	}
	name, _ := parts[0].(string)
	which := 0
	switch s.evaluateCondition(name) {
	case yes:
		which = 1
	case no:
		which = 2
	default:
		out := *n
		out.Unknown = true
		return v, &out, true
	}
	branch, below := unwrapList(parts[which], at.Items[which])
	inner, place, ok := s.evaluateValue(branch, below)
	if ok && place != nil {
		// The position of the choice, where a developer would change it, not that of the branch.
		keyed := *place
		keyed.Line, keyed.Column = n.Line, n.Column
		place = &keyed
	}
	return inner, place, ok
}

// evaluateCondition says whether a condition of the template is true.
func (s *stack) evaluateCondition(name string) verdict {
	if known, ok := s.asked[name]; ok || s.open[name] {
		return known
	}
	conditions, _ := s.tree.Root["Conditions"].(map[string]any)
	v, ok := conditions[name]
	if !ok {
		return unsure
	}
	s.open[name] = true
	s.asked[name] = s.evaluateTest(v, fieldNode(fieldNode(s.tree.Lines, "Conditions"), name))
	delete(s.open, name)
	return s.asked[name]
}

// evaluateTest evaluates the expression of a condition.
func (s *stack) evaluateTest(v any, n *document.Node) verdict {
	if s.depth++; s.depth > document.MaxDepth {
		return unsure
	}
	defer func() { s.depth-- }()
	name, arg, at := functionOf(v, n)
	if m, ok := v.(map[string]any); ok && len(m) == 1 && m["Condition"] != nil {
		name, arg = "Condition", m["Condition"]
	}
	parts, _ := arg.([]any)
	switch name {
	case "Condition":
		other, _ := arg.(string)
		return s.evaluateCondition(other)
	case "Fn::Not":
		if len(parts) == 1 {
			return s.evaluateTest(parts[0], itemNode(at, 0)).negate()
		}
	case "Fn::And", "Fn::Or":
		return s.evaluateLogical(parts, at, verdictOf(name == "Fn::Or"))
	case "Fn::Equals":
		return s.evaluateEquals(parts, at)
	}
	return unsure
}

// negate is no for yes, and unsure for unsure.
func (v verdict) negate() verdict {
	switch v {
	case yes:
		return no
	case no:
		return yes
	}
	return unsure
}

// evaluateLogical is Fn::And and Fn::Or: one part of the deciding verdict decides the whole.
func (s *stack) evaluateLogical(parts []any, at *document.Node, decides verdict) verdict {
	out := decides.negate()
	for i, p := range parts {
		switch s.evaluateTest(p, itemNode(at, i)) {
		case decides:
			return decides
		case unsure:
			out = unsure
		}
	}
	return out
}

// evaluateEquals compares two scalars, of which both must be known.
func (s *stack) evaluateEquals(parts []any, at *document.Node) verdict {
	if len(parts) != 2 {
		return unsure
	}
	a, ok := s.computeWhole(parts[0], itemNode(at, 0))
	b, also := s.computeWhole(parts[1], itemNode(at, 1))
	left, text := scalarText(a)
	right, other := scalarText(b)
	if !ok || !also || !text || !other {
		return unsure
	}
	return verdictOf(left == right)
}

// scalarText returns the text of a scalar.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// computeWhole evaluates a value that must be known as a whole.
func (s *stack) computeWhole(v any, n *document.Node) (any, bool) {
	if s.depth++; s.depth > document.MaxDepth {
		return nil, false
	}
	defer func() { s.depth-- }()
	v, n = unwrapList(v, n)
	if name, arg, at := functionOf(v, n); name != "" {
		if name == "Fn::If" {
			chosen, place, ok := s.chooseBranch(arg, at, v, n)
			if n == nil || !ok || place == nil || place.Unknown || place.Tag != "" {
				return nil, false
			}
			return chosen, true
		}
		return s.applyFunction(name, arg, at)
	}
	switch v := v.(type) {
	case string:
		return s.replaceLoopNames(v), true
	case []any:
		return s.computeItems(v, n)
	case map[string]any:
		return s.computeFields(v, n)
	}
	return v, true
}

// computeItems computes all items of a list.
func (s *stack) computeItems(list []any, n *document.Node) (any, bool) {
	out := make([]any, len(list))
	for i, e := range list {
		one, ok := s.computeWhole(e, itemNode(n, i))
		if !ok {
			return nil, false
		}
		out[i] = one
	}
	return out, true
}

// computeFields computes all fields of a map.
func (s *stack) computeFields(m map[string]any, n *document.Node) (any, bool) {
	out := make(map[string]any, len(m))
	for key, e := range m {
		one, ok := s.computeWhole(e, fieldNode(n, key))
		if !ok {
			return nil, false
		}
		out[s.replaceLoopNames(key)] = one
	}
	return out, true
}

// asJSON is Fn::ToJsonString.
func asJSON(v any) (any, bool) {
	text, err := json.Marshal(v)
	return string(text), err == nil
}
