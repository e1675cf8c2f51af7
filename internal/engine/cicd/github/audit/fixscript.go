package audit

import (
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file moves an expression out of a script: its value becomes a variable of the step, which the
// script expands in quotes.

// fixExpression returns the edit that moves an expression, in all places of the script, into a
// variable, or nil where the script cannot be edited safely: another shell than sh and bash, a here
// document, or a quoted program of another language.
func (p *Pass) fixExpression(b workflow.Body, s *actionlint.Step, e expression.Expression) *finding.Fix {
	r := workflow.RunOf(s)
	if r == nil || r.RunPos == nil || !p.runsShell(b, r) || hereDocument.MatchString(r.Run.Value) ||
		strings.Contains(e.Text, ": ") || strings.Contains(e.Text, " #") || strings.Contains(e.Text, "\n") {
		return nil
	}
	lines, first, ok := p.scriptLines(r)
	if !ok {
		return nil
	}
	name := variableName(e, s, r.Run.Value)
	literal := r.Run.Value[e.Offset : e.Offset+e.Length]
	text, ok := expandVariable(strings.Join(lines, "\n"), literal, name)
	if !ok {
		return nil
	}
	var edits []finding.Edit
	changed := strings.Split(text, "\n")
	for i, line := range changed {
		if line != lines[i] {
			edits = append(edits, replaceLine(first+i, line))
		}
	}
	if first == r.RunPos.Line && len(edits) > 0 {
		edits[0].Lines = asBlock(edits[0].Lines[0], r.RunPos.Col-1)
	}
	head, ok := p.addVariable(s, r, name, "${{ "+strings.TrimSpace(e.Text)+" }}")
	if !ok || len(edits) == 0 {
		return nil
	}
	if head.StartLine == r.RunPos.Line && head.EndLine == head.StartLine && edits[0].StartLine == head.StartLine {
		// the key and the script share their line, which moves below the variables
		column := r.RunPos.Col - 1
		edits[0].Lines[0] = indented(column, edits[0].Lines[0][column:])
		head.Lines = append(head.Lines[:len(head.Lines)-1], edits[0].Lines...)
		edits = edits[1:]
	}
	edits = append(edits, head)
	slices.SortStableFunc(edits, func(a, b finding.Edit) int { return a.StartLine - b.StartLine })
	return p.newFix("Pass the value in the variable "+name, edits...)
}

// asBlock returns the lines of a script that its key is on one line with. A script that begins with a
// quote would be a quoted scalar of YAML; it becomes a block.
func asBlock(line string, column int) []string {
	before, value, _ := strings.Cut(line, "run:")
	if value = strings.TrimSpace(value); !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, `'`) {
		return []string{line}
	}
	return []string{before + "run: |", indented(column+2, value)}
}

// hereDocument matches the start of a here document; <<< is none.
var hereDocument = lazyregexp.New(`(?:^|[^<])<<-?\s*["'\\]?\w`)

// runsShell reports whether the script runs in sh or bash.
func (p *Pass) runsShell(b workflow.Body, r *actionlint.ExecRun) bool {
	shell := r.Shell
	if b.Job != nil {
		for _, d := range []*actionlint.Defaults{b.Job.Defaults, p.File.Workflow.Defaults} {
			if shell == nil && d != nil && d.Run != nil {
				shell = d.Run.Shell
			}
		}
	}
	if shell != nil {
		return shellName.MatchString(shell.Value)
	}
	if b.Job == nil || b.Job.RunsOn == nil {
		return false
	}
	for _, l := range append(slices.Clone(b.Job.RunsOn.Labels), b.Job.RunsOn.LabelsExpr) {
		if l == nil {
			continue
		}
		for _, text := range p.possibleTexts(b.Job, l.Value) {
			if text == "" || strings.Contains(strings.ToLower(text), "windows") {
				return false // PowerShell is its default
			}
		}
	}
	return true
}

// shellName matches the shells that expand "${NAME}".
var shellName = lazyregexp.New(`^(?:bash|sh)(?:\s|$)`)

// scriptLines returns the lines of the file that hold the script, with the number of the first. It
// knows literal blocks and plain scalars of one line; others have no line of the file by line of the
// script.
func (p *Pass) scriptLines(r *actionlint.ExecRun) (lines []string, first int, ok bool) {
	head := p.File.Source.Line(r.RunPos.Line)
	if plainRun.MatchString(head) && !strings.Contains(r.Run.Value, "\n") {
		return []string{head}, r.RunPos.Line, strings.HasSuffix(strings.TrimSpace(head), strings.TrimSpace(r.Run.Value))
	}
	if !literalRun.MatchString(head) {
		return nil, 0, false
	}
	first = r.RunPos.Line + 1
	for i, want := range strings.Split(strings.TrimRight(r.Run.Value, "\n"), "\n") {
		line := p.File.Source.Line(first + i)
		if strings.TrimSpace(line) != strings.TrimSpace(want) {
			return nil, 0, false
		}
		lines = append(lines, line)
	}
	return lines, first, true
}

var (
	plainRun   = lazyregexp.New(`^\s*(?:-\s+)?run:\s+[^\s|>"'&*!{\[]`)
	literalRun = lazyregexp.New(`^\s*(?:-\s+)?run:\s+\|[-+]?\s*$`)
)

// otherProgram matches commands whose quoted arguments are programs. A value in one would be code
// again.
var otherProgram = lazyregexp.New(`\b(?:sed|g?awk|mawk|perl|jq|yq|python[\d.]*|node|ruby|php|eval|ssh|(?:ba|da|z)?sh|xargs|psql|mysql|find)\b`)

