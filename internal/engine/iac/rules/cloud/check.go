package cloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
)

// This file asks the rules of a project.

// For reads the rules that may be about what the projects hold. An error is a fault of
// the build.
func For(projects ...*terraform.Project) (*Library, error) { return loadFor(listTypes(projects)) }

// Check returns where the project, one that the rules were read for, breaks them, in the
// order of the places. An error means that the context ended.
func (lib *Library) Check(ctx context.Context, p *terraform.Project) ([]Match, error) {
	r := &checkRun{lib: lib, graph: newGraph(p), seen: map[string]bool{}}
	for _, m := range p.Modules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, resource := range m.Resources {
			key := resource.Type
			if resource.Data {
				key = "data." + key
			}
			for _, c := range lib.checks[key] {
				r.checkSubject(c, &subject{resource: resource, module: m, body: resource.Body,
					address: resource.Address})
			}
		}
		for _, b := range m.Providers {
			if len(b.Labels) > 0 {
				for _, c := range lib.checks["provider."+b.Labels[0]] {
					r.checkSubject(c, &subject{module: m, body: b, address: "provider." + b.Labels[0]})
				}
			}
		}
	}
	for _, f := range functions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.find(r.graph, func(m Match) { m.Rule = f.rule; r.addMatch(m) })
	}
	slices.SortStableFunc(r.matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Place.Path, b.Place.Path), cmp.Compare(a.Place.StartLine, b.Place.StartLine),
			cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Address, b.Address))
	})
	return r.matches, nil
}

// listTypes lists the types of what the projects hold, in lower case, each once. It is not
// nil.
func listTypes(projects []*terraform.Project) []string {
	var modules []*terraform.Module
	for _, p := range projects {
		modules = append(modules, p.Modules...)
	}
	out := []string{}
	for _, m := range modules {
		for _, resource := range m.Resources {
			out = append(out, strings.ToLower(resource.Type))
		}
		for _, b := range m.Providers {
			if len(b.Labels) > 0 {
				out = append(out, "provider."+strings.ToLower(b.Labels[0]))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkRun is one run of the rules.
type checkRun struct {
	lib   *Library
	graph *graph
	// in the order of the rules until Check sorts them
	matches []Match
	// rule, position and resource of each match
	seen map[string]bool
}

// subject is what a rule is asked of.
type subject struct {
	// nil for a provider
	resource *terraform.Resource
	module   *terraform.Module
	// its arguments and blocks
	body *terraform.Block
	// as it is shown: "module.a.aws_s3_bucket.logs[0]"
	address string
}

// addMatch keeps a match. Instances of one block that break a rule in the same place are
// one flaw.
func (r *checkRun) addMatch(m Match) {
	if m.Place.Path == "" && m.Resource != nil {
		m.Place = m.Resource.Body.Place
	}
	if m.Resource != nil {
		m.Address = m.Resource.Address
		m.Module = m.Resource.Module
	}
	// count and for_each make many instances of one block: the developer changes it once.
	key := fmt.Sprint(m.Rule.ID, m.Place.Path, m.Place.StartLine, m.Place.StartColumn)
	if m.Resource != nil {
		key += m.Resource.Type + "." + m.Resource.Name
	}
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.matches = append(r.matches, m)
}

// blocksOf returns the blocks that a rule looks at: the body, or those inside of it.
func (c *check) blocksOf(body *terraform.Block) []*terraform.Block {
	if c.each == nil {
		return []*terraform.Block{body}
	}
	var blocks []*terraform.Block
	for _, h := range followPath(body, c.each) {
		if b, ok := h.Value.(*terraform.Block); ok && !h.Unsure {
			blocks = append(blocks, b)
		}
	}
	// An attribute that holds objects leads to its value, not to a block.
	if len(blocks) == 0 && len(c.each) == 1 {
		blocks = body.All(c.each[0].name)
	}
	return blocks
}

// checkSubject checks one rule on one subject.
func (r *checkRun) checkSubject(c *check, s *subject) {
	for _, b := range c.blocksOf(s.body) {
		// A block that may not exist cannot break a rule.
		if b.Unsure || !allHold(c.when, s.body, b) {
			continue
		}
		broken, place, bad := firstBroken(c.must, s.body, b)
		if len(c.must) > 0 && !bad {
			continue
		}
		// The missing argument may be set by a resource of its own, as with
		// aws_s3_bucket_server_side_encryption_configuration.
		if len(c.with) > 0 && s.resource != nil && r.graph.isSatisfied(c.with, s.resource) != no {
			continue
		}
		if place.Path == "" {
			place = b.Place
		}
		r.addMatch(Match{Rule: c.rule, Resource: s.resource, Module: s.module, Address: s.address, Place: place,
			Message: matchMessage(c, s, broken), Arguments: c.arguments})
	}
}

// allHold reports whether every condition is true somewhere.
func allHold(list []*condition, root, b *terraform.Block) bool {
	for _, c := range list {
		at := b
		if c.root {
			at = root
		}
		got := no
		for _, h := range c.findValues(at) {
			got = max(got, c.isMet(h))
		}
		if got != yes {
			return false
		}
	}
	return true
}

// firstBroken returns the first condition that surely does not hold everywhere,
// and where. The place has no path when the argument is absent.
func firstBroken(list []*condition, root, b *terraform.Block) (*condition, finding.Location, bool) {
	for _, c := range list {
		at := b
		if c.root {
			at = root
		}
		for _, h := range c.findValues(at) {
			if c.isMet(h) == no {
				if h.Attr == nil && h.Value == nil && h.Block == at {
					return c, finding.Location{}, true
				}
				return c, h.Place, true
			}
		}
	}
	return nil, finding.Location{}, false
}

// matchMessage says what is wrong with the resource.
func matchMessage(c *check, s *subject, broken *condition) string {
	title := strings.TrimSuffix(c.rule.Name, ".")
	if broken == nil {
		return s.address + ": " + title + "."
	}
	var path []string
	for _, p := range append(slices.Clone(c.each), broken.path...) {
		path = append(path, p.name)
	}
	return fmt.Sprintf("%s: %s (%s).", s.address, title, strings.Join(path, "."))
}
