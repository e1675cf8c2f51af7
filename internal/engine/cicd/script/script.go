// Package script reads the shell scripts that pipelines hold, line by line: what
// they write to the files of the runner, what they fetch and run, what they
// install. It is no shell: it knows the forms in which people write these
// things.
package script

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// A Line is a logical line of a script: continued lines are one.
type Line struct {
	Text   string // continuations joined
	Offset int    // of its first character that is not white space
	Length int    // in the script, up to its last character
}

// SplitLines splits a script. Comments are left out. A quoted line break is not
// recognized: such lines are analyzed one by one.
func SplitLines(text string) []Line {
	var out []Line
	for from := 0; from < len(text); {
		end := from
		for {
			nl := strings.IndexByte(text[end:], '\n')
			if nl < 0 {
				end = len(text)
				break
			}
			end += nl
			if !strings.HasSuffix(strings.TrimRight(text[from:end], "\r"), "\\") || end+1 >= len(text) {
				break
			}
			end++
		}
		raw := text[from:end]
		lead := len(raw) - len(strings.TrimLeft(raw, " \t\r\n"))
		trimmed := strings.TrimSpace(raw)
		if trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			out = append(out, Line{Text: joinContinuations(trimmed), Offset: from + lead, Length: len(trimmed)})
		}
		from = end + 1
	}
	return out
}

// continued matches the end of a line that goes on in the next one.
var continued = lazyregexp.New(`\\\r?\n\s*`)

// joinContinuations joins lines that end with a backslash, as the shell does.
func joinContinuations(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return continued.ReplaceAllString(s, " ")
}

// A Write is a value that a script hands to the runner.
type Write struct {
	Name   string // of the output or variable; "" when it is not plain to see
	Value  string // how the script makes it
	Offset int
	Length int
}

var (
	// plainWrite matches a command that prints name=value or name<<delimiter,
	// quoteWrite the form of PowerShell, and oldCommand the deprecated workflow
	// commands.
	plainWrite = lazyregexp.New(`(?i)(?:echo|printf|print|write-output|write-host|cat)\b\s*(?:-\w+\s+)*(?:['"]?%s\\n['"]?\s+)?['"]?([A-Za-z_][\w-]*)(=|<<)(.*)`)
	quoteWrite = lazyregexp.New(`^['"]([A-Za-z_][\w-]*)(=|<<)(.*)`)
	oldCommand = lazyregexp.New(`::set-(?:output|env) name=([\w-]+)::(.*)`)
)

// To matches a redirection into the runner's file, in a shell or PowerShell.
func redirectPattern(file string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(>>?\s*|tee\s+(?:-a\s+|--append\s+)?|-filepath\s+|-path\s+|add-content\s+(?:-path\s+)?)["']?\$(\{|env:|\{env:)?` + file + `\}?["']?|>>?\s*["']?%` + file + `%`)
}

// files are the files of the runner that take values, with the pattern of a command
// that writes to each.
var files = map[string]*lazyregexp.Regexp{"GITHUB_OUTPUT": redirectPattern("GITHUB_OUTPUT"),
	"GITHUB_ENV":  redirectPattern("GITHUB_ENV"),
	"GITHUB_PATH": redirectPattern("GITHUB_PATH")}

// ParseWrites returns what the script writes to GITHUB_OUTPUT, GITHUB_ENV or
// GITHUB_PATH.
func ParseWrites(text, file string) []Write {
	redirect := files[file]
	lines := SplitLines(text)
	var out []Write
	for i, l := range lines {
		at := redirect.FindStringIndex(l.Text)
		if at == nil {
			if m := oldCommand.FindStringSubmatch(l.Text); m != nil && isOldCommand(file, l.Text) {
				out = append(out, Write{Name: m[1], Value: m[2], Offset: l.Offset, Length: l.Length})
			}
			continue
		}
		before := strings.TrimSpace(l.Text[:at[0]])
		switch {
		case before == "}" || before == ")" || strings.HasPrefix(before, "done"):
			out = append(out, groupWrites(lines[:i], before)...)
		case strings.HasPrefix(strings.TrimSpace(l.Text), "cat") && strings.Contains(l.Text, "<<"):
			out = append(out, heredocWrites(lines[i+1:], l)...)
		default:
			out = append(out, parseWrite(l, before))
		}
	}
	return out
}

// isOldCommand reports whether the line has the old command that does what the file does.
func isOldCommand(file, line string) bool {
	return file == "GITHUB_OUTPUT" && strings.Contains(line, "::set-output") || file == "GITHUB_ENV" &&
		strings.Contains(line, "::set-env")
}

// takes matches what hands a text to the file at the end of a line.
var takes = lazyregexp.New(`(?i)\|\s*(?:(?:out-file|tee|add-content)\s*)?(?:-\w+\s*)*$`)

// parseWrite reads one line that writes name=value to a file of the runner. A line of
// another form is a write whose name is not known.
func parseWrite(l Line, text string) Write {
	text = takes.ReplaceAllString(text, "")
	w := Write{Value: text, Offset: l.Offset, Length: l.Length}
	m := plainWrite.FindStringSubmatch(text)
	if m == nil {
		m = quoteWrite.FindStringSubmatch(text)
	}
	if m != nil {
		w.Name, w.Value = m[1], strings.TrimRight(m[3], `"' |`)
	}
	return w
}

