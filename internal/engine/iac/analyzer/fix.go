package analyzer

import (
	"io/fs"

	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/remedy"
	"merlon/internal/engine/iac/rules/cloud"
	"merlon/internal/finding"
)

// This file says what to type for a flaw: what the rule itself knows, else what its remedy merges
// into the resource.

// fixOf returns the edit that removes the flaw, or nil.
func fixOf(f kics.Flaw) *finding.Fix {
	if f.Fix != nil || f.Unknown {
		return f.Fix
	}
	return remedy.Propose(remedy.Target{Rule: f.Rule.ID, Path: f.Path, Line: f.Line, Name: writtenName(f), Key: f.Key},
		f.Document)
}

// writtenName returns the name of the resource in its file, without modules.
func writtenName(f kics.Flaw) string {
	if f.Document.Prefix != "" || len(f.Steps) < 3 || f.Steps[0] != "resource" {
		return ""
	}
	return f.Steps[1] + "." + f.Steps[2]
}

// fixOfMatch returns the edit that sets the arguments of a declarative rule, or nil.
func fixOfMatch(files fs.FS, f cloud.Flaw) *finding.Fix {
	if f.Arguments == "" {
		return nil
	}
	text, err := fs.ReadFile(files, f.Finding.Location.Path)
	if err != nil {
		return nil // a plan, or a file that is gone: there is nothing to edit
	}
	return remedy.MergeTerraform(f.Finding.Location, text, f.Address, f.Arguments)
}
