package document

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/yamltext"

	"go.yaml.in/yaml/v3"
)

// A Tree is one decoded text: its values and where they are.
type Tree struct {
	Root  map[string]any
	Lines *Node
}

// Playbooks is the key under which the query library looks for a list that has no
// key of its own: the plays of an Ansible playbook, a list inside a list.
const Playbooks = "playbooks"

// DecodeYAML reads the documents of a YAML text, without those that are empty or a
// lone scalar. Values take the form that the query library expects: a list without
// a key is {"playbooks": list}, a number with a fraction and a date are strings, a
// local tag leaves its value ("!Ref x" is "x"). Aliases and merge keys are
// followed. When a document cannot be read, those before it are returned with the
// error: a *Malformed, or errs.TooLarge.
func DecodeYAML(text []byte) ([]Tree, error) {
	if err := fits(text); err != nil {
		return nil, err
	}
	var trees []Tree
	r := yamltext.NewReader(text)
	r.Depth, r.Values = MaxDepth, MaxValues
	for {
		n, err := r.Followed()
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return trees, refused(err)
		}
		value, lines := standing(n)
		if root, ok := value.(map[string]any); ok && len(root) > 0 {
			trees = append(trees, Tree{Root: root, Lines: lines})
		}
	}
}

// refused turns the error of a reader into one of this package.
func refused(err error) error {
	var e *yamltext.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Exceeded:
		return errs.E(errs.TooLarge, "%s", e)
	}
	return &Malformed{Line: e.Line, Message: e.Message}
}

// standing returns a value that has no key: the root, or an item of a list.
func standing(n *yaml.Node) (any, *Node) {
	v, lines := plain(n)
	if list, ok := v.([]any); ok {
		lines = &Node{Line: lines.Line, Column: lines.Column, Fields: map[string]*Node{Playbooks: lines}}
		return map[string]any{Playbooks: list}, lines
	}
	return v, lines
}

// plain returns a value and where it is.
func plain(n *yaml.Node) (any, *Node) {
	lines := &Node{Line: n.Line, Column: n.Column, Tag: localTag(n.Tag)}
	switch n.Kind {
	case yaml.MappingNode:
		return mapping(n, lines), lines
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, at := standing(item)
			list = append(list, v)
			lines.Items = append(lines.Items, at)
		}
		return list, lines
	}
	return scalar(n), lines
}

// mapping reads the fields of a map. Each stands where its key does.
func mapping(n *yaml.Node, lines *Node) map[string]any {
	root := make(map[string]any, len(n.Content)/2)
	lines.Fields = make(map[string]*Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue // a key that is a list or a map means nothing in infrastructure code
		}
		v, at := plain(n.Content[i+1])
		at.Line, at.Column = key.Line, key.Column
		root[key.Value], lines.Fields[key.Value] = v, at
	}
	return root
}

// scalar returns the value of a scalar. Strings stand for what the query library
// takes as such.
func scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case "!!int":
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return v
		}
	case "!!null":
		return nil
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
