// Package tekton finds vulnerabilities in tasks and pipelines of Tekton.
//
// The language: https://tekton.dev/docs/pipelines/
package tekton

import (
	"bytes"
	_ "embed" // the manual
	"fmt"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in tasks and pipelines of Tekton.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/tekton",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    func(p string) bool { return strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") },
	File:     analyzeFile,
}

// analyzeFile looks at files that name Tekton's interface; the rest of the YAML in a tree
// is somebody else's.
func analyzeFile(p *scan.FilePass) error {
	if p.Size > pipeline.Limits.Size {
		return nil // no task has that size
	}
	b, err := p.ReadFile()
	if err != nil {
		return err
	}
	if !bytes.Contains(b, []byte("tekton.dev/")) || !declares.Match(b) || bytes.Contains(b, []byte("{{- ")) {
		return nil
	}
	return pipeline.AnalyzeFile(p, Rules, func(f *pipeline.File) {
		for _, d := range f.Docs {
			if strings.HasPrefix(d.Get("apiVersion").Text(), "tekton.dev/") {
				checkResource(f, d)
			}
		}
	})
}

// declares matches the head of a resource of Tekton; templates of Helm are no YAML yet.
var declares = lazyregexp.New(`(?m)^apiVersion:\s*["']?tekton\.dev/`)

// Rules are the rules of Tekton.
var Rules = pipeline.LoadRules("cicd/tekton", "yaml", "")

// checkResource checks one resource by its kind. A run refers to a task or a pipeline,
// or holds it itself.
func checkResource(f *pipeline.File, d *document.Node) {
	name := d.Get("metadata").Get("name").Text()
	where := fmt.Sprintf("in %s %q", strings.ToLower(d.Get("kind").Text()), pipeline.Shorten(name))
	spec := d.Get("spec")
	switch d.Get("kind").Text() {
	case "Task", "ClusterTask":
		checkTask(f, spec, where)
	case "StepAction":
		checkStep(f, spec, spec.Get("params"), where)
	case "TaskRun":
		checkReference(f, spec.Get("taskRef"), where)
		checkTask(f, spec.Get("taskSpec"), where)
	case "Pipeline":
		checkTasks(f, spec, where)
	case "PipelineRun":
		checkReference(f, spec.Get("pipelineRef"), where)
		checkTasks(f, spec.Get("pipelineSpec"), where)
		for _, p := range spec.Get("params").List() {
			f.CheckSecretText(p.Get("name").Text(), p.Get("value").Text(), p.Get("value"), where)
		}
	}
}

// checkTasks checks the tasks of a pipeline, with those that run at its end.
func checkTasks(f *pipeline.File, spec *document.Node, where string) {
	for _, section := range []string{"tasks", "finally"} {
		for _, t := range spec.Get(section).List() {
			in := fmt.Sprintf("in task %q, %s", pipeline.Shorten(t.Get("name").Text()), where)
			checkReference(f, t.Get("taskRef"), in)
			checkTask(f, t.Get("taskSpec"), in)
			for _, p := range t.Get("params").List() {
				f.CheckSecretText(p.Get("name").Text(), p.Get("value").Text(), p.Get("value"), in)
			}
		}
	}
}

// checkReference finds tasks and pipelines that are taken from elsewhere and can change.
func checkReference(f *pipeline.File, ref *document.Node, where string) {
	if b := ref.Get("bundle"); b != nil && !strings.Contains(b.Text(), "@sha256:") {
		f.ReportNode("unpinned-dependency", b, "The bundle %s is not fixed by its "+
			"digest, %s", pipeline.Shorten(b.Text()), where)
	}
	resolver := ref.Get("resolver").Text()
	for _, p := range ref.Get("params").List() {
		checkResolverParameter(f, resolver+" "+p.Get("name").Text(), p.Get("value"), where)
	}
}

// checkResolverParameter checks the parameter of a resolver that says which version is
// fetched. A value with a variable is known only when it runs.
// https://tekton.dev/docs/pipelines/resolution/
func checkResolverParameter(f *pipeline.File, name string, value *document.Node, where string) {
	text := value.Text()
	variable := strings.Contains(text, "$(")
	switch {
	case name == "bundles bundle" && !variable && !strings.Contains(text, "@sha256:"):
		f.ReportNode("unpinned-dependency", value, "The bundle %s is not fixed by its digest, %s",
			pipeline.Shorten(text), where)
	case name == "git revision" && !variable && !commit.MatchString(text):
		f.ReportNode("unpinned-dependency", value, "The task is taken from %s, which can be moved, %s",
			pipeline.Shorten(text), where)
	case name == "http url":
		f.ReportNode("unpinned-dependency", value, "The task is whatever %s returns, %s", pipeline.Shorten(text),
			where)
	}
}

