package cloud

import (
	"testing"

	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/scan/scantest"
)

// alone asks these rules and no others.
var alone = &scan.Analyzer{
	ID:       "iac/cloud",
	Version:  1,
	Analysis: finding.IaC,
	Doc:      Doc,
	Match:    terraform.Match,
	Project: func(p *scan.ProjectPass) error {
		var names []string
		for _, f := range p.Files {
			names = append(names, f.Path)
		}
		project, err := terraform.Load(p.Context, p.FS, names)
		if err != nil {
			return err
		}
		lib, err := For(project)
		if err != nil {
			return err
		}
		found, err := Find(p, project, lib, func(Match) bool { return false })
		for _, f := range found {
			p.Report(f.Rule, f.Finding)
		}
		return err
	},
}

func Test(t *testing.T) {
	scantest.Run(t, alone, func(o *scan.Options) { o.Profile = finding.AllProfile })
}
