package terraform

import (
	"path"
	"slices"
	"strings"
)

// This file lays override files over the others of a module
// (https://developer.hashicorp.com/terraform/language/files/override).

// isOverride reports whether a file changes blocks that other files declare.
func isOverride(name string) bool {
	base := path.Base(name)
	for _, end := range []string{".tf", ".tf.json", ".tofu", ".tofu.json"} {
		if stem, ok := strings.CutSuffix(base, end); ok {
			return stem == "override" || strings.HasSuffix(stem, "_override")
		}
	}
	return false
}

// dropShadowed drops the files that others of OpenTofu replace: x.tofu replaces x.tf.
func (d *folder) dropShadowed() {
	has := map[string]bool{}
	for _, f := range d.files {
		has[f.name] = true
	}
	d.files = slices.DeleteFunc(d.files, func(f *source) bool {
		stem, native := strings.CutSuffix(f.name, ".tf")
		if native && has[stem+".tofu"] {
			return true
		}
		stem, json := strings.CutSuffix(f.name, ".tf.json")
		return json && has[stem+".tofu.json"]
	})
}

// mergeOverrides merges the override files of the folder, in the order of their names,
// into the blocks that they change. A block that changes none is declared by its file.
func (d *folder) mergeOverrides() {
	var plain, over []*source
	for _, f := range d.files {
		if isOverride(f.name) {
			over = append(over, f)
		} else {
			plain = append(plain, f)
		}
	}
	if len(plain) == 0 {
		return
	}
	for _, f := range over {
		f.blocks = slices.DeleteFunc(f.blocks, func(b *block) bool { return d.mergeBlock(plain, b) })
	}
}

// mergeBlock lays a block over the one that it changes, if there is one.
func (d *folder) mergeBlock(plain []*source, over *block) bool {
	if over.kind == "locals" {
		return d.mergeLocals(plain, over)
	}
	for _, f := range plain {
		for _, b := range f.blocks {
			if b.kind == over.kind && slices.Equal(b.labels, over.labels) && alias(b) == alias(over) {
				b.overrideWith(over)
				return true
			}
		}
	}
	return false
}

// alias tells providers of one name apart.
func alias(b *block) string {
	a := b.attributeOf("alias")
	if b.kind != "provider" || a == nil {
		return ""
	}
	name, _ := literalKey(a.expr)
	return name
}

// overrideWith replaces the arguments that the other block has, and of nested blocks all
// of each type.
func (b *block) overrideWith(over *block) {
	for _, a := range over.attributes {
		a.file = a.fileIn(over)
		b.attributes = slices.DeleteFunc(b.attributes, func(old attribute) bool {
			return old.name == a.name || old.name == "count" && a.name == "for_each" || old.name == "for_each" &&
				a.name == "count"
		})
		b.attributes = append(b.attributes, a)
	}
	replaced := map[string]bool{}
	for _, inner := range over.blocks {
		replaced[inner.producedType()] = b.kind != "terraform" && inner.kind != "lifecycle"
	}
	b.blocks = slices.DeleteFunc(b.blocks, func(inner *block) bool { return replaced[inner.producedType()] })
	b.blocks = append(b.blocks, over.blocks...)
}

// producedType is the type of the block that a nested block is, or that a dynamic block
// generates.
func (b *block) producedType() string {
	if b.kind == "dynamic" && len(b.labels) > 0 {
		return b.labels[0]
	}
	return b.kind
}

// mergeLocals replaces single values; it is false when some are declared anew.
func (d *folder) mergeLocals(plain []*source, over *block) bool {
	over.attributes = slices.DeleteFunc(over.attributes, func(a attribute) bool {
		for _, f := range plain {
			for _, b := range f.blocks {
				if old := b.attributeOf(a.name); b.kind == "locals" && old != nil {
					a.file = a.fileIn(over)
					*old = a
					return true
				}
			}
		}
		return false
	})
	return len(over.attributes) == 0
}
