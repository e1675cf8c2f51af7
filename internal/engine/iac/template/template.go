// Package template puts into a template what is known of it when it is written: the
// defaults of CloudFormation's parameters where they decide something, the variables
// of Azure's templates, and what references of OpenAPI documents bring in. Rules then
// see the value where it counts. Nothing given is changed.
package template

import (
	"maps"

	"merlon/internal/engine/iac/document"
)

// A Source reads another file of the tree.
type Source func(name string) ([]byte, error)

// A File is one document of a file of the tree.
type File struct {
	Platform document.Platform
	Path     string
	Tree     document.Tree
	Given    map[string]any // values of parameters, by whoever deploys it
	Source   Source
}

// A Result is what became of a file.
type Result struct {
	Tree    document.Tree // with what is known put in
	Deploys []document.Deployment
	Parts   []string       // the other files that were put into it
	Gaps    []document.Gap // what was not followed
}

// Evaluate puts into the tree of the file what is known of it.
func Evaluate(f File) Result {
	switch f.Platform {
	case document.CloudFormation:
		return evaluateStack(f.Tree, f.Path, f.Given, f.Source)
	case document.ARM:
		return evaluateDeployment(f.Tree, f.Path, f.Given, f.Source)
	case document.OpenAPI:
		return Result{Tree: resolveReferences(f.Tree.Resolve(), f.Path, f.Source)}
	}
	return Result{Tree: f.Tree}
}

// maxMade bounds the values that stand for others: one in another, they double.
const maxMade = 100_000

// A rewrite goes through values and replaces some.
type rewrite struct {
	// replace returns what stands for a value with its place, if anything does.
	replace func(v any, n *document.Node) (any, bool)
	made    int
}

// rewriteValue returns the value with replacements. Maps and lists without any are shared.
func (r *rewrite) rewriteValue(v any, n *document.Node) (any, bool) {
	if r.made < maxMade {
		if with, ok := r.replace(v, n); ok {
			r.made++
			return with, true
		}
	}
	switch v := v.(type) {
	case map[string]any:
		var out map[string]any
		for key, e := range v {
			below, changed := r.rewriteValue(e, fieldNode(n, key))
			if !changed {
				continue
			}
			if out == nil {
				out = maps.Clone(v)
			}
			out[key] = below
		}
		return orUnchanged(out, v)
	case []any:
		var out []any
		for i, e := range v {
			below, changed := r.rewriteValue(e, itemNode(n, i))
			if !changed {
				continue
			}
			if out == nil {
				out = append([]any(nil), v...)
			}
			out[i] = below
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

// orUnchanged returns the changed map, or the one that did not change.
func orUnchanged(out, same map[string]any) (any, bool) {
	if out != nil {
		return out, true
	}
	return same, false
}

// fieldNode returns the node of a field, or nil.
func fieldNode(n *document.Node, key string) *document.Node {
	if n == nil {
		return nil
	}
	return n.Fields[key]
}

// itemNode returns the node of an item, or nil.
func itemNode(n *document.Node, i int) *document.Node {
	if n == nil || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}
