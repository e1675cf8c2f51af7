package cloud

import (
	_ "embed" // the manual

	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Doc is the part of the manual about these rules.
//
//go:embed doc.md
var Doc string

// A Flaw is a finding of one of the rules, and the address of its resource.
type Flaw struct {
	Rule    *finding.Rule
	Finding finding.Finding
	Address string

	// Arguments is code to merge into the resource, as of a Match.
	Arguments string
}

// Find runs the rules of the library on the project and returns what they find, without
// the matches that are known from elsewhere. What of the project could not be read
// degrades the pass.
func Find(p *scan.ProjectPass, project *terraform.Project, lib *Library,
	known func(Match) bool) ([]Flaw, error) {
	for _, problem := range project.Problems {
		p.Degrade(scan.Reason{Code: problem.Code, Message: problem.Message, Path: problem.Path, Line: problem.Line})
	}
	matches, err := lib.Check(p.Context, project)
	if err != nil {
		return nil, err
	}
	var out []Flaw
	for _, m := range matches {
		if known(m) {
			continue
		}
		f := finding.Finding{Location: m.Place, Message: m.Message, Identity: m.Rule.ID + " " + m.Address}
		if m.Module != nil {
			f.Steps = append(m.Module.Steps(), m.Steps...)
		}
		out = append(out, Flaw{m.Rule, f, m.Address, m.Arguments})
	}
	return out, nil
}
