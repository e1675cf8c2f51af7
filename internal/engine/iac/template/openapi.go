package template

import (
	"io/fs"
	"maps"
	"path"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file follows references of an OpenAPI document into other files of the tree:
// "common.yaml#/components/schemas/Id".

// Limits of one document.
const (
	maxRefFiles = 50
	maxBrought  = 500_000 // values that references bring in
)

// resolveReferences returns the tree, whose own references are resolved, with those into
// other files. What they bring in is reported at the reference, so it has no positions;
// its own references are left as they are written. Nothing is fetched.
func resolveReferences(tree document.Tree, file string, source Source) document.Tree {
	b := referenceLoader{file: file, source: source, files: map[string]map[string]any{}, left: maxBrought}
	r := rewrite{replace: b.resolveReference}
	v, changed := r.rewriteValue(tree.Root, nil)
	if root, ok := v.(map[string]any); ok && changed {
		return document.Tree{Root: root, Lines: tree.Lines}
	}
	return tree
}

// referenceLoader loads what references into other files name.
type referenceLoader struct {
	file   string
	source Source
	files  map[string]map[string]any
	left   int
}

// resolveReference returns what stands for a reference that was not resolved.
func (b *referenceLoader) resolveReference(v any, _ *document.Node) (any, bool) {
	m, ok := v.(map[string]any)
	meta, _ := m[document.RefMetadata].(map[string]any)
	ref, _ := meta["$ref"].(string)
	name, pointer, _ := strings.Cut(ref, "#")
	if !ok || len(m) != 1 || name == "" || strings.Contains(name, "://") {
		return nil, false
	}
	target := b.loadFile(path.Join(path.Dir(b.file), name))
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if step != "" {
			target, _ = target[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)].(map[string]any)
		}
	}
	if len(target) == 0 {
		return nil, false
	}
	if b.left -= countValues(target, b.left); b.left <= 0 {
		return nil, false
	}
	out := maps.Clone(target)
	out[document.RefMetadata] = meta
	return out, true
}

// countValues counts values, up to a number.
func countValues(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if n += countValues(e, most-n); n >= most {
				break
			}
		}
	case []any:
		for _, e := range v {
			if n += countValues(e, most-n); n >= most {
				break
			}
		}
	}
	return n
}

// loadFile reads a file of the tree. What cannot be read is reported where the file itself
// is analyzed, if it is infrastructure code.
func (b *referenceLoader) loadFile(name string) map[string]any {
	if root, ok := b.files[name]; ok || len(b.files) >= maxRefFiles || !fs.ValidPath(name) {
		return root
	}
	b.files[name] = nil
	text, err := b.source(name)
	if err != nil {
		return nil
	}
	read := document.DecodeYAML
	if path.Ext(name) == ".json" {
		read = document.DecodeJSON
	}
	if trees, _ := read(text); len(trees) > 0 {
		b.files[name] = trees[0].Root
	}
	return b.files[name]
}