// expandVariable replaces a literal by the variable, quoted as its place needs, and reports whether
// every place was safe.
func expandVariable(text, literal, name string) (string, bool) {
	e := expander{text: text, literal: literal, name: name, quotes: []byte{0}}
	for e.at < len(text) {
		size, ok := e.next()
		if !ok {
			return "", false
		}
		e.at += size
	}
	return e.out.String(), true
}

// An expander copies a script and replaces the literal in it.
type expander struct {
	text, literal, name string
	at                  int
	out                 strings.Builder
	quotes              []byte // the open quote by level of $(…); 0 is none
}

// next copies what stands at the position, and returns its size. It is not ok where a variable would
// be code again, or would not be expanded.
func (e *expander) next() (size int, ok bool) {
	rest, quote := e.text[e.at:], e.quotes[len(e.quotes)-1]
	switch {
	case strings.HasPrefix(rest, e.literal):
		return len(e.literal), e.expand(quote)
	case strings.HasPrefix(rest, "${{"): // another expression, whose quotes are not the shell's
		end := strings.Index(rest, "}}")
		return e.copy(end + 2), end >= 0
	case quote == '\'':
		if rest[0] == '\'' {
			e.setQuote(0)
		}
	case rest[0] == '`':
		return 0, false // an older form of $(…), whose ends cannot be told apart
	case rest[0] == '\\' && len(rest) > 1:
		return e.copy(2), true
	case strings.HasPrefix(rest, "$("):
		e.quotes = append(e.quotes, 0)
		return e.copy(2), true
	case rest[0] == '"' && quote == '"':
		e.setQuote(0)
	case quote == '"':
	case rest[0] == ')' && len(e.quotes) > 1:
		e.quotes = e.quotes[:len(e.quotes)-1]
	case rest[0] == '#' && (e.at == 0 || strings.ContainsRune(" \t\n", rune(e.text[e.at-1]))):
		comment, _, _ := strings.Cut(rest, "\n") // its quotes count for nothing
		return e.copy(len(comment)), !strings.Contains(comment, e.literal)
	case rest[0] == '"' || rest[0] == '\'':
		e.setQuote(rest[0])
	}
	return e.copy(1), true
}

// copy copies n bytes, and returns n.
func (e *expander) copy(n int) int {
	e.out.WriteString(e.text[e.at : e.at+n])
	return n
}

// setQuote sets the open quote of the current level.
func (e *expander) setQuote(quote byte) { e.quotes[len(e.quotes)-1] = quote }

// expand writes the variable. On a line with a program of another language it is not safe.
func (e *expander) expand(quote byte) bool {
	line := e.text[strings.LastIndexByte(e.text[:e.at], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	switch quote {
	case '"':
		e.out.WriteString("${" + e.name + "}")
	case '\'':
		e.out.WriteString(`'"${` + e.name + `}"'`)
	default:
		e.out.WriteString(`"${` + e.name + `}"`)
	}
	return !otherProgram.MatchString(strings.ReplaceAll(line, e.literal, ""))
}

// addVariable returns the edit that adds a variable to the step. Without variables, they are put
// before the script; then the edit may replace the line of its key.
func (p *Pass) addVariable(s *actionlint.Step, r *actionlint.ExecRun, name, value string) (finding.Edit, bool) {
	if s.Env != nil {
		all := workflow.OrderedVars(s.Env)
		if s.Env.Expression != nil || len(all) == 0 || !p.startsLine(all[0].Name.Pos) {
			return finding.Edit{}, false
		}
		at := all[0].Name.Pos
		return insertBefore(at.Line, indented(at.Col-1, name+": "+value)), true
	}
	if !p.startsLine(r.RunPos) {
		return finding.Edit{}, false
	}
	line, column := p.File.Source.Line(r.RunPos.Line), r.RunPos.Col-1
	return replaceLine(r.RunPos.Line, line[:column]+"env:", indented(column+2, name+": "+value),
		indented(column, line[column:])), true
}

// reservedVariable matches names that mean something to the shell, the runner or to programs.
var reservedVariable = lazyregexp.New(`^(?:PATH|HOME|USER|SHELL|LANG|PWD|CI|IFS|ENV|BASH_ENV|TERM|TMPDIR|HOSTNAME|TOKEN|DEBUG|NODE_\w+|PYTHON\w+|LD_\w+|GITHUB_\w+|RUNNER_\w+|ACTIONS_\w+|GIT_\w+)$`)

// variableName returns a name for the value of an expression that the step does not use yet:
// ISSUE_TITLE for github.event.issue.title, VERSION for inputs.version.
func variableName(e expression.Expression, s *actionlint.Step, text string) string {
	parts := strings.Split(expression.ContextPath(e.Root), ".")
	if len(parts) > 2 && parts[0] == "github" { // github.event.issue.title
		parts = parts[len(parts)-2:]
	} else {
		parts = parts[len(parts)-1:]
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(strings.Join(parts, "_"))), "_0123456789")
	if name == "" {
		name = "VALUE"
	}
	used := map[string]bool{}
	for _, v := range workflow.OrderedVars(s.Env) {
		used[strings.ToUpper(v.Name.Value)] = true
	}
	for _, v := range script.ExpandedVariables(text) {
		used[v] = true
	}
	for v := range script.ParseAssignments(text) {
		used[v] = true
	}
	if reservedVariable.MatchString(name) {
		name = "VALUE_" + name
	}
	for used[name] {
		name += "_VALUE"
	}
	return name
}
