// Package yaml lowers YAML: mappings to Maps, sequences to Lists, scalars by their
// type. A value with a tag of its own ("!Ref a") is a Call of the tag; the standard
// tags are left out. An alias is lowered as what it stands for, with the ranges of
// the place where that is written.
package yaml

import (
	"strings"

	"merlon/internal/engine/sast/cst"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/tree"
)

// Language is YAML, several documents to a file.
var Language = &lang.Language{
	Name:      "yaml",
	Spellings: []string{"yaml", "yml"},
	Grammar:   cst.YAML,
	Lower:     lowerFile,
	Patterns:  patterns,
	Semantics: lang.Semantics{Comment: "#"},
}

// A lowering knows the anchors that it has seen, and how much aliases may add.
type lowering struct {
	*lang.Lowering
	anchors map[string]int32 // to the node that has the anchor
	open    map[int32]bool   // nodes that are being lowered for an alias
	budget  int              // of nodes for aliases
}

// lowerFile lowers a file. What aliases add is bounded by the size of the file.
func lowerFile(l *lang.Lowering) {
	y := &lowering{Lowering: l, anchors: map[string]int32{}, open: map[int32]bool{}, budget: 4 * len(l.File.Source)}
	l.Begin(tree.FileKind, tree.RoleNone, 0)
	y.lowerDocuments(0)
	l.Close()
}

// lowerDocuments lowers the values of the documents.
func (y *lowering) lowerDocuments(i int32) {
	for c := range y.Children(i) {
		switch y.Kind(c) {
		case "document":
			y.lowerDocuments(c)
		case "yaml_directive", "tag_directive", "reserved_directive":
		default:
			y.lowerNode(tree.RoleStatement, c)
		}
	}
}

// lowerNode lowers a value, or whatever stands in its place.
func (y *lowering) lowerNode(r tree.Role, i int32) {
	if len(y.open) > 0 {
		y.budget--
	}
	if y.TooDeep() || y.budget < 0 {
		y.Lost(r, i)
		return
	}
	switch y.Kind(i) {
	case "block_node", "flow_node":
		y.lowerValue(r, i)
	case "block_mapping", "flow_mapping":
		y.Begin(tree.Map, r, i)
		for c := range y.Children(i) {
			y.lowerEntry(c)
		}
		y.Close()
	case "block_sequence", "flow_sequence":
		y.Begin(tree.List, r, i)
		for c := range y.Children(i) {
			y.lowerItem(c)
		}
		y.Close()
	case "block_mapping_pair", "flow_pair": // in what was not understood
		y.lowerPair(r, i)
	case "plain_scalar":
		y.lowerPlain(r, i)
	case "single_quote_scalar":
		y.Put(tree.String, r, singleQuoted(y.Source(i)), i)
	case "double_quote_scalar":
		y.Put(tree.String, r, doubleQuoted(y.Source(i)), i)
	case "block_scalar":
		y.lowerBlock(r, i)
	case "alias":
		y.lowerAlias(r, i)
	default:
		y.Fallback(r, i, y.lowerNode)
	}
}

// lowerValue lowers a value with its anchor and tag.
func (y *lowering) lowerValue(r tree.Role, i int32) {
	tag, content := int32(-1), int32(-1)
	for c := range y.Children(i) {
		switch y.Kind(c) {
		case "anchor":
			y.anchors[strings.TrimPrefix(y.Source(c), "&")] = i
		case "tag":
			tag = c
		default:
			content = c
		}
	}
	name := strings.TrimPrefix(y.Source(tag), "!")
	if tag < 0 || name == "" || name[0] == '!' {
		y.lowerContent(r, content, i)
		return
	}
	if !lang.Holder(name) {
		name = "!" + name
	}
	y.Begin(tree.Call, r, i)
	y.Put(tree.Name, tree.RoleCallee, name, tag)
	y.lowerContent(tree.RoleArgument, content, i)
	y.Close()
}

