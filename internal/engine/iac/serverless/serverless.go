// Package serverless puts the variables of a service of the Serverless Framework in: those
// of the service itself, of files of the tree, of options with a default, of parameters and
// stages. What the environment, the cloud or a program decides is marked as unknown.
//
// The format: https://www.serverless.com/framework/docs/guides/variables and
// https://www.serverless.com/framework/docs/guides/parameters.
package serverless

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// Limits of one service.
const (
	maxValues = 100_000
	maxDepth  = 50 // variables in each other
	// each is read once; real services have a handful
	maxFiles = 200
	maxText  = 1 << 20 // bytes
)

// A Service is a service with its variables.
type Service struct {
	Root  map[string]any
	Lines *document.Node
	Parts []string       // the other files that it was put together of
	Gaps  []document.Gap // what was not followed

	// Resources is the template of CloudFormation that is deployed with the service, with
	// the role that its functions have; its Root is nil when there is none.
	Resources document.Tree
}

// Load evaluates the service of a file; source reads other files of the tree. Nothing given
// is changed.
func Load(file string, tree document.Tree, source func(string) ([]byte, error)) Service {
	e := &evaluation{file: file, source: source, self: tree, files: map[string]*document.Tree{},
		open: map[string]bool{}}
	s := Service{Root: tree.Root, Lines: tree.Lines}
	if v, n := e.evaluateValue(tree.Root, tree.Lines); n != nil {
		if root, ok := v.(map[string]any); ok {
			s.Root, s.Lines = joinLists(root, n)
		}
	}
	for name, t := range e.files {
		if t != nil {
			s.Parts = append(s.Parts, name)
		}
	}
	slices.Sort(s.Parts)
	if e.made > maxValues {
		e.addGap("too-complex", nil, "only the first %d values are computed", maxValues)
	}
	s.Gaps = e.gaps
	if resources, ok := s.Root["resources"].(map[string]any); ok && resources["Resources"] != nil &&
		s.Lines.Fields["resources"] != nil {
		s.Resources = document.Tree{Root: resources, Lines: s.Lines.Fields["resources"]}
	}
	s.Resources = withRole(s.Resources, s.Root, s.Lines)
	return s
}

// roleName is the name that the framework gives the role.
const roleName = "IamRoleLambdaExecution"

// withRole adds the role that functions have when none is named: with the statements of
// the service, wherever its version has them.
// See https://www.serverless.com/framework/docs/providers/aws/guide/iam.
func withRole(t document.Tree, root map[string]any, n *document.Node) document.Tree {
	properties, at := map[string]any{}, map[string]*document.Node{}
	var statements any
	var places *document.Node
	// iamRoleStatements is the older form; both are still in use.
	for _, way := range [][]string{{"provider", "iamRoleStatements"}, {"provider", "iam", "role", "statements"}} {
		if v, below := valueAt(root, n, way...); below != nil {
			if _, ok := v.([]any); ok {
				statements, places = v, below
			}
		}
	}
	for _, way := range [][]string{{"provider", "iamManagedPolicies"}, {"provider", "iam", "role", "managedPolicies"}} {
		if v, below := valueAt(root, n, way...); below != nil {
			properties["ManagedPolicyArns"], at["ManagedPolicyArns"] = v, below
		}
	}
	if statements == nil && len(properties) == 0 {
		return t
	}
	place := places
	if statements == nil {
		place = at["ManagedPolicyArns"]
	}
	here := func() *document.Node {
		return &document.Node{Line: place.Line, Column: place.Column, Path: place.Path, Made: true,
			Fields: map[string]*document.Node{}}
	}
	if statements != nil {
		inner, policy, list := here(), here(), here()
		inner.Fields["Statement"], policy.Fields["PolicyDocument"], list.Items = places, inner, []*document.Node{policy}
		properties["Policies"] = []any{map[string]any{"PolicyName": "service",
			"PolicyDocument": map[string]any{"Version": "2012-10-17", "Statement": statements}}}
		at["Policies"] = list
	}
	role, below := here(), here()
	below.Fields, role.Fields["Properties"], role.Fields["Type"] = at, below, here()
	if t.Root == nil {
		t = document.Tree{Root: map[string]any{}, Lines: &document.Node{Line: place.Line}}
	}
	resources, _ := t.Root["Resources"].(map[string]any)
	// The service defines the role itself.
	if _, taken := resources[roleName]; taken {
		return t
	}
	all, whole, lines := maps.Clone(resources), maps.Clone(t.Root), *t.Lines
	lines.Fields = maps.Clone(t.Lines.Fields)
	listed := document.Node{Line: place.Line}
	if before := lines.Fields["Resources"]; before != nil {
		listed = *before
	}
	listed.Fields = maps.Clone(listed.Fields)
	if all == nil || listed.Fields == nil {
		all, listed.Fields = map[string]any{}, map[string]*document.Node{}
	}
	if lines.Fields == nil {
		lines.Fields = map[string]*document.Node{}
	}
	all[roleName], listed.Fields[roleName] = map[string]any{"Type": "AWS::IAM::Role", "Properties": properties}, role
	whole["Resources"], lines.Fields["Resources"] = all, &listed
	return document.Tree{Root: whole, Lines: &lines}
}

// valueAt goes down keys.
func valueAt(root map[string]any, n *document.Node, way ...string) (any, *document.Node) {
	var v any = root
	for _, key := range way {
		m, ok := v.(map[string]any)
		if !ok || n == nil || n.Tag != "" {
			return nil, nil
		}
		v, n = m[key], n.Fields[key]
	}
	return v, n
}

