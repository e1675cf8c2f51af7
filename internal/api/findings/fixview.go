package findings

import (
	"fmt"
	"strings"

	"merlon/internal/finding"
)

// This file shows the edit that removes a finding.

// fixBody is an edit of a file that removes the finding.
type fixBody struct {
	Description string     `json:"description"`
	Path        string     `json:"path"`
	Diff        string     `json:"diff,omitempty" doc:"Unified diff without context lines (git apply --unidiff-zero). Omitted when the replaced lines are not stored with the finding."`
	Edits       []lineEdit `json:"edits" doc:"Replacements of whole lines, in their order. An endLine of startLine-1 inserts before startLine."`
}

// lineEdit replaces whole lines.
type lineEdit struct {
	StartLine int      `json:"startLine"`
	EndLine   int      `json:"endLine"`
	Lines     []string `json:"lines"`
}

// viewFix returns the fix of a finding; nil without one.
func viewFix(f *finding.Finding) *fixBody {
	if f.Fix == nil {
		return nil
	}
	out := &fixBody{Description: f.Fix.Description, Path: f.Fix.Path, Diff: diffOf(f), Edits: []lineEdit{}}
	for _, e := range f.Fix.Edits {
		if e.Lines == nil { // lists are never null
			e.Lines = []string{}
		}
		out.Edits = append(out.Edits, lineEdit(e))
	}
	return out
}

// diffOf returns the fix as a unified diff. The file is not stored, only the lines around the
// finding: without a replaced line there is no diff.
func diffOf(f *finding.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", f.Fix.Path, f.Fix.Path)
	shift := 0 // of the lines of the new text
	for _, e := range f.Fix.Edits {
		removed := e.EndLine - e.StartLine + 1
		// An empty side names the line before it.
		oldStart, newStart := e.StartLine, e.StartLine+shift
		if removed == 0 {
			oldStart--
		}
		if len(e.Lines) == 0 {
			newStart--
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", oldStart, removed, newStart, len(e.Lines))
		for n := e.StartLine; n <= e.EndLine; n++ {
			line, ok := storedLine(f, n)
			if !ok {
				return ""
			}
			fmt.Fprintf(&b, "-%s\n", line)
		}
		for _, line := range e.Lines {
			fmt.Fprintf(&b, "+%s\n", line)
		}
		shift += len(e.Lines) - removed
	}
	return b.String()
}

// maxStoredLine is the length at which lines of snippets are cut: a longer one may not be whole.
const maxStoredLine = 400

// storedLine returns a line of the file of the fix that is in the snippet of the finding.
func storedLine(f *finding.Finding, n int) (string, bool) {
	s := f.Snippet
	if s == nil || f.Fix.Path != f.Location.Path || n < s.StartLine || n >= s.StartLine+len(s.Lines) {
		return "", false
	}
	line := s.Lines[n-s.StartLine]
	return line, len(line) < maxStoredLine-3 // a cut one may end with a mark or before a character
}