// lowerContent lowers what a value holds; nothing at all is an empty String at the end of
// the node, as the rules of the field have it.
func (y *lowering) lowerContent(r tree.Role, content, i int32) {
	if content >= 0 {
		y.lowerNode(r, content)
		return
	}
	_, end := y.Range(i)
	y.Flag(y.Leaf(tree.String, r, "", end, end), tree.Implied)
}

// lowerEntry lowers an entry of a mapping. In braces a value alone is a key; a sign of a
// pattern stays alone.
func (y *lowering) lowerEntry(i int32) {
	kind := y.Kind(i)
	switch {
	case kind == "block_mapping_pair" || kind == "flow_pair":
		y.lowerPair(tree.RoleElement, i)
	case kind == "flow_node" && !lang.Holder(y.Source(i)):
		y.Begin(tree.Pair, tree.RoleElement, i)
		y.lowerNode(tree.RoleKey, i)
		y.lowerContent(tree.RoleValue, -1, i)
		y.Close()
	default:
		y.lowerNode(tree.RoleElement, i)
	}
}

// lowerPair lowers a key and a value in braces.
func (y *lowering) lowerPair(r tree.Role, i int32) {
	if y.TooDeep() {
		y.Lost(r, i)
		return
	}
	y.Begin(tree.Pair, r, i)
	y.lowerContent(tree.RoleKey, y.Field(i, "key"), i)
	y.lowerContent(tree.RoleValue, y.Field(i, "value"), i)
	y.Close()
}

// lowerItem lowers an item of a sequence; in brackets a pair is a mapping of its own.
func (y *lowering) lowerItem(i int32) {
	switch y.Kind(i) {
	case "block_sequence_item":
		y.lowerContent(tree.RoleElement, y.First(i), i)
	case "flow_pair":
		y.Begin(tree.Map, tree.RoleElement, i)
		y.lowerPair(tree.RoleElement, i)
		y.Close()
	default:
		y.lowerNode(tree.RoleElement, i)
	}
}

// lowerAlias lowers what the alias stands for. One that is unknown, or that stands for
// something it is a part of, is a Name.
func (y *lowering) lowerAlias(r tree.Role, i int32) {
	target, known := y.anchors[strings.TrimPrefix(y.Source(i), "*")]
	if !known || y.open[target] || target < i && y.CST.Nodes[target].SubtreeEnd > i {
		y.Same(tree.Name, r, i)
		return
	}
	y.open[target] = true
	y.lowerNode(r, target)
	delete(y.open, target)
}

// truths are the words of YAML 1.1 that are true or false
// (https://yaml.org/type/bool.html): most programs that read configuration still take
// them so. As a key, "on" stays a word.
var truths = map[string]string{"on": "true", "yes": "true", "off": "false", "no": "false"}

// lowerPlain lowers a scalar without quotes by its type.
func (y *lowering) lowerPlain(r tree.Role, i int32) {
	source := y.Source(i)
	switch y.Kind(y.First(i)) {
	case "integer_scalar", "float_scalar":
		y.Put(tree.Number, r, strings.ReplaceAll(source, "_", ""), i)
	case "boolean_scalar":
		y.Put(tree.Bool, r, strings.ToLower(source), i)
	case "null_scalar":
		y.Put(tree.Null, r, "null", i)
	default:
		if truth := truths[strings.ToLower(source)]; truth != "" && r != tree.RoleKey {
			y.Put(tree.Bool, r, truth, i)
			return
		}
		if lang.Holder(source) {
			y.Put(tree.Name, r, source, i)
			return
		}
		y.Put(tree.String, r, foldLines(source), i)
	}
}

// lowerBlock lowers a block scalar.
func (y *lowering) lowerBlock(r tree.Role, i int32) {
	text := blockText(y.Source(i))
	if trimmed := strings.TrimSpace(text); lang.Holder(trimmed) {
		y.Put(tree.Name, r, trimmed, i)
		return
	}
	y.Put(tree.String, r, text, i)
}
