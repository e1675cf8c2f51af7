package dependencies

import (
	"merlon/internal/engine/sca/reach"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file asks whether the program uses what is flawed.

// addReach says for each match of the lists whether the program's sources use the package. They
// are read once, and only when there is a match in an ecosystem that can be looked for.
func addReach(p *scan.ProjectPass, packages []finding.Package, lists [][]match) error {
	var asked []string
	for _, matches := range lists {
		for i := range matches {
			if e := matches[i].pkg.Ecosystem; reach.Supported(e) {
				asked = append(asked, e)
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	program, err := reach.Read(reach.Tree{Context: p.Context, FS: p.FS, Files: p.Files, Workers: p.Workers,
		Packages: packages}, asked)
	if err != nil {
		return err
	}
	for _, matches := range lists {
		for i := range matches {
			m := &matches[i]
			if reach.Supported(m.pkg.Ecosystem) {
				m.reach = program.Verdict(&m.pkg, reach.FlawOf(m.Symbols, m.Advisory.Summary+"\n"+m.Advisory.Details))
			}
		}
	}
	return nil
}
