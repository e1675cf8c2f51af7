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

// Doc is the part of the manual about these rules.
//
//go:embed doc.md
var Doc string

// Report asks the project the rules and reports what they find, without the matches
// that are known from elsewhere, and what of the project could not be read.
func Report(p *scan.ProjectPass, project *terraform.Project, known func(rules.Match) bool) error {
	for _, problem := range project.Problems {
		p.Degrade(scan.Reason{Code: problem.Code, Message: problem.Message, Path: problem.Path, Line: problem.Line})
	}
	matches, err := rules.Check(p.Context, project)
	if err != nil {
		return err
	}
	for _, m := range matches {
		if known(m) {
			continue
		}
		f := finding.Finding{Location: m.Place, Message: m.Message, Identity: m.Rule.ID + " " + m.Address}
		if m.Module != nil {
			f.Steps = append(m.Module.Steps(), m.Steps...)
		}
		p.Report(m.Rule, f)
	}
	return nil
}
