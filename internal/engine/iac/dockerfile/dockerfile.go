// Package dockerfile reads Dockerfiles and Containerfiles into the form that the
// query library expects:
//
//	{"command": {"<FROM value>": [command, …]}, "args": [command, …]}
//
// where a command is {"Cmd", "SubCmd", "Flags", "Value", "Original",
// "_kics_line", "EndLine", "JSON"} and args are those before the first FROM. Build
// arguments and environment variables are put in where they are used.
//
// The format: https://docs.docker.com/reference/dockerfile/.
package dockerfile

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

// MaxSize bounds a file. The parser joins continued lines one by one, which takes
// the square of their number.
const MaxSize = 256 << 10

// Match reports whether a file with the name is a Dockerfile or Containerfile.
func Match(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch path.Ext(base) {
	case ".dockerfile", ".containerfile":
		return true
	// Documentation, programs and templates about Dockerfiles, such as "dockerfile.go".
	case ".md", ".txt", ".go", ".py", ".js", ".ts", ".sh", ".html", ".json", ".yaml", ".yml", ".dockerignore", ".tmpl",
		".tpl", ".j2":
		return false
	}
	for _, word := range []string{"dockerfile", "containerfile"} {
		if rest, ok := strings.CutPrefix(base, word); ok && (rest == "" || strings.ContainsAny(rest[:1], ".-_")) {
			return true
		}
	}
	return false
}

// Decode reads a file. Errors are a *document.Malformed, or errs.TooLarge.
func Decode(name string, text []byte) (*document.Document, error) {
	if len(text) > MaxSize {
		return nil, errs.E(errs.TooLarge, "%d bytes; Dockerfiles are read up to %d", len(text), MaxSize)
	}
	parsed, err := parseText(text)
	if err != nil {
		return nil, locateError(err)
	}
	d := decoder{
		stages: map[string]any{}, lines: map[string]*document.Node{},
		args: []any{}, argLines: &document.Node{Line: 1},
		count: map[string]int{}, global: scope{}, ends: map[string]scope{},
	}
	for _, n := range parsed.AST.Children {
		d.addInstruction(n)
	}
	first := 1
	if len(parsed.AST.Children) > 0 {
		first = parsed.AST.Children[0].StartLine
	}
	return &document.Document{
		Platform: document.Dockerfile, Format: document.Containers, Path: name, Text: text,
		Root: map[string]any{"command": d.stages, "args": d.args},
		Lines: &document.Node{Line: first, Fields: map[string]*document.Node{
			"command": {Line: first, Fields: d.lines},
			"args":    d.argLines,
		}},
	}, nil
}

// parseText calls the library, which panics on some malformed text.
func parseText(text []byte) (r *parser.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Dockerfile reader gave up: %v", p)
		}
	}()
	return parser.Parse(bytes.NewReader(text))
}

// locateError gives the error of the library its line.
func locateError(err error) error {
	m := &document.Malformed{Message: err.Error()}
	var at *parser.LocationError
	if asLocation(err, &at) {
		m.Message = at.Error()
		for _, ranges := range at.Locations {
			for _, r := range ranges {
				m.Line = r.Start.Line
				return m
			}
		}
	}
	return m
}

// A decoder goes through the instructions of one file.
type decoder struct {
	stages map[string]any
	lines  map[string]*document.Node

	args     []any
	argLines *document.Node

	stage string // "" before the first FROM
	// of stages by their FROM
	count map[string]int

	global scope            // ARG before the first FROM
	scope  scope            // of the stage
	ends   map[string]scope // by the name of a finished stage
}

// addInstruction adds one instruction to its stage.
func (d *decoder) addInstruction(n *parser.Node) {
	cmd := strings.ToLower(n.Value)
	line := n
	sub := ""
	if cmd == "onbuild" && n.Next != nil && len(n.Next.Children) > 0 {
		n = n.Next.Children[0]
		sub = strings.ToLower(n.Value)
	}
	values := []string{}
	for v := n.Next; v != nil; v = v.Next {
		values = append(values, v.Value)
	}
	values = expandHeredoc(line, values)
	values = d.applyVariables(cmd, values)
	if cmd == "from" {
		d.beginStage(line, values)
	}
	command := map[string]any{
		"Cmd": cmd, "SubCmd": sub, "Flags": listOrNil(line.Flags), "Value": listOrNil(values),
		"Original":   line.Original,
		"_kics_line": int64(line.StartLine), "EndLine": int64(line.EndLine), "JSON": n.Attributes["json"],
	}
	at := placeCommand(line.StartLine, command)
	if d.stage == "" {
		d.args = append(d.args, command)
		d.argLines.Items = append(d.argLines.Items, at)
		return
	}
	commands, _ := d.stages[d.stage].([]any)
	d.stages[d.stage] = append(commands, command)
	d.lines[d.stage].Items = append(d.lines[d.stage].Items, at)
}

// beginStage begins a stage. Stages with the same FROM are distinguished by a number.
func (d *decoder) beginStage(n *parser.Node, values []string) {
	name := strings.TrimSpace(n.Original[min(len(n.Original), len("FROM")):])
	d.count[name]++
	d.stage = name
	if d.count[name] > 1 {
		d.stage = fmt.Sprintf("%s(%d)", name, d.count[name]-1)
	}
	d.lines[d.stage] = &document.Node{Line: n.StartLine}
	d.scope = scope{}
	// A stage that builds on another starts with its variables.
	if len(values) > 0 {
		d.scope.addAll(d.ends[strings.ToLower(values[0])])
	}
	// FROM image AS name
	if len(values) == 3 {
		d.ends[strings.ToLower(values[2])] = d.scope // grows with the stage
	}
}

// expandHeredoc puts the lines of a here-document in the place of its opening, so that
// rules see what runs.
func expandHeredoc(n *parser.Node, values []string) []string {
	if n.Value != "RUN" && n.Value != "run" || len(n.Heredocs) == 0 || len(values) != 1 {
		return values
	}
	opening, _, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.HasPrefix(opening, "<<") {
		return values
	}
	var commands []string
	for _, l := range strings.Split(n.Heredocs[0].Content, "\n") {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			commands = append(commands, l)
		}
	}
	// With "#!" the text is a program of another language.
	if len(commands) == 0 || strings.HasPrefix(n.Heredocs[0].Content, "#!") {
		return values
	}
	return []string{strings.Join(commands, " && ")}
}

// placeCommand gives the whole instruction and each of its parts the line of its begin.
func placeCommand(line int, command map[string]any) *document.Node {
	at := &document.Node{Line: line, Fields: make(map[string]*document.Node, len(command))}
	for key, v := range command {
		below := &document.Node{Line: line}
		if items, ok := v.([]any); ok {
			for range items {
				below.Items = append(below.Items, &document.Node{Line: line})
			}
		}
		at.Fields[key] = below
	}
	return at
}

// listOrNil is null when it is empty, as the query library has it.
func listOrNil(s []string) any {
	if len(s) == 0 {
		return nil
	}
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}
