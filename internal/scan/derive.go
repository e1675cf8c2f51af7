package scan

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"merlon/internal/finding"
)

// This file fills in what of a finding follows from its rule and the file.

// derive completes the sorted findings of the analyzer. text returns the content
// of a file, or nil when it cannot be had.
func (o *outcome) derive(a *Analyzer, text func(path string) []byte) {
	source := sources{text: text, open: map[string]lines{}}
	ordinals := map[finding.Fingerprint]int{}
	for i := range o.hits {
		h := &o.hits[i]
		f := &h.Finding
		f.RuleID, f.Analyzer, f.Analysis = h.rule.ID, a.ID, a.Analysis
		if f.Severity.Rank() == 0 {
			f.Severity = h.rule.Severity
		}
		if f.Severity.Rank() == 0 {
			f.Severity = finding.Medium
		}
		f.Message = clip(cmp.Or(f.Message, h.rule.ShortDescription, h.rule.Name), maxText)
		f.Language = cmp.Or(f.Language, h.rule.Language, Language(f.Location.Path))
		if f.Location.StartLine > 0 && f.Location.EndLine < f.Location.StartLine {
			f.Location.EndLine = f.Location.StartLine
		}
		if f.Secret == nil {
			source.illustrate(f)
		}
		identity := cmp.Or(f.Identity, f.Message)
		first := finding.Print(f.RuleID, f.Location.Path, identity, 0)
		f.Fingerprint = finding.Print(f.RuleID, f.Location.Path, identity, ordinals[first])
		ordinals[first]++
		f.Location.Path = printable(f.Location.Path)
	}
	for i := range o.packages {
		o.packages[i].Path = printable(o.packages[i].Path)
	}
}

// sources cuts snippets out of files and keeps the last few of them.
type sources struct {
	text func(path string) []byte
	open map[string]lines
}

func (s *sources) lines(path string) lines {
	if l, ok := s.open[path]; ok {
		return l
	}
	if len(s.open) == 8 {
		clear(s.open)
	}
	l := split(s.text(path))
	s.open[path] = l
	return l
}

// illustrate adds the snippets of a finding and its steps, and its identity:
// the flagged code.
func (s *sources) illustrate(f *finding.Finding) {
	if f.Location.StartLine > 0 {
		l := s.lines(f.Location.Path)
		if f.Snippet == nil {
			f.Snippet = l.snippet(f.Location)
		}
		if f.Identity == "" {
			f.Identity = l.code(f.Location)
		}
	}
	if n := len(f.Steps); n > maxSteps {
		// The ends tell where the data comes from and what it does.
		f.Steps = append(f.Steps[:maxSteps/2:maxSteps/2], f.Steps[n-maxSteps/2:]...)
	}
	for i := range f.Steps {
		step := &f.Steps[i]
		if step.Snippet == nil && step.Location.StartLine > 0 {
			step.Snippet = s.lines(step.Location.Path).snippet(step.Location)
		}
		step.Location.Path = printable(step.Location.Path)
		step.Message = clip(step.Message, maxText)
	}
}

// lines is a text with the offsets at which its lines begin.
type lines struct {
	text   []byte
	starts []int
}

func split(text []byte) lines {
	l := lines{text: text, starts: make([]int, 0, bytes.Count(text, []byte{'\n'})+1)}
	for at := 0; at < len(text); {
		l.starts = append(l.starts, at)
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return l
}

// line returns line n, which starts at 1, without its end.
func (l lines) line(n int) []byte {
	if n < 1 || n > len(l.starts) {
		return nil
	}
	end := len(l.text)
	if n < len(l.starts) {
		end = l.starts[n]
	}
	return bytes.TrimRight(l.text[l.starts[n-1]:end], "\r\n")
}

// snippet returns the lines of the place and some around it, and nil when the
// file has no such line.
func (l lines) snippet(at finding.Location) *finding.Snippet {
	if at.StartLine > len(l.starts) {
		return nil
	}
	first := max(at.StartLine-around, 1)
	last := min(max(at.EndLine, at.StartLine)+around, len(l.starts), first+maxSnippet-1)
	s := &finding.Snippet{StartLine: first}
	for n := first; n <= last; n++ {
		s.Lines = append(s.Lines, clip(string(l.line(n)), maxLine))
	}
	return s
}

// code returns the text of the place: between its columns when both are known,
// else its whole lines.
func (l lines) code(at finding.Location) string {
	var b strings.Builder
	last := max(at.EndLine, at.StartLine)
	for n := at.StartLine; n <= min(last, len(l.starts)); n++ {
		line := l.line(n)
		if at.StartColumn > 0 && at.EndColumn > 0 {
			if n == last {
				line = line[:column(line, at.EndColumn)]
			}
			if n == at.StartLine {
				line = line[column(line, at.StartColumn):]
			}
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// column returns the offset of the byte at which the column begins.
func column(line []byte, n int) int {
	at := 0
	for ; n > 1 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}

// clip returns the text as valid UTF-8 of at most n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// printable returns a path as valid UTF-8: bytes that are not are written as
// \xNN, so that different names stay apart.
func printable(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for i, r := range path {
		if r == utf8.RuneError && !strings.HasPrefix(path[i:], "\uFFFD") {
			fmt.Fprintf(&b, `\x%02X`, path[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Snippet returns the lines of the text around a place as a finding carries
// them. An analyzer that must not show the file as it is cuts its own snippets
// from a text that it has redacted.
func Snippet(text []byte, at finding.Location) *finding.Snippet { return split(text).snippet(at) }
