// Package gitlab finds vulnerabilities in pipelines of GitLab CI/CD. Local includes and
// extended jobs are followed inside of the tree; nothing is fetched.
//
// The language: https://docs.gitlab.com/ci/yaml/
package gitlab

import (
	_ "embed" // the manual
	"path"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in pipelines of GitLab CI/CD.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/gitlab",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    isPipelineName,
	Project:  analyzeProject,
}

// isPipelineName knows pipelines by the names that GitLab and its documentation use. What
// they include locally under other names is looked at too.
func isPipelineName(p string) bool {
	base := path.Base(p)
	if !strings.HasSuffix(base, ".yml") && !strings.HasSuffix(base, ".yaml") {
		return false
	}
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml"), ".gitlab-ci") ||
		strings.Contains("/"+p, "/.gitlab/ci/") || strings.Contains("/"+p, "/.gitlab-ci/")
}

// maxIncluded bounds the files that are read because others include them.
const maxIncluded = 200

func analyzeProject(p *scan.ProjectPass) error {
	tree := map[string]scan.File{}
	for _, f := range p.Files {
		tree[f.Path] = f
	}
	var queue []string
	for _, f := range p.Files {
		if isPipelineName(f.Path) {
			queue = append(queue, f.Path)
		}
	}
	files := map[string]*pipeline.File{}
	seen := map[string]bool{}
	var order []string
	for n := 0; n < len(queue); n++ {
		name := queue[n]
		if err := p.Context.Err(); err != nil {
			return err
		}
		if seen[name] || n > len(tree) {
			continue
		}
		seen[name] = true
		b, ok := pipeline.ReadFile(p, tree[name])
		if !ok {
			continue
		}
		f, err := pipeline.ParseFile(name, b, Rules, p.Report)
		if err != nil {
			p.Degrade(pipeline.MalformedReason(name, err))
			continue
		}
		files[name], order = f, append(order, name)
		for _, local := range localIncludes(f) {
			for _, candidate := range []string{path.Join(path.Dir(name), local),
				strings.TrimPrefix(path.Join(repositoryRoot(name), local), "/")} {
				if _, ok := tree[candidate]; ok && !seen[candidate] && len(queue) < len(p.Files)+maxIncluded {
					queue = append(queue, candidate)
				}
			}
		}
	}
	all := &project{files: files, templates: map[string]*document.Node{}}
	for _, name := range order {
		all.indexJobs(files[name])
	}
	for _, name := range order {
		all.checkFile(files[name])
	}
	return nil
}

// repositoryRoot is the folder of the repository that a pipeline's file belongs to, as far
// as the name tells.
func repositoryRoot(name string) string {
	if at := strings.Index("/"+name, "/.gitlab"); at >= 0 {
		return ("/" + name)[:at]
	}
	return path.Dir(name)
}

// localIncludes returns the local files that a pipeline includes.
func localIncludes(f *pipeline.File) []string {
	var out []string
	for _, d := range f.Docs {
		for _, inc := range listItems(d.Get("include")) {
			switch {
			case inc.IsScalar() && !strings.Contains(inc.Text(), "://"):
				out = append(out, inc.Text())
			case inc.Get("local") != nil:
				out = append(out, inc.Get("local").Text())
			}
		}
	}
	return out
}

// listItems returns the items of a list, or the value itself.
func listItems(n *document.Node) []*document.Node {
	switch {
	case n == nil:
		return nil
	case n.IsList():
		return n.Items
	}
	return []*document.Node{n}
}
