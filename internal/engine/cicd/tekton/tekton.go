// Package tekton finds flaws in tasks and pipelines of Tekton.
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
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds flaws in tasks and pipelines of Tekton.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/tekton",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    func(p string) bool { return strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") },
	File:     run,
}

// run looks at files that name Tekton's interface; the rest of the YAML in a tree
// is somebody else's.
func run(p *scan.FilePass) error {
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
	return pipeline.Check(p, Rules, func(f *pipeline.File) {
		for _, d := range f.Docs {
			if strings.HasPrefix(d.Get("apiVersion").Text(), "tekton.dev/") {
				check(f, d)
			}
		}
	})
}

var declares = lazyregexp.New(`(?m)^apiVersion:\s*["']?tekton\.dev/`)

// Rules are the rules of Tekton.
var Rules = rule.New("cicd/tekton", "yaml", pipeline.Texts()...)

func check(f *pipeline.File, d *document.Node) {
	name := d.Get("metadata").Get("name").Text()
	where := fmt.Sprintf("in %s %q", strings.ToLower(d.Get("kind").Text()), pipeline.Short(name))
	spec := d.Get("spec")
	switch d.Get("kind").Text() {
	case "Task", "ClusterTask":
		task(f, spec, where)
	case "StepAction":
		step(f, spec, spec.Get("params"), where)
	case "TaskRun":
		reference(f, spec.Get("taskRef"), where)
		task(f, spec.Get("taskSpec"), where)
	case "Pipeline":
		tasks(f, spec, where)
	case "PipelineRun":
		reference(f, spec.Get("pipelineRef"), where)
		tasks(f, spec.Get("pipelineSpec"), where)
		for _, p := range spec.Get("params").List() {
			f.SecretText(p.Get("name").Text(), p.Get("value").Text(), p.Get("value"), where)
		}
	}
}

func tasks(f *pipeline.File, spec *document.Node, where string) {
	for _, section := range []string{"tasks", "finally"} {
		for _, t := range spec.Get(section).List() {
			in := fmt.Sprintf("in task %q, %s", pipeline.Short(t.Get("name").Text()), where)
			reference(f, t.Get("taskRef"), in)
			task(f, t.Get("taskSpec"), in)
			for _, p := range t.Get("params").List() {
				f.SecretText(p.Get("name").Text(), p.Get("value").Text(), p.Get("value"), in)
			}
		}
	}
}

// reference finds tasks and pipelines that are taken from elsewhere and can change.
func reference(f *pipeline.File, ref *document.Node, where string) {
	if b := ref.Get("bundle"); b != nil && !strings.Contains(b.Text(), "@sha256:") {
		f.At("unpinned-dependency", b, "The bundle %s is not fixed by its digest, %s", pipeline.Short(b.Text()), where)
	}
	resolver := ref.Get("resolver").Text()
	for _, p := range ref.Get("params").List() {
		name, value := p.Get("name").Text(), p.Get("value")
		switch {
		case resolver == "bundles" && name == "bundle" && !strings.Contains(value.Text(), "@sha256:") && !strings.Contains(value.Text(), "$("):

			f.At("unpinned-dependency", value, "The bundle %s is not fixed by its "+
				"digest, %s", pipeline.Short(value.Text()), where)
		case resolver == "git" && name == "revision" && !commit.MatchString(value.Text()) && !strings.Contains(value.Text(), "$("):

			f.At("unpinned-dependency", value, "The task is taken from %s, which can be "+
				"moved, %s", pipeline.Short(value.Text()), where)
		case resolver == "http" && name == "url":
			f.At("unpinned-dependency", value, "The task is whatever %s answers, %s", pipeline.Short(value.Text()),
				where)
		}
	}
}

var commit = lazyregexp.New(`^[0-9a-f]{40}$`)

func task(f *pipeline.File, spec *document.Node, where string) {
	for _, section := range []string{"steps", "sidecars"} {
		for _, s := range spec.Get(section).List() {
			in := where
			if name := s.Get("name").Text(); name != "" {
				in = fmt.Sprintf("in step %q, %s", pipeline.Short(name), where)
			}
			step(f, s, spec.Get("params"), in)
		}
	}
	step(f, spec.Get("stepTemplate"), spec.Get("params"), where)
	for _, v := range spec.Get("volumes").List() {
		if p := v.Get("hostPath").Get("path"); p != nil {
			f.At("privileged-container", p, "The task sees %s of its host, %s", pipeline.Short(p.Text()), where)
		}
	}
}

var (
	param  = lazyregexp.New(`\$\((?:inputs\.)?params(?:\.([\w.-]+?)|\[["']([\w.-]+)["']\])(?:\[\*\])?\)`)
	result = lazyregexp.New(`\$\((?:tasks|steps)\.[\w-]+\.results\.[\w.-]+\)`)
)

func step(f *pipeline.File, s, params *document.Node, where string) {
	if s == nil {
		return
	}
	f.Image(s.Get("image"), where)
	if p := s.Get("securityContext").Get("privileged"); p.True() {
		f.At("privileged-container", p, "The container has the rights of its host, %s", where)
	}
	for _, e := range s.Get("env").List() {
		f.SecretText(e.Get("name").Text(), e.Get("value").Text(), e.Get("value"), where)
	}
	texts := s.Get("script").Scalars()
	if shell(s) {
		texts = append(texts, s.Get("args").Scalars()...)
		texts = append(texts, s.Get("command").Scalars()...)
	}
	for _, text := range texts {
		f.Script(pipeline.Script{Text: text, Where: where, Secret: pipeline.NamesSecret(text.Text())})
		for _, at := range param.FindAllStringSubmatchIndex(text.Text(), -1) {
			if name := text.Text()[max(at[2], at[4]):max(at[3], at[5])]; choice(params, name) {
				continue
			}
			f.Report("script-injection", f.Source.Part(text, at[0], at[1]-at[0]), pipeline.Weight{},
				"%s, which whoever starts the task chooses, becomes part of the script %s", text.Text()[at[0]:at[1]],
				where)
		}
		for _, at := range result.FindAllStringIndex(text.Text(), -1) {
			f.Report("script-injection", f.Source.Part(text, at[0], at[1]-at[0]),
				pipeline.As(finding.Medium, finding.Uncertain), "%s, which another task writes, becomes part of the "+
					"script %s", text.Text()[at[0]:at[1]], where)
		}
	}
}

// shell reports whether the container's command is a shell that runs its
// arguments as code.
func shell(s *document.Node) bool {
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

// choice reports whether a parameter can only be one of a list.
func choice(params *document.Node, name string) bool {
	for _, p := range params.List() {
		if p.Get("name").Text() == name {
			return len(p.Get("enum").List()) > 0
		}
	}
	return false
}
