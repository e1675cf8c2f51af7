// Package azure finds flaws in pipelines of Azure Pipelines. Templates of the same
// repository are followed inside of the tree; nothing is fetched.
//
// The language: https://learn.microsoft.com/azure/devops/pipelines/yaml-schema
package azure

import (
	_ "embed" // the manual
	"path"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds flaws in pipelines of Azure Pipelines.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/azure",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    match,
	Project:  run,
}

var named = lazyregexp.New(`(?i)^(?:\.?azure-?pipelines?.*|.*[.-]azure-pipelines?|vsts-ci.*)\.ya?ml$`)

// match knows pipelines by the names that people give them. Templates that they
// use under other names are looked at too.
func match(p string) bool {
	dir, base := "/"+strings.ToLower(path.Dir(p))+"/", path.Base(p)
	if named.MatchString(base) {
		return true
	}
	folder := strings.Contains(dir, "/.azure-pipelines/") || strings.Contains(dir, "/azure-pipelines/") ||
		strings.Contains(dir, "/.pipelines/")
	return folder && (strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml"))
}

// maxTemplates bounds the files that are read because others use them.
const maxTemplates = 500

func run(p *scan.ProjectPass) error {
	tree := map[string]scan.File{}
	var queue []string
	for _, f := range p.Files {
		tree[f.Path] = f
		if match(f.Path) {
			queue = append(queue, f.Path)
		}
	}
	r := &repository{files: map[string]*pipeline.File{}, calls: map[string][]call{},
		own: map[string]map[string]string{}}
	var order []string
	limit := len(queue) + maxTemplates
	for n := 0; n < len(queue) && n < limit; n++ {
		name := queue[n]
		if err := p.Context.Err(); err != nil {
			return err
		}
		if _, ok := r.files[name]; ok {
			continue
		}
		b, ok := pipeline.Load(p, tree[name])
		if !ok {
			continue
		}
		f, err := pipeline.Read(name, b, Rules, p.Report)
		if err != nil {
			p.Degrade(pipeline.Malformed(name, err))
			continue
		}
		r.files[name], order = f, append(order, name)
		for _, t := range templates(f) {
			if to := resolve(tree, name, t.Get("template").Text()); to != "" {
				r.calls[to] = append(r.calls[to], call{from: name, params: t.Get("parameters")})
				queue = append(queue, to)
			}
		}
	}
	for _, name := range order {
		if f := r.files[name]; isPipeline(f) || len(r.calls[name]) > 0 {
			r.check(name, f)
		}
	}
	return nil
}

// isPipeline reports whether a file has one of the members of a pipeline.
func isPipeline(f *pipeline.File) bool {
	for _, d := range f.Docs {
		for _, key := range []string{"steps", "jobs", "stages", "trigger", "extends", "pool", "resources", "variables",
			"parameters"} {
			if d.Get(key) != nil {
				return true
			}
		}
	}
	return false
}

// templates returns the maps of a file that use a template.
func templates(f *pipeline.File) []*document.Node {
	var out []*document.Node
	for _, d := range f.Docs {
		d.Walk(func(n *document.Node) bool {
			if n.Get("template").Text() != "" {
				out = append(out, n)
			}
			return true
		})
	}
	return out
}

// resolve returns the path of a template of the same repository, or "".
func resolve(tree map[string]scan.File, from, name string) string {
	if strings.Contains(name, "@") && !strings.HasSuffix(name, "@self") || strings.Contains(name, "${{") {
		return ""
	}
	name = strings.TrimSuffix(name, "@self")
	candidates := []string{path.Join(path.Dir(from), name)}
	if strings.HasPrefix(name, "/") { // from the root, which may be any folder above
		for dir := path.Dir(from); ; dir = path.Dir(dir) {
			candidates = append(candidates, strings.TrimPrefix(path.Join(dir, name), "/"))
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	for _, c := range candidates {
		if _, ok := tree[c]; ok {
			return c
		}
	}
	return ""
}
