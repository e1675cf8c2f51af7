// Package gitlab finds flaws in pipelines of GitLab CI/CD. Local includes and
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

// Analyzer finds flaws in pipelines of GitLab CI/CD.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/gitlab",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    match,
	Project:  run,
}

// match knows pipelines by the names that GitLab and its documentation use. What
// they include locally under other names is looked at too.
func match(p string) bool {
	base := path.Base(p)
	if !strings.HasSuffix(base, ".yml") && !strings.HasSuffix(base, ".yaml") {
		return false
	}
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml"), ".gitlab-ci") ||
		strings.Contains("/"+p, "/.gitlab/ci/") || strings.Contains("/"+p, "/.gitlab-ci/")
}

// maxIncluded bounds the files that are read because others include them.
const maxIncluded = 200

func run(p *scan.ProjectPass) error {
	tree := map[string]scan.File{}
	for _, f := range p.Files {
		tree[f.Path] = f
	}
	var queue []string
	for _, f := range p.Files {
		if match(f.Path) {
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
		b, ok := pipeline.Load(p, tree[name])
		if !ok {
			continue
		}
		f, err := pipeline.Read(name, b, Rules, p.Report)
		if err != nil {
			p.Degrade(pipeline.Malformed(name, err))
			continue
		}
		files[name], order = f, append(order, name)
		for _, local := range included(f) {
			for _, candidate := range []string{path.Join(path.Dir(name), local),
				strings.TrimPrefix(path.Join(rootOf(name), local), "/")} {
				if _, ok := tree[candidate]; ok && !seen[candidate] && len(queue) < len(p.Files)+maxIncluded {
					queue = append(queue, candidate)
				}
			}
		}
	}
	all := &repository{files: files, templates: map[string]*document.Node{}}
	for _, name := range order {
		all.learn(files[name])
	}
	for _, name := range order {
		all.check(files[name])
	}
	return nil
}

// rootOf is the folder of the repository that a pipeline's file belongs to, as far
// as the name tells.
func rootOf(name string) string {
	if at := strings.Index("/"+name, "/.gitlab"); at >= 0 {
		return ("/" + name)[:at]
	}
	return path.Dir(name)
}

// included returns the local files that a pipeline includes.
func included(f *pipeline.File) []string {
	var out []string
	for _, d := range f.Docs {
		for _, inc := range list(d.Get("include")) {
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

// list returns the items of a list, or the value itself.
func list(n *document.Node) []*document.Node {
	switch {
	case n == nil:
		return nil
	case n.IsList():
		return n.Items
	}
	return []*document.Node{n}
}
