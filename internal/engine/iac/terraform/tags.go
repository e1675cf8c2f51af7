package terraform

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"merlon/internal/engine/iac/document"
)

// This file gives resources the tags that the configuration of their provider adds to
// all of its resources ("default_tags"). Rules ask for "tags"; that what others of the
// code read of a resource has its own alone is as the provider shows it. See
// https://registry.terraform.io/providers/hashicorp/aws/latest/docs#default_tags-configuration-block.

// untagged are the types that the provider does not add them to.
var untagged = map[string]bool{"aws_autoscaling_group": true}

// addTags adds the tags of the provider to the instances of a resource.
func (s *scope) addTags(n *node) {
	if kind := n.block.labels[0]; n.data || !strings.HasPrefix(kind, "aws_") || untagged[kind] || planned(n.block) {
		return
	}
	name, alias := "aws", ""
	if a := n.block.attribute("provider"); a != nil {
		name, alias = providerName(a.expr)
	}
	provider := s.provider(name, alias)
	if provider == nil {
		return
	}
	for _, b := range provider.Blocks {
		if a := b.Attributes["tags"]; b.Type == "default_tags" && a != nil && a.Value != nil {
			for _, r := range n.instances {
				r.Body.addTags(a)
			}
			return
		}
	}
}

// addTags lays the tags of the resource over those of the provider.
func (b *Block) addTags(defaults *Attribute) {
	own := b.Attributes["tags"]
	if own == nil || own.Value == nil {
		b.Attributes["tags"] = defaults
		return
	}
	theirs, ok := defaults.Value.(map[string]any)
	mine, known := own.Value.(map[string]any)
	if !ok || !known {
		return // what is there is not known, and not nothing
	}
	merged := *own
	all := maps.Clone(theirs)
	maps.Copy(all, mine)
	merged.Value, merged.under = all, defaults
	merged.Refs = slices.Concat(own.Refs, defaults.Refs)
	merged.Sensitive = own.Sensitive || defaults.Sensitive
	b.Attributes["tags"] = &merged
}

// over lays what an attribute shows over what the one below it shows.
func (a *Attribute) over(value any, node *document.Node) (any, *document.Node) {
	fields, ok := value.(map[string]any)
	below, places := a.under.document()
	theirs, both := below.(map[string]any)
	if !ok || !both {
		return value, node
	}
	out, own := maps.Clone(theirs), *node
	own.Fields = map[string]*document.Node{}
	for key := range theirs {
		own.Fields[key] = places.Fields[key]
		if own.Fields[key] == nil {
			own.Fields[key] = &document.Node{Line: places.Line, Column: places.Column, Path: places.Path}
		}
	}
	for key, v := range fields {
		if _, has := theirs[key]; !has || node.Fields[key] != nil {
			out[key] = v
			own.Fields[key] = node.Fields[key]
		}
	}
	return out, &own
}

// provider returns the configuration of a provider that the module uses under a name:
// its own, the one that its call hands down, or that of the caller. It is nil without
// one.
func (s *scope) provider(name, alias string) *Block {
	for _, f := range slices.Concat(s.folder.files, s.generated) {
		for _, b := range f.blocks {
			if b.kind == "provider" && len(b.labels) > 0 && b.labels[0] == name && aliasOf(b) == alias {
				return s.configuration(b)
			}
		}
	}
	if s.parent == nil {
		return nil
	}
	if s.use != nil {
		if a := s.use.attribute("providers"); a != nil {
			if o, ok := a.expr.(*hclsyntax.ObjectConsExpr); ok {
				for _, item := range o.Items {
					if n, as := providerName(item.KeyExpr); n == name && as == alias {
						return s.parent.provider(providerName(item.ValueExpr))
					}
				}
			}
		}
	}
	if alias != "" {
		return nil
	}
	return s.parent.provider(name, "")
}

// configuration evaluates the block of a provider, once.
func (s *scope) configuration(b *block) *Block {
	if s.providers[b] == nil {
		if s.providers == nil {
			s.providers = map[*block]*Block{}
		}
		s.providers[b] = s.plainBlock(b)
	}
	return s.providers[b]
}

func aliasOf(b *block) string {
	if a := b.attribute("alias"); a != nil {
		alias, _ := key(a.expr)
		return alias
	}
	return ""
}

// providerName reads the name of a configuration: aws, aws.west, or as a text.
func providerName(e hclsyntax.Expression) (name, alias string) {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		e = k.Wrapped
	}
	if t, diags := hcl.AbsTraversalForExpr(e); !diags.HasErrors() {
		if len(t) > 1 {
			if attr, ok := t[1].(hcl.TraverseAttr); ok {
				alias = attr.Name
			}
		}
		return t.RootName(), alias
	}
	text, _ := key(e)
	name, alias, _ = strings.Cut(text, ".")
	return name, alias
}
