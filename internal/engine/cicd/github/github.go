// Package github finds vulnerabilities in workflows and actions of GitHub Actions, and in
// the configuration of Dependabot. Local actions and reusable workflows are
// followed inside of the tree; nothing is fetched and nothing is run.
package github

import (
	_ "embed" // the manual
	"errors"
	"io/fs"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/audit"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in workflows of GitHub Actions.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/github",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return audit.Rules.All(), nil },
	Match:    isActionsFile,
	Project:  analyzeProject,
}

// isActionsFile reports whether the analyzer wants the file: a workflow, an action, or
// the configuration of Dependabot.
func isActionsFile(path string) bool {
	return workflow.IsWorkflow(path) || workflow.IsAction(path) || audit.IsDependabot(path)
}

// analyzeProject reads every file first, because a value may come from a workflow that
// calls another, and checks each of them then. A file that cannot be read degrades the
// analyzer and leaves the others.
func analyzeProject(p *scan.ProjectPass) error {
	var files []*workflow.File
	report, end := audit.Fold(p.Report)
	defer end()
	for _, f := range p.Files {
		if !isActionsFile(f.Path) {
			continue
		}
		if err := p.Context.Err(); err != nil {
			return err
		}
		b, ok := readFile(p, f)
		if !ok {
			continue
		}
		if audit.IsDependabot(f.Path) {
			if err := audit.Dependabot(f.Path, b, report); err != nil {
				recordFailure(p, f.Path, err)
			}
			continue
		}
		w, err := workflow.Read(f.Path, b)
		switch {
		case workflow.IsNoAction(err):
		case err != nil:
			recordFailure(p, f.Path, err)
		default:
			files = append(files, w)
		}
	}
	tree := workflow.NewTree(files)
	for _, f := range files {
		for _, fault := range f.Faults {
			p.Degrade(scan.Reason{Code: "malformed", Path: f.Path, Line: fault.Line, Message: fault.Message})
		}
		pass := &audit.Pass{Context: p.Context, File: f, Tree: tree, Flow: &taint.Tracker{Tree: tree},
			Advisories: p.Advisories, Out: report}
		if err := pass.Run(); err != nil {
			return err
		}
	}
	return nil
}

// readFile returns a file's content, and false when it cannot be had: too large or
// unreadable, which it records.
func readFile(p *scan.ProjectPass, f scan.File) ([]byte, bool) {
	if f.Size > pipeline.Limits.Size {
		if workflow.IsAction(f.Path) {
			return nil, false // no declaration of an action has that size
		}
		p.Degrade(scan.Reason{Code: "too-large", Path: f.Path, Message: "is larger than 4 MiB"})
		return nil, false
	}
	b, err := fs.ReadFile(p.FS, f.Path)
	if err != nil {
		p.Degrade(scan.Reason{Code: "unreadable", Path: f.Path, Message: err.Error()})
		return nil, false
	}
	return b, true
}

// recordFailure records a file that cannot be read, with the line where the error names
// one.
func recordFailure(p *scan.ProjectPass, path string, err error) {
	r := scan.Reason{Code: "malformed", Path: path, Message: err.Error()}
	var e *document.Error
	if errors.As(err, &e) {
		r.Line, r.Message = e.Line, e.Message
	}
	p.Degrade(r)
}
