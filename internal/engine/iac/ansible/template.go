package ansible

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file fills in the templates that tasks write to hosts, if they are infrastructure
// code by their name and words: manifests, Compose files, Dockerfiles.

// A Rendered is a template as a task fills it in, line for line.
type Rendered struct {
	Path string // of the template
	Name string // that it has without the ending of templates
	Text []byte
}

// Blank stands in a rendered template for what is not known.
const Blank = "unknown-when-deployed"

// maxTemplate bounds a template, in bytes.
const maxTemplate = 1 << 20

// infrastructure matches words that hardly anything else than infrastructure code holds.
var infrastructure = lazyregexp.New(`(?m)^\s*(?:apiVersion|AWSTemplateFormatVersion|services|FROM)\b|"(?:AWSTemplateFormatVersion|apiVersion|\$schema)"|::[A-Z]\w+::`)

// isInfrastructureName reports whether a file of the name may be infrastructure code.
func isInfrastructureName(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.Contains([]string{".yml", ".yaml", ".json"}, path.Ext(base)) ||
		strings.HasPrefix(base, "dockerfile") || strings.HasSuffix(base, ".dockerfile")
}

// renderTemplate fills in the template of a task.
func (p *project) renderTemplate(task map[string]any, n *document.Node, s *scope, at taskPlace) {
	module, v, where := moduleCall(task, n, "template")
	if module == "" {
		return
	}
	source := argumentText(v, "src")
	text, ok := s.computeText(source)
	name, isText := text.(string)
	// Configurations of services (nginx.conf.j2) are of no interest and would only be gaps.
	if plain := strings.TrimSuffix(source, ".j2"); !isInfrastructureName(plain) &&
		!(ok && isText && isInfrastructureName(strings.TrimSuffix(name, ".j2"))) {
		return
	}
	if !ok || !isText {
		*at.gaps = append(*at.gaps, newGap(at.file, where, "the template %s is not analyzed: its name is "+
			"not known", source))
		return
	}
	dirs := []string{path.Join(at.dir, "templates"), at.dir}
	if at.role != "" {
		dirs = append([]string{path.Join(at.role, "templates"), at.role}, dirs...)
	}
	for _, dir := range dirs {
		file := path.Join(dir, name)
		f := p.readFile(file)
		if !f.there {
			continue
		}
		p.renderFile(file, f.text, s, at)
		return
	}
	*at.gaps = append(*at.gaps, newGap(at.file, where, "the template %s is not analyzed: it is not part of "+
		"the tree", name))
}

// renderFile fills in a template that is infrastructure code and has no statements.
func (p *project) renderFile(file string, text []byte, s *scope, at taskPlace) {
	if len(text) > maxTemplate || !infrastructure.Match(text) {
		return
	}
	i := bytes.Index(text, []byte("{%"))
	if i < 0 {
		p.keepRendered(file, text, s)
		return
	}
	g := newGap(file, &document.Node{Line: 1 + bytes.Count(text[:i], []byte("\n"))}, "the template is not "+
		"analyzed: it has statements, which are not followed")
	if !slices.Contains(*at.gaps, g) {
		*at.gaps = append(*at.gaps, g)
	}
}

// keepRendered keeps a template with what is known put in.
func (p *project) keepRendered(file string, text []byte, s *scope) {
	out := placeholder.ReplaceAllStringFunc(string(text), func(m string) string {
		// The line breaks of the expression stay, so that the lines of findings are those of the
		// template.
		lines := strings.Repeat("\n", strings.Count(m, "\n"))
		v, ok := s.computeExpression(placeholder.FindStringSubmatch(m)[1])
		with, isScalar := scalarText(v)
		if !ok || !isScalar || strings.Contains(with, "\n") || s.budget.spendValue() {
			with = Blank
		}
		return with + lines
	})
	r := Rendered{file, strings.TrimSuffix(file, ".j2"), []byte(out)}
	same, uses := false, 0
	for _, before := range p.rendered {
		if before.Path == file {
			uses++
			same = same || bytes.Equal(before.Text, r.Text)
		}
	}
	if !same && uses < maxUses && len(out) <= 2*maxTemplate {
		p.rendered = append(p.rendered, r)
	}
}

// Mark returns the node of a value with all marked that a blank stands in.
func Mark(v any, n *document.Node) *document.Node {
	if n == nil {
		return nil
	}
	out := *n
	switch v := v.(type) {
	case string:
		out.Unknown = out.Unknown || strings.Contains(v, Blank)
	case map[string]any:
		out.Fields = make(map[string]*document.Node, len(n.Fields))
		for key, below := range n.Fields {
			out.Fields[key] = Mark(v[key], below)
		}
	case []any:
		out.Items = slices.Clone(n.Items)
		for i := range min(len(v), len(n.Items)) {
			out.Items[i] = Mark(v[i], n.Items[i])
		}
	}
	return &out
}
