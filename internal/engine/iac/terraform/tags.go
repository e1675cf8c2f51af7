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

// untaggedTypes are the types that the provider does not add its tags to.
var untaggedTypes = map[string]bool{"aws_autoscaling_group": true}

// addDefaultTags adds the tags of the provider to the instances of a resource.
func (s *scope) addDefaultTags(n *node) {
	if kind := n.block.labels[0]; n.data || !strings.HasPrefix(kind, "aws_") || untaggedTypes[kind] ||
		isPlanned(n.block) {
		return
	}
	name, alias := "aws", ""
	if a := n.block.attributeOf("provider"); a != nil {
		name, alias = providerName(a.expr)
	}
	provider := s.providerConfig(name, alias)
	if provider == nil {
		return
	}
	for _, b := range provider.Blocks {
		if a := b.Attributes["tags"]; b.Type == "default_tags" && a != nil && a.Value != nil {
			for _, r := range n.instances {
				r.Body.mergeTags(a)
			}
			return
		}
	}
}

// mergeTags lays the tags of the resource over those of the provider.
func (b *Block) mergeTags(defaults *Attribute) {
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

// mergeDocuments lays what an attribute shows over what the one below it shows.
func (a *Attribute) mergeDocuments(value any, node *document.Node) (any, *document.Node) {
	fields, ok := value.(map[string]any)
	below, places := a.under.toDocument()
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

// passedProvider returns what the use of a module gives it as a provider, nil without.
func (s *scope) passedProvider(name, alias string) hclsyntax.Expression {
	if s.use == nil {
		return nil
	}
	a := s.use.attributeOf("providers")
	if a == nil {
		return nil
	}
	if o, ok := a.expr.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range o.Items {
			if n, as := providerName(item.KeyExpr); n == name && as == alias {
				return item.ValueExpr
			}
		}
	}
	return nil
}

// providerConfig returns the configuration of a provider that the module uses under a
// name: its own, the one that its call hands down, or that of the caller. It is nil
// without one.
func (s *scope) providerConfig(name, alias string) *Block {
	// Terragrunt often generates the provider, so generated files count as files of the module.
	for _, f := range slices.Concat(s.folder.files, s.generated) {
		for _, b := range f.blocks {
			if b.kind == "provider" && len(b.labels) > 0 && b.labels[0] == name && providerAlias(b) == alias {
				return s.evaluateProvider(b)
			}
		}
	}
	if s.parent == nil {
		return nil
	}
	// providers = { aws = aws.west }: the module's "aws" is the caller's "aws.west".
	if e := s.passedProvider(name, alias); e != nil {
		return s.parent.providerConfig(providerName(e))
	}
	// Only the default configuration is inherited; one with an alias must be passed.
	if alias != "" {
		return nil
	}
	return s.parent.providerConfig(name, "")
}

// evaluateProvider evaluates the block of a provider, at most once.
func (s *scope) evaluateProvider(b *block) *Block {
	if s.providers[b] == nil {
		if s.providers == nil {
			s.providers = map[*block]*Block{}
		}
		s.providers[b] = s.plainBlock(b)
	}
	return s.providers[b]
}

// providerAlias returns the alias of a provider's block, or "".
func providerAlias(b *block) string {
	if a := b.attributeOf("alias"); a != nil {
		alias, _ := literalKey(a.expr)
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
	text, _ := literalKey(e)
	name, alias, _ = strings.Cut(text, ".")
	return name, alias
}
