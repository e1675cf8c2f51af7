// Package azure finds vulnerabilities in pipelines of Azure Pipelines. Templates of the same
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

// Analyzer finds vulnerabilities in pipelines of Azure Pipelines.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/azure",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    isPipelineName,
	Project:  analyzeProject,
}

// named matches the names that the documentation and the wizard of Azure DevOps give.
var named = lazyregexp.New(`(?i)^(?:\.?azure-?pipelines?.*|.*[.-]azure-pipelines?|vsts-ci.*)\.ya?ml$`)

// isPipelineName knows pipelines by the names that people give them. Templates that they
// use under other names are looked at too.
func isPipelineName(p string) bool {
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

// analyzeProject reads every pipeline with the templates that it leads to, and checks
// them when all calls are known, because a template may be read before its callers.
func analyzeProject(p *scan.ProjectPass) error {
	tree := map[string]scan.File{}
	var queue []string
	for _, f := range p.Files {
		tree[f.Path] = f
		if isPipelineName(f.Path) {
			queue = append(queue, f.Path)
		}
	}
	r := &project{files: map[string]*pipeline.File{}, calls: map[string][]templateCall{},
		own: map[string]map[string]string{}}
	order, err := r.readAll(p, tree, queue)
	if err != nil {
		return err
	}
	for _, name := range order {
		if f := r.files[name]; isPipeline(f) || len(r.calls[name]) > 0 {
			r.checkFile(name, f)
		}
	}
	return nil
}

// readAll reads the files of the queue and the templates that they use, and returns
// their paths in the order of reading.
func (r *project) readAll(p *scan.ProjectPass, tree map[string]scan.File, queue []string) ([]string, error) {
	var order []string
	limit := len(queue) + maxTemplates
	for n := 0; n < len(queue) && n < limit; n++ {
		name := queue[n]
		if err := p.Context.Err(); err != nil {
			return nil, err
		}
		if _, ok := r.files[name]; ok {
			continue
		}
		b, ok := pipeline.ReadFile(p, tree[name])
		if !ok {
			continue
		}
		f, err := pipeline.ParseFile(name, b, Rules, p.Report)
		if err != nil {
			p.Degrade(pipeline.MalformedReason(name, err))
			continue
		}
		r.files[name], order = f, append(order, name)
		for _, t := range findTemplateUses(f) {
			if to := resolveTemplate(tree, name, t.Get("template").Text()); to != "" {
				r.calls[to] = append(r.calls[to], templateCall{from: name, params: t.Get("parameters")})
				queue = append(queue, to)
			}
		}
	}
	return order, nil
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

// findTemplateUses returns the maps of a file that use a template. Templates may stand
// for a stage, a job, a step or variables.
func findTemplateUses(f *pipeline.File) []*document.Node {
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

// resolveTemplate returns the path of a template of the same repository, or "".
// Templates of other repositories (@name) are not in the tree.
func resolveTemplate(tree map[string]scan.File, from, name string) string {
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