// commit matches a whole commit, which nobody can move.
var commit = lazyregexp.New(`^[0-9a-f]{40}$`)

// checkTask checks the containers of a task. A path of the host gives a task its files,
// and with them the node.
func checkTask(f *pipeline.File, spec *document.Node, where string) {
	for _, section := range []string{"steps", "sidecars"} {
		for _, s := range spec.Get(section).List() {
			in := where
			if name := s.Get("name").Text(); name != "" {
				in = fmt.Sprintf("in step %q, %s", pipeline.Shorten(name), where)
			}
			checkStep(f, s, spec.Get("params"), in)
		}
	}
	checkStep(f, spec.Get("stepTemplate"), spec.Get("params"), where)
	for _, v := range spec.Get("volumes").List() {
		if p := v.Get("hostPath").Get("path"); p != nil {
			f.ReportNode("privileged-container", p, "The task sees %s of its host, %s", pipeline.Shorten(p.Text()),
				where)
		}
	}
}

var (
	// param matches the parameters of a task and result what another task or step
	// leaves.
	param  = lazyregexp.New(`\$\((?:inputs\.)?params(?:\.([\w.-]+?)|\[["']([\w.-]+)["']\])(?:\[\*\])?\)`)
	result = lazyregexp.New(`\$\((?:tasks|steps)\.[\w-]+\.results\.[\w.-]+\)`)
)

// checkStep checks one container: its image, its rights, its environment, and what is
// put into its script. Tekton replaces $(params.x) before the shell reads the script,
// so that a quote in the value ends the quotes around it.
// https://tekton.dev/docs/pipelines/tasks/#substituting-in-script-blocks
func checkStep(f *pipeline.File, s, params *document.Node, where string) {
	if s == nil {
		return
	}
	f.CheckImage(s.Get("image"), where)
	if p := s.Get("securityContext").Get("privileged"); p.True() {
		f.ReportNode("privileged-container", p, "The container has the rights of its host, %s", where)
	}
	for _, e := range s.Get("env").List() {
		f.CheckSecretText(e.Get("name").Text(), e.Get("value").Text(), e.Get("value"), where)
	}
	texts := s.Get("script").Scalars()
	if isShell(s) {
		texts = append(texts, s.Get("args").Scalars()...)
		texts = append(texts, s.Get("command").Scalars()...)
	}
	for _, text := range texts {
		f.CheckScript(pipeline.Script{Text: text, Where: where, HasSecret: pipeline.NamesSecret(text.Text())})
		for _, at := range param.FindAllStringSubmatchIndex(text.Text(), -1) {
			if name := text.Text()[max(at[2], at[4]):max(at[3], at[5])]; isEnumerated(params, name) {
				continue
			}
			f.Report("script-injection", f.Source.Part(text, at[0], at[1]-at[0]), pipeline.Rating{},
				"%s, which whoever starts the task chooses, becomes part of the script %s", text.Text()[at[0]:at[1]],
				where)
		}
		for _, at := range result.FindAllStringIndex(text.Text(), -1) {
			f.Report("script-injection", f.Source.Part(text, at[0], at[1]-at[0]),
				pipeline.NewRating(finding.Medium, finding.LowConfidence), "%s, which another task writes, "+
					"becomes part "+
					"of the "+
					"script %s", text.Text()[at[0]:at[1]], where)
		}
	}
}

// isShell reports whether the container's command is a shell that runs its
// arguments as code.
func isShell(s *document.Node) bool {
	words := s.Get("command").Scalars()
	for i, w := range words {
		if (w.Text() == "-c" || w.Text() == "-ec" || w.Text() == "-ce") && i > 0 {
			return true
		}
	}
	args := s.Get("args").Scalars()
	return len(words) == 1 && strings.HasSuffix(words[0].Text(), "sh") && len(args) > 1 &&
		strings.HasSuffix(args[0].Text(), "c") && strings.HasPrefix(args[0].Text(), "-")
}

// isEnumerated reports whether a parameter can only be one of a list. Tekton refuses
// other values then.
func isEnumerated(params *document.Node, name string) bool {
	for _, p := range params.List() {
		if p.Get("name").Text() == name {
			return len(p.Get("enum").List()) > 0
		}
	}
	return false
}