// joinLists makes one map of the parts that functions and resources may be a list of.
func joinLists(root map[string]any, n *document.Node) (map[string]any, *document.Node) {
	out, at := maps.Clone(root), *n
	at.Fields = maps.Clone(n.Fields)
	for _, key := range []string{"functions", "resources"} {
		list, ok := root[key].([]any)
		if !ok || n.Fields[key] == nil || len(list) != len(n.Fields[key].Items) {
			continue
		}
		whole, place := map[string]any{}, *n.Fields[key]
		place.Fields, place.Items = map[string]*document.Node{}, nil
		for i, v := range list {
			mergeInto(whole, &place, v, n.Fields[key].Items[i], 0)
		}
		out[key], at.Fields[key] = whole, &place
	}
	return out, &at
}

// mergeInto puts the fields of a map into another, two levels deep: Resources of several
// parts.
func mergeInto(whole map[string]any, at *document.Node, v any, n *document.Node, depth int) {
	m, ok := v.(map[string]any)
	if !ok || n == nil {
		return
	}
	for key, e := range m {
		before, has := whole[key].(map[string]any)
		// Deeper levels are not joined: the later part replaces the earlier one.
		if !has || depth > 0 || n.Fields[key] == nil {
			whole[key], at.Fields[key] = e, n.Fields[key]
			continue
		}
		merged, place := maps.Clone(before), *at.Fields[key]
		place.Fields = maps.Clone(place.Fields)
		mergeInto(merged, &place, e, n.Fields[key], depth+1)
		whole[key], at.Fields[key] = merged, &place
	}
}

// An evaluation computes one service.
type evaluation struct {
	file   string
	source func(string) ([]byte, error)
	self   document.Tree
	files  map[string]*document.Tree // nil for one that cannot be read
	open   map[string]bool           // variables that are being asked
	// values computed so far, at most maxValues
	made  int
	depth int
	gaps  []document.Gap
}

// addGap records what is not followed.
func (e *evaluation) addGap(code string, n *document.Node, format string, args ...any) {
	g := document.Gap{Code: code, Path: e.file, Line: 1, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		g.Line = n.Line
		if n.Path != "" {
			g.Path = n.Path
		}
	}
	if !slices.Contains(e.gaps, g) {
		e.gaps = append(e.gaps, g)
	}
}

// evaluateValue returns a value with its positions and what is known put in.
func (e *evaluation) evaluateValue(v any, n *document.Node) (any, *document.Node) {
	if n == nil || e.depth > document.MaxDepth {
		return v, n
	}
	if e.made++; e.made > maxValues {
		return v, n
	}
	e.depth++
	defer func() { e.depth-- }()
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "${") {
			return v, n
		}
		r := e.evaluateText(v, n)
		switch r.is {
		case known:
			return r.value, nodeOf(r, n)
		default:
			own := *n
			own.Unknown = own.Tag == ""
			return v, &own
		}
	case map[string]any:
		out, at := make(map[string]any, len(v)), *n
		at.Fields = make(map[string]*document.Node, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key], at.Fields[key] = e.evaluateValue(v[key], n.Fields[key])
		}
		return out, &at
	case []any:
		out, at := make([]any, len(v)), *n
		at.Items = make([]*document.Node, len(v))
		for i, one := range v {
			var below *document.Node
			if i < len(n.Items) {
				below = n.Items[i]
			}
			out[i], at.Items[i] = e.evaluateValue(one, below)
		}
		return out, &at
	}
	return v, n
}

// nodeOf is the node of what stands for a variable: at the variable, with all below it
// where it is written.
func nodeOf(r result, n *document.Node) *document.Node {
	out := &document.Node{Line: n.Line, Column: n.Column, Path: n.Path, Tag: n.Tag}
	if r.node != nil {
		out.Fields, out.Items = r.node.Fields, r.node.Items
		if out.Tag == "" {
			out.Tag = r.node.Tag
		}
	}
	return out
}

// childOf returns a field or an item.
func childOf(v any, n *document.Node, key string) (any, *document.Node, bool) {
	if n == nil {
		return nil, nil, false
	}
	switch v := v.(type) {
	case map[string]any:
		below, ok := v[key]
		return below, n.Fields[key], ok && n.Fields[key] != nil
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(v) || i >= len(n.Items) {
			return nil, nil, false
		}
		return v[i], n.Items[i], n.Items[i] != nil
	}
	return nil, nil, false
}

// resolveAddress follows an address such as "custom.tables.0" from a value.
func (e *evaluation) resolveAddress(v any, n *document.Node, address string) result {
	if address != "" {
		for key := range strings.SplitSeq(address, ".") {
			if text, ok := v.(string); ok && strings.Contains(text, "${") {
				r := e.evaluateText(text, n)
				if r.is != known {
					return r
				}
				v, n = r.value, nodeOf(r, n)
			}
			var ok bool
			if v, n, ok = childOf(v, n, key); !ok {
				return result{is: undefined}
			}
		}
	}
	v, n = e.evaluateValue(v, n)
	if n != nil && n.Unknown {
		return result{is: unknown}
	}
	return result{v, n, known}
}

// readFile returns a file of the tree beside the service.
func (e *evaluation) readFile(name string) *document.Tree {
	full := path.Join(path.Dir(e.file), name)
	if t, ok := e.files[full]; ok {
		return t
	}
	e.files[full] = nil
	// Absolute paths are outside of the tree.
	if len(e.files) > maxFiles || path.IsAbs(name) {
		return nil
	}
	text, err := e.source(full)
	if err != nil {
		return nil
	}
	decode := document.DecodeYAML
	if path.Ext(name) == ".json" {
		decode = document.DecodeJSON
	}
	// What cannot be read is told where the file itself is looked at.
	if trees, err := decode(text); err == nil && len(trees) > 0 {
		e.files[full] = &document.Tree{Root: trees[0].Root, Lines: trees[0].Lines.In(full)}
	}
	return e.files[full]
}
