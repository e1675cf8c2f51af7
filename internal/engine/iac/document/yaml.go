package document

import (
	"errors"
	"strconv"
	"strings"

	"merlon/internal/document"
	"merlon/internal/errs"
)

// A Tree is one decoded text: its values and where they are.
type Tree struct {
	Root  map[string]any
	Lines *Node
}

// Playbooks is the key under which the query library looks for a list that has no
// key of its own: the plays of an Ansible playbook, a list inside a list.
const Playbooks = "playbooks"

// limits bound one file of YAML or JSON.
var limits = document.Limits{Size: MaxSize, Depth: MaxDepth, Values: MaxValues, Comments: true}

// DecodeYAML reads the documents of a YAML text, without those that are empty or a
// lone scalar. Values take the form that the query library expects: a list without
// a key is {"playbooks": list}, a number with a fraction and a date are strings, a
// local tag leaves its value ("!Ref x" is "x"). Aliases and merge keys are
// followed. When a document cannot be read, those before it are returned with the
// error: a *Malformed, or errs.TooLarge.
func DecodeYAML(text []byte) ([]Tree, error) {
	documents, err := document.ParseAll(text, limits)
	var trees []Tree
	for i, n := range documents {
		f := yamlForm
		f.leavesSchemas = isDefinition(n)
		value, lines := f.unkeyedValue(n)
		documents[i] = nil // it takes more memory than what is made of it
		if root, ok := value.(map[string]any); ok && len(root) > 0 {
			trees = append(trees, Tree{Root: root, Lines: lines})
		}
	}
	return trees, translateError(err)
}

// DecodeJSON reads a JSON text: an object, or a list of objects, each of which is
// then a tree. As the tools that read such files do, it takes comments ("//", "/*")
// and a comma after the last field. Errors are a *Malformed, or errs.TooLarge.
func DecodeJSON(text []byte) ([]Tree, error) {
	n, err := document.ParseJSON(text, limits)
	if err != nil {
		return nil, translateError(err)
	}
	value, lines := jsonForm.convertValue(n)
	switch v := value.(type) {
	case map[string]any:
		return []Tree{{Root: v, Lines: lines}}, nil
	case []any:
		var trees []Tree
		for i, one := range v {
			if root, ok := one.(map[string]any); ok {
				trees = append(trees, Tree{Root: root, Lines: lines.Items[i]})
			}
		}
		return trees, nil
	}
	return nil, nil
}

// translateError turns the error of a reader into one of this package.
func translateError(err error) error {
	var e *document.Error
	if errors.As(err, &e) && e.Exceeded {
		return errs.E(errs.TooLarge, "%s", e)
	}
	return err
}

// A form is what the query library expects of the values of a format.
type form struct {
	// wrapsLists says that a list without a key is a map with the key Playbooks.
	wrapsLists bool
	// placesAtField says that a map stands where its first field does, and not where
	// its bracket is: so results of JSON have the lines that they have of YAML.
	placesAtField bool
	// leavesSchemas says that schemas of custom resources are empty.
	leavesSchemas bool
	scalar        func(*document.Node) any
}

var (
	yamlForm = form{wrapsLists: true, scalar: yamlScalar}
	jsonForm = form{placesAtField: true, scalar: jsonScalar}
)

// unkeyedValue returns a value that has no key: the root, or an item of a list.
func (f form) unkeyedValue(n *document.Node) (any, *Node) {
	v, lines := f.convertValue(n)
	if list, ok := v.([]any); ok && f.wrapsLists {
		lines = &Node{Line: lines.Line, Column: lines.Column, Fields: map[string]*Node{Playbooks: lines}}
		return map[string]any{Playbooks: list}, lines
	}
	return v, lines
}

// convertValue returns a value and where it is.
func (f form) convertValue(n *document.Node) (any, *Node) {
	lines := &Node{Line: n.Line, Column: n.Column, Tag: localTag(n.Tag)}
	switch n.Kind {
	case document.Map:
		return f.convertFields(n, lines), lines
	case document.List:
		list := make([]any, 0, len(n.Items))
		for _, item := range n.Items {
			v, at := f.unkeyedValue(item)
			list = append(list, v)
			lines.Items = append(lines.Items, at)
		}
		return list, lines
	}
	return f.scalar(n), lines
}

// convertFields reads the fields of a map. Each is where its key is; of equal keys the
// last counts, as for the tools that deploy the files.
func (f form) convertFields(n *document.Node, lines *Node) map[string]any {
	root := make(map[string]any, len(n.Entries))
	lines.Fields = make(map[string]*Node, len(n.Entries))
	if f.placesAtField && len(n.Entries) > 0 {
		lines.Line, lines.Column = n.Entries[0].Line, n.Entries[0].Column
	}
	for _, e := range n.Entries {
		if f.leavesSchemas && e.Key == "openAPIV3Schema" {
			root[e.Key] = map[string]any{}
			lines.Fields[e.Key] = &Node{Line: e.Line, Column: e.Column}
			continue
		}
		v, at := f.convertValue(e.Value)
		at.Line, at.Column = e.Line, e.Column
		root[e.Key], lines.Fields[e.Key] = v, at
	}
	return root
}

// isDefinition reports whether the value defines custom resources for Kubernetes. Its schema has
// thousands of values, about which there is no rule, and names fields as all resources have them, so
// that it would trigger the rules for these.
func isDefinition(n *document.Node) bool {
	for _, e := range n.Entries {
		if e.Key == "kind" && e.Value.Kind == document.String {
			return e.Value.Value == "CustomResourceDefinition"
		}
	}
	return false
}

// yamlScalar returns the value of a scalar of YAML. Strings stand for what the query
// library takes as such.
func yamlScalar(n *document.Node) any {
	switch n.Kind {
	case document.Bool:
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case document.Int:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return v
		}
	case document.Null:
		return nil
	}
	return n.Value
}

// jsonScalar returns the value of a scalar of JSON: a number is an int64 where it is
// one, else a float64.
func jsonScalar(n *document.Node) any {
	switch n.Kind {
	case document.Bool:
		return n.Value == "true"
	case document.Null:
		return nil
	case document.Int, document.Float:
		if v, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			return v
		}
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return v
		}
	}
	return n.Value
}

// localTag returns a tag that is not one of YAML's own.
func localTag(tag string) string {
	if strings.HasPrefix(tag, "!!") || tag == "!" {
		return ""
	}
	return tag
}
