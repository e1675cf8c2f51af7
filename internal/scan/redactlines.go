package scan

import (
	"strings"

	"merlon/internal/finding"
)

// This file redacts detected secrets from the snippets of all analyzers. Without it, a SAST
// finding on the same line would show the credential that the secret analyzer redacted.

// maxRedactedLines bounds the memory for redacted lines.
const maxRedactedLines = 200_000

// redactedLines are redacted lines of files, by path and line number.
type redactedLines struct {
	lines map[string]map[int]string
	count int
}

// collectLines records the redacted lines of the secret findings in the outcome.
func (c *redactedLines) collectLines(o *outcome) {
	for i := range o.hits {
		f := &o.hits[i].Finding
		if f.Secret == nil || f.Snippet == nil {
			continue
		}
		for n, line := range f.Snippet.Lines {
			if !strings.Contains(line, finding.Redacted) || c.count == maxRedactedLines {
				continue
			}
			if c.lines == nil {
				c.lines = map[string]map[int]string{}
			}
			if c.lines[f.Location.Path] == nil {
				c.lines[f.Location.Path] = map[int]string{}
			}
			c.lines[f.Location.Path][f.Snippet.StartLine+n] = line
			c.count++
		}
	}
}

// redactFinding replaces lines in the snippets of a finding by their redacted form. The
// fingerprint was computed before from the original code, so it does not change.
func (c *redactedLines) redactFinding(f *finding.Finding) {
	if f.Secret != nil || c.count == 0 {
		return
	}
	f.Snippet = c.redactSnippet(f.Location.Path, f.Snippet)
	for i := range f.Steps {
		f.Steps[i].Snippet = c.redactSnippet(f.Steps[i].Location.Path, f.Steps[i].Snippet)
	}
}

// redactSnippet returns a copy of the snippet with redacted lines, because findings share
// snippets.
func (c *redactedLines) redactSnippet(path string, s *finding.Snippet) *finding.Snippet {
	lines := c.lines[path]
	if s == nil || lines == nil {
		return s
	}
	out := &finding.Snippet{StartLine: s.StartLine, Lines: append([]string(nil), s.Lines...)}
	for i := range out.Lines {
		if line, ok := lines[out.StartLine+i]; ok {
			out.Lines[i] = line
		}
	}
	return out
}