// prints matches a command that prints its arguments.
var prints = lazyregexp.New(`^(?:echo|printf)\b`)

// groupWrites returns what the lines of { … } >> file write. Its lines print what the
// block's redirection writes.
func groupWrites(before []Line, closing string) []Write {
	opening := map[string]string{"}": "{", ")": "("}[closing]
	from := len(before)
	for from > 0 {
		from--
		if before[from].Text == opening || opening == "" && strings.HasPrefix(before[from].Text, "for ") {
			break
		}
	}
	var out []Write
	for i := from; i < len(before); i++ {
		w := parseWrite(before[i], before[i].Text)
		if w.Name != "" && strings.Contains(before[i].Text, "<<") && i+1 < len(before) {
			w.Value = before[i+1].Text // the line between NAME<<EOF and EOF
			if !prints.MatchString(w.Value) {
				w.Value = "$(" + w.Value + ")"
			}
		}
		if w.Name != "" {
			out = append(out, w)
		}
	}
	return out
}

// assigned matches a line of a name and its value, as the files of the runner take it.
var assigned = lazyregexp.New(`^([A-Za-z_][\w-]*)=(.*)$`)

// heredocWrites returns what the lines of cat <<EOF >> file write. When it has no lines
// of the form NAME=value, the whole text is one write.
func heredocWrites(rest []Line, first Line) []Write {
	var out []Write
	for _, l := range rest {
		m := assigned.FindStringSubmatch(l.Text)
		if m == nil {
			break
		}
		out = append(out, Write{Name: m[1], Value: m[2], Offset: l.Offset, Length: l.Length})
	}
	if out == nil {
		out = []Write{{Value: first.Text, Offset: first.Offset, Length: first.Length}}
	}
	return out
}

// assignment matches a command that sets a variable of the shell.
var assignment = lazyregexp.New(`^(?:export\s+|local\s+|readonly\s+|\$)?([A-Za-z_]\w*)\s?=\s?(.*)$`)

// ParseAssignments returns the variables that the script sets, with how; the last one
// of a name counts. An assignment in a condition counts as made.
func ParseAssignments(text string) map[string]string {
	out := map[string]string{}
	for _, l := range SplitLines(text) {
		if m := assignment.FindStringSubmatch(l.Text); m != nil {
			out[m[1]] += " " + m[2]
		}
	}
	return out
}

var variable = lazyregexp.New(`\$(?:env:|\{env:|\{)?([A-Za-z_]\w*)`)

// ExpandedVariables returns the shell variables that a text expands.
func ExpandedVariables(text string) []string {
	var out []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// HasSubstitution reports whether the text holds the output of a command, $(…) or `…`, or
// reads a pipe, whose text is not known.
func HasSubstitution(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "|") ||
		strings.Contains(text, "<(")
}
