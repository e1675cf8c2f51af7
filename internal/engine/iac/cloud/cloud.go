// Package cloud finds flaws in Terraform after it was evaluated: by the rules of
// package rules, which know arguments and their defaults, follow one resource to
// another, and read policies.
package cloud

import (
	_ "embed" // the manual

	"merlon/internal/engine/iac/rules"
	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds flaws in Terraform.
var Analyzer = &scan.Analyzer{
	ID:       "iac/cloud",
	Version:  1,
	Analysis: finding.IaC,
	Doc:      doc,
	Match:    terraform.Match,
	Project:  run,
}

func run(p *scan.ProjectPass) error {
	names := make([]string, 0, len(p.Files))
	for _, f := range p.Files {
		names = append(names, f.Path)
	}
	project, err := terraform.Load(p.Context, p.FS, names)
	if err != nil {
		return err
	}
	for _, problem := range project.Problems {
		p.Degrade(scan.Reason{Code: problem.Code, Message: problem.Message, Path: problem.Path, Line: problem.Line})
	}
	matches, err := rules.Check(p.Context, project)
	if err != nil {
		return err
	}
	for _, m := range matches {
		f := finding.Finding{Location: m.Place, Message: m.Message, Identity: m.Rule.ID + " " + m.Address}
		if m.Module != nil {
			f.Steps = append(m.Module.Steps(), m.Steps...)
		}
		p.Report(m.Rule, f)
	}
	return nil
}
