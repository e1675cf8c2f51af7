// Package bitbucket finds vulnerabilities in pipelines of Bitbucket.
//
// The language: https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference/
package bitbucket

import (
	_ "embed" // the manual
	"fmt"
	"path"
	"regexp"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in pipelines of Bitbucket.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/bitbucket",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match: func(p string) bool {
		base := path.Base(p)
		return base == "bitbucket-pipelines.yml" || base == "bitbucket-pipelines.yaml"
	},
	File: func(p *scan.FilePass) error {
		return pipeline.AnalyzeFile(p, Rules, func(f *pipeline.File) {
			for _, d := range f.Docs {
				checkDocument(f, d)
			}
		})
	},
}

//go:embed rules.md
var rulesPage string

// Rules are the rules of Bitbucket Pipelines.
var Rules = pipeline.LoadRules("cicd/bitbucket", "yaml", rulesPage)

// chosen lists the variables of the environment that whoever pushes, or opens a
// pull request, chooses.
var chosen = map[string]string{"BITBUCKET_BRANCH": "BITBUCKET_BRANCH", "BITBUCKET_TAG": "BITBUCKET_TAG",
	"BITBUCKET_BOOKMARK":              "BITBUCKET_BOOKMARK",
	"BITBUCKET_PR_DESTINATION_BRANCH": "BITBUCKET_PR_DESTINATION_BRANCH"}

// checkDocument checks the definitions and every pipeline of a file. Steps are shared
// by YAML aliases; each is checked once, under the first pipeline that has it.
func checkDocument(f *pipeline.File, d *document.Node) {
	if !d.IsMap() {
		return
	}
	checkImage(f, d.Get("image"), "for all steps")
	for _, e := range d.Get("definitions").Get("services").Pairs() {
		where := fmt.Sprintf("(service %q)", pipeline.Shorten(e.Key))
		checkImage(f, e.Value.Get("image"), where)
		for _, v := range e.Value.Get("variables").Pairs() {
			f.CheckSecret(v.KeyNode(), v.Value, where)
		}
	}
	seen := map[*document.Node]bool{} // an alias is the same step
	for _, section := range []*document.Node{d.Get("pipelines"), d.Get("definitions").Get("steps")} {
		for _, e := range section.Pairs() {
			checkSteps(f, e.Value, e.Key, seen)
		}
		for _, item := range section.List() {
			checkSteps(f, item, "definitions", seen)
		}
	}
}

// checkSteps finds the steps below a pipeline. Parallel groups and stages nest them at
// any depth.
func checkSteps(f *pipeline.File, n *document.Node, kind string, seen map[*document.Node]bool) {
	n.Walk(func(m *document.Node) bool {
		if vars := m.Get("variables"); vars.IsList() { // asked for when somebody starts it
			for _, v := range vars.List() {
				f.CheckSecretText(v.Get("name").Text(), v.Get("default").Text(), v.Get("default"), "("+kind+")")
			}
		}
		s := m.Get("step")
		if s == nil || seen[s] {
			return true
		}
		seen[s] = true
		checkStep(f, s, kind)
		return true
	})
}

// checkStep checks one step. Only a step of the section pull-requests can be started by
// somebody without write access.
func checkStep(f *pipeline.File, s *document.Node, kind string) {
	where := "in a step of " + kind
	if name := s.Get("name").Text(); name != "" {
		where = fmt.Sprintf("in step %q of %s", pipeline.Shorten(name), kind)
	}
	checkImage(f, s.Get("image"), where)
	if kind == "pull-requests" {
		for _, r := range s.Get("runs-on").Scalars() {
			if strings.HasPrefix(r.Text(), "self.hosted") {
				f.ReportNode("self-hosted-runner", r, "A pull request runs on a machine of your own, %s", where)
				break
			}
		}
	}
	for _, key := range []string{"script", "after-script"} {
		for _, item := range s.Get(key).List() {
			if p := item.Get("pipe"); p != nil {
				checkPipe(f, item, p, where)
			} else if item.Text() != "" {
				f.CheckScript(pipeline.Script{Text: item, Where: where, HasSecret: pipeline.NamesSecret(item.Text()),
					Tainted: chosen, AllSecrets: true})
			}
		}
	}
}

// fullVersion matches a pipe with a full version or a digest.
var fullVersion = regexp.MustCompile(`:\d+\.\d+\.\d+$|@sha256:`)

// checkPipe reports pipes without a full version: the publisher can move a shorter
// tag to other code, which then runs with the variables of the step.
func checkPipe(f *pipeline.File, item, p *document.Node, where string) {
	if !fullVersion.MatchString(p.Text()) {
		f.ReportNode("unpinned-dependency", p, "The pipe %s is not fixed to a full version, %s",
			pipeline.Shorten(p.Text()),
			where)
	}
	for _, v := range item.Get("variables").Pairs() {
		f.CheckSecret(v.KeyNode(), v.Value, where)
		if v.Key == "DEBUG" && (v.Value.True()) {
			f.Report("debug-mode", f.Source.Whole(v.KeyNode()),
				pipeline.NewRating(finding.Low, finding.MediumConfidence),
				"DEBUG of a pipe prints what it does, %s", where)
		}
	}
}

// checkImage checks an image, and the password for it. The map form holds the
// credentials of the registry, also those of AWS.
func checkImage(f *pipeline.File, n *document.Node, where string) {
	if !n.IsMap() {
		f.CheckImage(n, where)
		return
	}
	f.CheckImage(n.Get("name"), where)
	for _, e := range n.Pairs() {
		f.CheckSecret(e.KeyNode(), e.Value, where)
	}
	for _, e := range n.Get("aws").Pairs() {
		f.CheckSecret(e.KeyNode(), e.Value, where)
	}
}
