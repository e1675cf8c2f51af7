package scan

import (
	"strings"

	"merlon/internal/finding"
)

// This file keeps secrets that one analyzer has found out of what the others show of the
// same lines.

// maxRedactedLines bounds the lines that are remembered.
const maxRedactedLines = 200_000

// redactedLines are lines of files without the secrets that they hold, by path and number.
type redactedLines struct {
	lines map[string]map[int]string
	count int
}

// collectLines remembers the redacted lines that findings of secrets show.
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

// redactFinding puts the redacted lines into the snippets of a finding. Its fingerprint was made
// before and stays.
func (c *redactedLines) redactFinding(f *finding.Finding) {
	if f.Secret != nil || c.count == 0 {
		return
	}
	f.Snippet = c.redactSnippet(f.Location.Path, f.Snippet)
	for i := range f.Steps {
		f.Steps[i].Snippet = c.redactSnippet(f.Steps[i].Location.Path, f.Steps[i].Snippet)
	}
}

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
