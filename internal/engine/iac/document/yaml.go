package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

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
	d := yamlDecoder{open: map[*yaml.Node]bool{}}
	reader := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		err := decodeNode(reader, &n)
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return trees, malformedYAML(err)
		}
		if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
			continue
		}
		value, lines, err := d.value(n.Content[0])
		if err != nil {
			return trees, err
		}
		if root, ok := value.(map[string]any); ok && len(root) > 0 {
			trees = append(trees, Tree{Root: root, Lines: lines})
		}
	}
}

// decodeNode reads the next document. The library reports some errors by panics
// that it does not catch.
func decodeNode(reader *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", p)
		}
	}()
	return reader.Decode(n)
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// malformedYAML turns an error of the library into one with its line.
func malformedYAML(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	m := &Malformed{Message: message}
	if at := yamlLine.FindStringSubmatch(message); at != nil {
		m.Line, _ = strconv.Atoi(at[1]) // digits; one too long for a line stays 0
		m.Message = message[len(at[0]):]
	}
	return m
}

type yamlDecoder struct {
	budget budget
	open   map[*yaml.Node]bool // anchors that are being followed
}

// value returns a value that has no key: the root, or an item of a list.
func (d *yamlDecoder) value(n *yaml.Node) (any, *Node, error) {
	v, lines, err := d.plain(n)
	if list, ok := v.([]any); ok {
		lines = &Node{Line: lines.Line, Column: lines.Column, Fields: map[string]*Node{Playbooks: lines}}
		return map[string]any{Playbooks: list}, lines, err
	}
	return v, lines, err
}

// plain returns a value and where it is.
func (d *yamlDecoder) plain(n *yaml.Node) (any, *Node, error) {
	if err := d.budget.enter(n.Line); err != nil {
		return nil, nil, err
	}
	defer d.budget.leave()
	lines := &Node{Line: n.Line, Column: n.Column, Tag: localTag(n.Tag)}
	switch n.Kind {
	case yaml.MappingNode:
		root, err := d.mapping(n, lines)
		return root, lines, err
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, at, err := d.value(item)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, v)
			lines.Items = append(lines.Items, at)
		}
		return list, lines, nil
	case yaml.AliasNode:
		return d.alias(n)
	}
	return scalar(n), lines, nil
}

// mapping reads the fields of a map; those of its own come before merged ones.
func (d *yamlDecoder) mapping(n *yaml.Node, lines *Node) (map[string]any, error) {
	root := make(map[string]any, len(n.Content)/2)
	lines.Fields = make(map[string]*Node, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode && key.Alias != nil {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			continue // a key that is a list or a map means nothing in infrastructure code
		}
		if key.Value == "<<" && key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		v, at, err := d.plain(value)
		if err != nil {
			return nil, err
		}
		// The node is shared with other places that an alias leads to; this place
		// has a key of its own.
		own := *at
		own.Line, own.Column = n.Content[i].Line, n.Content[i].Column
		root[key.Value], lines.Fields[key.Value] = v, &own
	}
	for _, m := range merged {
		if err := d.merge(m, root, lines); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// merge adds the fields of a merge key that the map does not have: those of one
// map, or of a list of maps of which the first counts.
func (d *yamlDecoder) merge(n *yaml.Node, root map[string]any, lines *Node) error {
	v, at, err := d.plain(n)
	if err != nil {
		return err
	}
	from, fields := []any{v}, []*Node{at}
	if list, ok := v.([]any); ok {
		from, fields = list, at.Items
	}
	for i, one := range from {
		values, ok := one.(map[string]any)
		if !ok {
			continue
		}
		for key, value := range values {
			if _, has := root[key]; !has {
				root[key], lines.Fields[key] = value, fields[i].Fields[key]
			}
		}
	}
	return nil
}

// alias follows an alias to the anchored value.
func (d *yamlDecoder) alias(n *yaml.Node) (any, *Node, error) {
	if n.Alias == nil || d.open[n.Alias] {
		return nil, nil, &Malformed{Line: n.Line, Message: fmt.Sprintf("the alias %q leads into itself", n.Value)}
	}
	d.open[n.Alias] = true
	defer delete(d.open, n.Alias)
	return d.plain(n.Alias)
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
