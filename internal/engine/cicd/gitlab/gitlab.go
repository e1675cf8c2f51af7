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

// analyzeProject reads every pipeline with its local includes, and checks them when all
// jobs are known, because a job may extend one of a file that is read later.
func analyzeProject(p *scan.ProjectPass) error {
	tree := map[string]scan.File{}
	var queue []string
	for _, f := range p.Files {
		tree[f.Path] = f
		if isPipelineName(f.Path) {
			queue = append(queue, f.Path)
		}
	}
	all := &project{files: map[string]*pipeline.File{}, templates: map[string]*document.Node{}}
	order, err := all.readAll(p, tree, queue)
	if err != nil {
		return err
	}
	for _, name := range order {
		all.indexJobs(all.files[name])
	}
	for _, name := range order {
		all.checkFile(all.files[name])
	}
	return nil
}

// readAll reads the files of the queue and what they include locally, and returns their
// paths in the order of reading.
func (r *project) readAll(p *scan.ProjectPass, tree map[string]scan.File, queue []string) ([]string, error) {
	seen := map[string]bool{}
	var order []string
	for n := 0; n < len(queue); n++ {
		name := queue[n]
		if err := p.Context.Err(); err != nil {
			return nil, err
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
		r.files[name], order = f, append(order, name)
		for _, candidate := range includeCandidates(f, name) {
			if _, ok := tree[candidate]; ok && !seen[candidate] && len(queue) < len(p.Files)+maxIncluded {
				queue = append(queue, candidate)
			}
		}
	}
	return order, nil
}

// includeCandidates returns the paths that the local includes of a file can mean: GitLab
// takes them from the root of the repository, which in a tree of several is not known
// for sure, and people write them relative to the file.
func includeCandidates(f *pipeline.File, name string) []string {
	var out []string
	for _, local := range localIncludes(f) {
		out = append(out, path.Join(path.Dir(name), local),
			strings.TrimPrefix(path.Join(repositoryRoot(name), local), "/"))
	}
	return out
}

// repositoryRoot is the folder of the repository that a pipeline's file belongs to, as far
// as the name tells.
func repositoryRoot(name string) string {
	if at := strings.Index("/"+name, "/.gitlab"); at >= 0 {
		return ("/" + name)[:at]
	}
	return path.Dir(name)
}

// localIncludes returns the local files that a pipeline includes. Only local files are
// followed; what comes from elsewhere is checked for its version.
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

// listItems returns the items of a list, or the value itself. GitLab takes one value in
// place of a list of one nearly everywhere.
func listItems(n *document.Node) []*document.Node {
	switch {
	case n == nil:
		return nil
	case n.IsList():
		return n.Items
	}
	return []*document.Node{n}
}
