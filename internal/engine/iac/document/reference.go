package document

import "strings"

// RefMetadata is the field that a resolved reference has beside those of what it
// refers to: {"$ref": the reference, "alone": whether nothing stood beside it}.
const RefMetadata = "RefMetadata"

// maxReferences bounds the references that are followed in one document.
const maxReferences = 20_000

// Resolve returns the tree with its references ("$ref": "#/components/…") replaced by
// what they refer to in the same document, and with RefMetadata; one that leads
// nowhere, into itself or into another document is RefMetadata alone. What is put in
// place of a reference keeps its own references as they are written: following them
// all can be without end. The given tree is not changed.
func (t Tree) Resolve() Tree {
	r := resolver{tree: t}
	root, lines := r.resolveValue(t.Root, t.Lines)
	if m, ok := root.(map[string]any); ok {
		return Tree{Root: m, Lines: lines}
	}
	return t
}

// A resolver puts in what references of a document name.
type resolver struct {
	tree  Tree
	count int
}

// resolveValue returns a value with its references resolved.
func (r *resolver) resolveValue(v any, n *Node) (any, *Node) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && r.count < maxReferences {
			r.count++
			return r.resolveReference(ref, len(v) == 1, n)
		}
		out, at := make(map[string]any, len(v)), *n
		at.Fields = make(map[string]*Node, len(v))
		for key, below := range v {
			out[key], at.Fields[key] = r.resolveValue(below, n.Fields[key])
		}
		return out, &at
	case []any:
		out, at := make([]any, len(v)), *n
		at.Items = make([]*Node, len(v))
		for i, below := range v {
			out[i], at.Items[i] = r.resolveValue(below, n.Items[i])
		}
		return out, &at
	}
	return v, n
}

// resolveReference makes the map that stands for a reference.
func (r *resolver) resolveReference(ref string, alone bool, n *Node) (map[string]any, *Node) {
	out, at := map[string]any{}, *n
	at.Fields = map[string]*Node{}
	target, place, ok := r.findTarget(ref)
	if ok && !refersTo(target, ref, 0) {
		for key, below := range target {
			out[key], at.Fields[key] = below, place.Fields[key]
		}
	}
	out[RefMetadata] = map[string]any{"$ref": ref, "alone": alone}
	at.Fields[RefMetadata] = n.Fields["$ref"]
	return out, &at
}

// findTarget follows a reference within the document: a JSON pointer (RFC 6901).
func (r *resolver) findTarget(ref string) (map[string]any, *Node, bool) {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, nil, false
	}
	values, n := r.tree.Root, r.tree.Lines
	for step := range strings.SplitSeq(pointer, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		below, ok := values[step].(map[string]any)
		if !ok {
			return nil, nil, false
		}
		values, n = below, n.Fields[step]
	}
	return values, n, true
}

// refersTo reports whether a value holds the reference.
func refersTo(v any, ref string, depth int) bool {
	if depth > MaxDepth {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if v["$ref"] == ref {
			return true
		}
		for _, below := range v {
			if refersTo(below, ref, depth+1) {
				return true
			}
		}
	case []any:
		for _, below := range v {
			if refersTo(below, ref, depth+1) {
				return true
			}
		}
	}
	return false
}
