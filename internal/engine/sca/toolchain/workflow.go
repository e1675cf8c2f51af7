package toolchain

import (
	"bytes"
	"path"
	"strings"

	"merlon/internal/document"
	"merlon/internal/lazyregexp"
)

// This file reads which releases of Go workflows of GitHub set up
// (https://github.com/actions/setup-go).

// limits bound a workflow.
var limits = document.Limits{Size: 1 << 20, Depth: 60, Values: 50_000}

// expression matches a value that one variable of the environment or the matrix gives.
var expression = lazyregexp.New(`^\$\{\{\s*(env|matrix|inputs)\.([\w-]+)\s*\}\}$`)

// workflowBuilds returns the releases that the steps of a workflow set up. One that reads the
// go.mod says nothing that the go.mod does not say.
func workflowBuilds(t Tree, file string, environment map[string]string) []Build {
	content := t.Read(file)
	if !bytes.Contains(content, []byte("setup-go")) {
		return nil
	}
	doc, err := document.ParseFirst(content, limits)
	if err != nil {
		return nil
	}
	var out []Build
	jobs := doc.Get("jobs").Members()
	if runs := doc.Get("runs"); runs != nil { // of an action
		jobs = append(jobs, document.Member{Node: runs})
	}
	for _, job := range jobs {
		for _, step := range job.Get("steps").List() {
			if uses, _, _ := strings.Cut(step.Get("uses").Text(), "@"); path.Base(uses) != "setup-go" {
				continue
			}
			if named := step.At("with", "go-version-file").Text(); named != "" && path.Base(named) != "go.mod" &&
				path.Base(named) != "go.work" {
				if b, ok := versionFile(path.Clean(named), string(t.Read(path.Clean(named)))); ok {
					b.rank = workflowRank
					out = append(out, b)
				}
				continue
			}
			value := step.At("with", "go-version")
			for _, text := range resolveVersions(value, doc, job.Node, environment) {
				if b, ok := newBuild(file, value.Line, text, "actions/setup-go with "+text, workflowRank); ok {
					out = append(out, b)
				}
			}
		}
	}
	return out
}

// resolveVersions returns the values that an input can have: itself, or those that the
// environment or the matrix of the job gives to its variable.
func resolveVersions(value, doc, job *document.Node, environment map[string]string) []string {
	text := value.Text()
	m := expression.FindStringSubmatch(text)
	if m == nil {
		if text == "" || strings.Contains(text, "${{") {
			return nil
		}
		return []string{text}
	}
	if m[1] != "matrix" {
		for _, from := range []*document.Node{job.Get("env"), doc.Get("env")} {
			if n := from.Get(m[2]); n.IsScalar() {
				return []string{n.Text()}
			}
		}
		if v := environment[m[2]]; v != "" {
			return []string{v}
		}
		return nil
	}
	var out []string
	matrix := job.At("strategy", "matrix")
	for _, n := range matrix.Get(m[2]).List() {
		out = append(out, n.Text())
	}
	for _, include := range matrix.Get("include").List() {
		if n := include.Get(m[2]); n.IsScalar() {
			out = append(out, n.Text())
		}
	}
	return out
}
