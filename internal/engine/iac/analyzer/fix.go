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

// A fixer says what to type for the flaws of one tree.
type fixer struct {
	files  fs.FS
	editor remedy.Editor
}

// fixOf returns the edit that removes the flaw, or nil.
func (x *fixer) fixOf(f kics.Flaw) *finding.Fix {
	if f.Fix != nil || f.Unknown {
		return f.Fix
	}
	return x.editor.Propose(remedy.Target{Rule: f.Rule.ID, Path: f.Path, Line: f.Line, Name: writtenName(f),
		Key: f.Key},
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
func (x *fixer) fixOfMatch(f cloud.Flaw) *finding.Fix {
	read := func(name string) ([]byte, error) { return fs.ReadFile(x.files, name) }
	return x.editor.MergeTerraform(f.Finding.Location, read, f.Address, f.Arguments)
}
