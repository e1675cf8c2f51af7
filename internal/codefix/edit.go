package codefix

import (
	"slices"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
)

// This file applies edits to the text of a file.

// Apply returns the text with the edits, which are in the order of their lines and do not overlap.
// Line ends and the absence of a final newline stay as they are. Edits that do not fit the text
// are an Invalid error.
func Apply(text string, edits []finding.Edit) (string, error) {
	lines := splitLines(text)
	if err := checkEdits(edits, len(lines)); err != nil {
		return "", err
	}
	ending := "\n"
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		ending = "\r\n"
	}
	hasFinal := text == "" || strings.HasSuffix(text, "\n")
	// From the end, so that the numbers of the lines before stay true.
	for _, e := range slices.Backward(edits) {
		added := make([]string, len(e.Lines))
		for i, line := range e.Lines {
			added[i] = line + ending
		}
		lines = slices.Replace(lines, e.StartLine-1, e.EndLine, added...)
	}
	for i := range lines {
		if i < len(lines)-1 && !strings.HasSuffix(lines[i], "\n") {
			lines[i] += ending // it was the last line
		}
	}
	out := strings.Join(lines, "")
	if !hasFinal {
		out = strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r")
	}
	return out, nil
}

// splitLines returns the lines of a text with their ends.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// checkEdits returns an error for edits that do not fit a text of n lines.
func checkEdits(edits []finding.Edit, n int) error {
	if len(edits) == 0 {
		return errs.E(errs.Invalid, "the fix has no edits")
	}
	for i, e := range edits {
		switch {
		case e.StartLine < 1 || e.EndLine < e.StartLine-1 || e.EndLine > n:
			return errs.E(errs.Invalid, "lines %d to %d are not in the file, which has %d lines", e.StartLine,
				e.EndLine, n)
		case i > 0 && (overlaps(edits[i-1], e) || edits[i-1].StartLine > e.StartLine):
			return errs.E(errs.Invalid, "the edits of lines %d and %d overlap or are out "+
				"of order", edits[i-1].StartLine,
				e.StartLine)
		// A line end inside a line would make other lines than the edit says.
		case slices.ContainsFunc(e.Lines, func(s string) bool { return strings.ContainsAny(s, "\r\n") }):
			return errs.E(errs.Invalid, "the edit of line %d has a line end inside a line", e.StartLine)
		}
	}
	return nil
}

// overlaps reports whether two edits concern the same lines, or insert at the same place, where
// the result would depend on their order.
func overlaps(a, b finding.Edit) bool {
	insertA, insertB := a.EndLine < a.StartLine, b.EndLine < b.StartLine
	switch {
	case insertA && insertB:
		return a.StartLine == b.StartLine
	case insertA:
		return b.StartLine < a.StartLine && a.StartLine <= b.EndLine
	case insertB:
		return a.StartLine < b.StartLine && b.StartLine <= a.EndLine
	}
	return a.StartLine <= b.EndLine && b.StartLine <= a.EndLine
}

// conflict reports whether edits of two lists overlap.
func conflict(a, b []finding.Edit) bool {
	return slices.ContainsFunc(a, func(x finding.Edit) bool {
		return slices.ContainsFunc(b, func(y finding.Edit) bool { return overlaps(x, y) })
	})
}

// joinEdits returns the edits of two lists without conflict in the order of their lines. An
// insertion comes before the replacement of the line that it is put before.
func joinEdits(a, b []finding.Edit) []finding.Edit {
	out := slices.Concat(a, b)
	slices.SortStableFunc(out, func(x, y finding.Edit) int {
		if x.StartLine != y.StartLine {
			return x.StartLine - y.StartLine
		}
		return x.EndLine - y.EndLine
	})
	return out
}
