package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file finds attackers' texts that a command or the runner takes for more
// than a text, although the shell does not.

var (
	// programs matches a command with its program and files; expanded the arguments in
	// double quotes, in which the shell expands variables.
	programs = lazyregexp.New(`\b(sed|awk|gawk|mawk|perl)\s+((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^|;&"'])*)`)
	expanded = lazyregexp.New(`"((?:[^"\\]|\\.)*)"`)
)

// checkProgramArguments finds attackers' texts in programs of sed and awk: sed's e and w, and
// awk's system(), run commands and write files.
func checkProgramArguments(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		r := workflow.RunOf(s)
		if r == nil {
			continue
		}
		for _, l := range script.SplitLines(r.Run.Value) {
			for _, m := range programs.FindAllStringSubmatch(l.Text, -1) {
				p.checkProgram(b, i, l, m[1], m[2])
			}
		}
	}
}

// checkProgram checks the arguments of one command that the shell expands. What comes
// behind <<< is input, not a program.
func (p *Pass) checkProgram(b workflow.Body, i int, l script.Line, command, args string) {
	r := workflow.RunOf(b.Steps[i])
	args, _, _ = strings.Cut(args, "<<<")
	for _, arg := range expanded.FindAllStringSubmatch(args, -1) {
		if !strings.Contains(arg[1], "$") || plainFile.MatchString(arg[1]) {
			continue
		}
		worst, ok := taint.WorstOrigin(p.Flow.ShellOrigins(shellVariables(arg[1]), r.Run.Value,
			taint.Site{Body: b, Step: i}))
		if !ok || worst.Trust != taint.Untrusted {
			continue
		}
		at := p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
		f := p.newFinding(at, "", "%s, which is attacker-controlled, becomes part of a program "+
			"for %s, %s", worst.Context,
			command, describeStep(b, i))
		f.Steps = p.taintPath(worst, at, command)
		p.emit("argument-injection", f)
	}
}

// plainFile matches an argument that is a variable and nothing else: the name of a
// file, not a program.
var plainFile = lazyregexp.New(`^\$\{?\w+\}?$`)

// shellVariables returns the variables of an argument without its expressions, which are the
// business of another rule. The result is a text with "$name" for each, which the tracker reads.
func shellVariables(arg string) string {
	var out strings.Builder
	for _, v := range script.ExpandedVariables(arg) {
		out.WriteString(" $" + v)
	}
	return out.String()
}

// checkOutputClobbering finds outputs of a step that an attacker's text can overwrite: a line
// break in it begins another output.
func checkOutputClobbering(p *Pass, b workflow.Body) {
	if p.File.Workflow != nil && p.startingEvent(privileged) == "" {
		return
	}
	for i, s := range runnableSteps(b) {
		r := workflow.RunOf(s)
		if r == nil {
			continue
		}
		if strings.Contains(r.Run.Value, "::set-output") {
			p.checkPrintedText(b, i, r)
		}
		writes := script.ParseWrites(r.Run.Value, "GITHUB_OUTPUT")
		for _, w := range writes {
			heredoc := strings.Contains(r.Run.Value[w.Offset:w.Offset+min(w.Length, len(r.Run.Value)-w.Offset)], "<<")
			if w.Name != "" && !heredoc && writesOtherNames(writes, w.Name) {
				p.checkWrittenOutput(b, i, w)
			}
		}
	}
}

// checkWrittenOutput reports the first attacker's text of several lines that is written
// as name=value. A heredoc with a delimiter is the form that GitHub has for such texts.
func (p *Pass) checkWrittenOutput(b workflow.Body, i int, w script.Write) {
	r := workflow.RunOf(b.Steps[i])
	for _, o := range p.Flow.ShellOrigins(w.Value, r.Run.Value, taint.Site{Body: b, Step: i}) {
		if o.Trust != taint.Untrusted || !o.MayHaveLines() {
			continue
		}
		at := p.File.PartPlace(r.Run, w.Offset, min(w.Length, len(r.Run.Value)-w.Offset))
		f := p.newFinding(at, finding.MediumConfidence, "%s, which is attacker-controlled and may have several "+
			"lines, is written to GITHUB_OUTPUT and can overwrite the other outputs, %s", o.Context, describeStep(b, i))
		f.Steps = p.taintPath(o, at, "GITHUB_OUTPUT")
		p.emit("output-clobbering", f)
		return
	}
}

// writesOtherNames reports whether the script writes an output of another name, which a
// line break in this one could set.
func writesOtherNames(writes []script.Write, name string) bool {
	for _, w := range writes {
		if w.Name != "" && !strings.EqualFold(w.Name, name) {
			return true
		}
	}
	return false
}

// shown matches lines that print to the log, where the runner looks for commands.
var shown = lazyregexp.New(`^(?:echo|printf|cat|ls|head|tail|jq|grep|sed|awk|find)\b[^>]*$`)

// checkPrintedText finds attackers' texts in the log of a step that sets its outputs
// there: a line ::set-output in the text is a command like the script's own. GitHub
// withdrew the command for this reason, but runners still obey it.
func (p *Pass) checkPrintedText(b workflow.Body, i int, r *actionlint.ExecRun) {
	for _, l := range script.SplitLines(r.Run.Value) {
		if !shown.MatchString(l.Text) || strings.Contains(l.Text, "::set-output") {
			continue
		}
		text := l.Text
		if !strings.HasPrefix(text, "echo") && !strings.HasPrefix(text, "printf") {
			text = "$(" + text + ")"
		}
		for _, o := range p.Flow.ShellOrigins(text, r.Run.Value, taint.Site{Body: b, Step: i}) {
			if o.Trust != taint.Untrusted || !o.MayHaveLines() {
				continue
			}
			at := p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			f := p.newFinding(at, finding.MediumConfidence, "%s, which is attacker-controlled, is printed where the "+
				"step sets its "+
				"outputs by ::set-output, %s", o.Context, describeStep(b, i))
			f.Steps = p.taintPath(o, at, "the log")
			p.emit("output-clobbering", f)
			return
		}
	}
}
