// Package buildah reads shell scripts that build images with buildah into the form
// that the query library expects: {"command": {"<image>": [{"Cmd": "buildah run",
// "Original", "Value", "_kics_line", "EndLine"}, …]}}, where the image is what the
// last "buildah from" names.
package buildah

import (
	"bytes"
	"path"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// Limits of one script.
const (
	MaxSize  = 1 << 20 // bytes
	maxDepth = 50      // commands inside of each other
)

// Match reports whether a file with the name may be such a script.
func Match(name string) bool {
	ext := path.Ext(name)
	return ext == ".sh" || ext == ".bash" || ext == ".buildah"
}

// Decode reads a script. The document is nil when the script does not call buildah.
// The error is errs.TooLarge.
func Decode(name string, text []byte) (*document.Document, error) {
	if !bytes.Contains(text, []byte("buildah ")) {
		return nil, nil
	}
	if len(text) > MaxSize {
		return nil, errs.E(errs.TooLarge, "%d bytes; scripts are read up to %d", len(text), MaxSize)
	}
	s := script{text: string(text), line: 1, stages: map[string]any{}, lines: map[string]*document.Node{}}
	for s.at < len(s.text) {
		s.readStatements(0)
		s.skipBytes(1) // a bracket too many
	}
	if len(s.stages) == 0 {
		return nil, nil
	}
	return &document.Document{
		Platform: document.Buildah, Format: document.Shell, Path: name, Text: text,
		Root:  map[string]any{"command": s.stages},
		Lines: &document.Node{Line: 1, Fields: map[string]*document.Node{"command": {Line: 1, Fields: s.lines}}},
	}, nil
}

// A script is a text that is being read. Of the shell's language it knows words,
// quotes, comments, what ends a command and commands inside of words.
type script struct {
	text string
	at   int
	line int
	// of the last "buildah from"; "" before the first
	stage string
	// commands by stage
	stages map[string]any
	lines  map[string]*document.Node
}

// A command is one command's words.
type command struct {
	words []string
	first int // line
	last  int
}

// skipBytes goes on by n bytes and counts their lines.
func (s *script) skipBytes(n int) {
	for stop := min(s.at+n, len(s.text)); s.at < stop; s.at++ {
		if s.text[s.at] == '\n' {
			s.line++
		}
	}
}

// readStatements reads commands up to the closing bracket, which it leaves.
func (s *script) readStatements(depth int) {
	var c command
	for s.at < len(s.text) {
		switch ch := s.text[s.at]; {
		case ch == ')':
			s.finishCommand(&c)
			return
		case ch == '\n' || ch == ';' || ch == '&' || ch == '|':
			s.finishCommand(&c)
			s.skipBytes(1)
		// "{" is a bracket only as a word of its own; "${x}" and "{a,b}" are parts of words.
		case ch == '(' || ch == '{' && len(c.words) == 0:
			s.finishCommand(&c)
			s.readGroup(ch, depth)
		case ch == '#':
			s.skipLine()
		case ch == ' ' || ch == '\t' || ch == '\r':
			s.skipBytes(1)
		case strings.HasPrefix(s.text[s.at:], "\\\n"):
			s.skipBytes(2)
		default:
			if len(c.words) == 0 {
				c.first = s.line
			}
			c.words = append(c.words, s.readWord(depth))
			c.last = s.line
		}
	}
	s.finishCommand(&c)
}

// readGroup reads what is in a bracket: of a subshell the commands, of braces only the
// bracket, because their commands run in the same shell.
func (s *script) readGroup(open byte, depth int) {
	s.skipBytes(1)
	if open == '(' && depth < maxDepth {
		s.readStatements(depth + 1)
		s.skipBytes(1)
	}
}

// skipLine skips a comment.
func (s *script) skipLine() {
	for s.at < len(s.text) && s.text[s.at] != '\n' {
		s.at++
	}
}

// readWord reads one word, and the commands in it.
func (s *script) readWord(depth int) string {
	var b strings.Builder
	quote := byte(0)
	for s.at < len(s.text) {
		ch := s.text[s.at]
		switch {
		case quote != '\'' && s.readSpecial(&b, depth):
			continue
		case quote != 0 && ch == quote:
			quote = 0
		case quote == 0 && (ch == '\'' || ch == '"'):
			quote = ch
		case quote == 0 && strings.IndexByte(" \t\r\n;&|()", ch) >= 0:
			return b.String()
		}
		if ch != '\n' && ch != '\t' && ch != '\r' {
			b.WriteByte(ch)
		}
		s.skipBytes(1)
	}
	return b.String()
}

// readSpecial reads what has a meaning in double quotes, too: an escaped byte, or a command
// in "$(…)", whose text is part of the word. It is false for anything else.
func (s *script) readSpecial(b *strings.Builder, depth int) bool {
	switch {
	case s.text[s.at] == '\\':
		if s.at+1 < len(s.text) && s.text[s.at+1] != '\n' {
			b.WriteByte(s.text[s.at+1]) // the library takes the sign away
		}
		s.skipBytes(2)
	case strings.HasPrefix(s.text[s.at:], "$(") && depth < maxDepth:
		from := s.at
		s.skipBytes(2)
		s.readStatements(depth + 1)
		s.skipBytes(1)
		b.WriteString(s.text[from:s.at])
	default:
		return false
	}
	return true
}

// finishCommand adds a finished command to its stage, when it is one of buildah's.
func (s *script) finishCommand(c *command) {
	words := c.words
	first, last := c.first, c.last
	*c = command{}
	if len(words) < 3 || words[0] != "buildah" {
		return
	}
	cmd := "buildah " + words[1]
	value := strings.Join(words[2:], " ")
	if words[1] == "from" {
		s.stage = value
		if s.lines[s.stage] == nil {
			s.lines[s.stage] = &document.Node{Line: first}
		}
	}
	if s.stage == "" {
		return
	}
	commands, _ := s.stages[s.stage].([]any)
	s.stages[s.stage] = append(commands, map[string]any{
		"Cmd": cmd, "Original": cmd + " " + value, "Value": value, "_kics_line": int64(first), "EndLine": int64(last),
	})
	at := &document.Node{Line: first, Fields: map[string]*document.Node{}}
	for _, key := range []string{"Cmd", "Original", "Value"} {
		at.Fields[key] = &document.Node{Line: first}
	}
	s.lines[s.stage].Items = append(s.lines[s.stage].Items, at)
}
