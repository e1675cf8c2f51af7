package terraform

import (
	"strings"

	"merlon/internal/finding"
)

// This file reads evaluated blocks: by paths, with attributes that hold objects
// and nested blocks read alike.

// Value returns the value of an attribute: nil when it is absent or null.
func (b *Block) Value(name string) any {
	if a := b.Attributes[name]; a != nil {
		return a.Value
	}
	return nil
}

// All returns the nested blocks of the type, and the objects that an attribute of
// that name holds.
func (b *Block) All(name string) []*Block {
	var out []*Block
	for _, inner := range b.Blocks {
		if inner.Type == name {
			out = append(out, inner)
		}
	}
	if a := b.Attributes[name]; a != nil && len(out) == 0 {
		out = a.asBlocks(a.Value, 0)
	}
	return out
}

// asBlocks returns the objects of a value as blocks, all at the attribute's position.
func (a *Attribute) asBlocks(v any, depth int) []*Block {
	switch v := v.(type) {
	case map[string]any:
		out := &Block{Type: a.Name, Place: a.Place, Attributes: map[string]*Attribute{}}
		for name, inner := range v {
			at := a.Place
			if where, ok := a.keyLocation(name); ok {
				at = where
			}
			out.Attributes[name] = &Attribute{Name: name, Value: inner, Place: at, Refs: a.Refs, Sensitive: a.Sensitive}
		}
		return []*Block{out}
	case []any:
		var out []*Block
		for _, e := range v {
			if depth < 2 {
				out = append(out, a.asBlocks(e, depth+1)...)
			}
		}
		return out
	case Unknown:
		return []*Block{{Type: a.Name, Place: a.Place, Attributes: map[string]*Attribute{}, Unsure: true}}
	}
	return nil
}

// keyLocation returns where the key of an object is written.
func (a *Attribute) keyLocation(name string) (finding.Location, bool) {
	if a.items == nil {
		a.items = map[string]finding.Location{}
		if a.expr != nil {
			a.expr.locateKeys(a.items)
		}
	}
	at, ok := a.items[name]
	return at, ok
}

// Has reports whether the block has the argument or nested block. sure is false
// when it may have it.
func (b *Block) Has(name string) (has, sure bool) {
	if a := b.Attributes[name]; a != nil {
		switch v := a.Value.(type) {
		case nil:
			return false, true
		case Unknown:
			return true, false
		case []any:
			return len(v) > 0, true
		}
		return true, true
	}
	for _, inner := range b.Blocks {
		if inner.Type == name {
			return true, !inner.Unsure
		}
	}
	return false, !b.Open[name]
}

// A Hit is what a path leads to: a value and where it stands.
type Hit struct {
	Value any // nil when it is absent
	Block *Block
	Attr  *Attribute // nil when it is absent
	Place finding.Location
	// Unsure is set when it may exist although it is absent, or may not exist.
	Unsure bool
}

// Lookup follows a path of names, "settings.ip_configuration.require_ssl". Where
// blocks repeat there is one hit for each. A block on the way that is absent
// gives one hit with no value.
func (b *Block) Lookup(path string) []Hit {
	name, rest, more := strings.Cut(path, ".")
	if !more {
		if a := b.Attributes[name]; a != nil {
			_, unknown := a.Value.(Unknown)
			return []Hit{{Value: a.Value, Block: b, Attr: a, Place: a.Place, Unsure: unknown || b.Unsure}}
		}
		for _, inner := range b.Blocks {
			if inner.Type == name {
				return []Hit{{Value: inner, Block: b, Place: inner.Place, Unsure: inner.Unsure || b.Unsure}}
			}
		}
		return []Hit{{Block: b, Place: b.Place, Unsure: b.Unsure || b.Open[name]}}
	}
	all := b.All(name)
	if len(all) == 0 {
		unsure := b.Unsure || b.Open[name]
		if a := b.Attributes[name]; a != nil && a.Value != nil {
			if _, empty := a.Value.([]any); !empty {
				unsure = true
			}
		}
		return []Hit{{Block: b, Place: b.Place, Unsure: unsure}}
	}
	var out []Hit
	for _, inner := range all {
		out = append(out, inner.Lookup(rest)...)
	}
	return out
}

// references returns the resources that the block and its nested blocks refer to.
func (b *Block) references() []*Resource {
	var out []*Resource
	seen := map[*Resource]bool{}
	b.Walk(func(a *Attribute) {
		for _, r := range a.Refs {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	})
	sortResources(out)
	return out
}

// Walk calls the function for each attribute of the block and its nested blocks.
func (b *Block) Walk(f func(*Attribute)) {
	for _, a := range b.Attributes {
		f(a)
	}
	for _, inner := range b.Blocks {
		inner.Walk(f)
	}
}

// Refs returns the resources that the body of the resource names.
func (r *Resource) Refs() []*Resource { return r.Body.references() }

// Steps returns the calls that lead to the module, outermost first, for a finding
// in it.
func (m *Module) Steps() []finding.Step {
	var out []finding.Step
	for i, c := range m.Calls {
		kind := finding.Intermediate
		if i == 0 {
			kind = finding.Source
		}
		out = append(out, finding.Step{Kind: kind, Message: "module " + c.Name + " is used here", Location: c.Place})
	}
	return out
}
