package audit

import (
	"fmt"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
)

// This file finds texts of others that become code: in scripts, and in the
// inputs of actions that run them.

// codeInputs lists the inputs of well-known actions whose text is run, by action.
var codeInputs = map[string][]string{
	"actions/github-script":                  {"script"},
	"jannekem/run-python-script-action":      {"script"},
	"azure/cli":                              {"inlinescript"},
	"azure/powershell":                       {"inlinescript"},
	"amadevus/pwsh-script":                   {"script"},
	"appleboy/ssh-action":                    {"script"},
	"addnab/docker-run-action":               {"run", "options"},
	"nick-fields/retry":                      {"command", "on_retry_command"},
	"nick-invision/retry":                    {"command"},
	"wandalen/wretry.action":                 {"command"},
	"reactivecircus/android-emulator-runner": {"script", "pre-emulator-launch-script"},
	"uraimo/run-on-arch-action":              {"run", "setup", "install"},
	"vmactions/freebsd-vm":                   {"run", "prepare"},
	"vmactions/openbsd-vm":                   {"run", "prepare"},
	"vmactions/netbsd-vm":                    {"run", "prepare"},
	"cross-platform-actions/action":          {"run"},
	"mikefarah/yq":                           {"cmd"},
	"sergeysova/jq-action":                   {"cmd"},
	"cardinalby/js-eval-action":              {"expression", "jsfile"},
	"satackey/action-js-inline":              {"run"},
	"devorbitus/yq-action-output":            {"cmd"},
	"roots/issue-closer-action":              {"issue-close-message", "pr-close-message"},
	"cypress-io/github-action": {"build", "command", "command-prefix", "install-command", "start",
		"wait-on"},
	"garygrossgarten/github-action-ssh": {"command"},
	"fifsky/ssh-action":                 {"command"},
	"d3rhase/ssh-command-action":        {"command"},
	"cloudflare/wrangler-action":        {"command", "precommands", "postcommands"},
	"gradle/gradle-build-action":        {"arguments"},
	"borales/actions-yarn":              {"cmd"},
	"bahmutov/npm-install":              {"install-command"},
	"snow-actions/eclint":               {"args"},
}

// codeSinks returns the texts of a step that are run as code, with the name of what
// runs them.
func codeSinks(s *actionlint.Step) map[string]*actionlint.String {
	out := map[string]*actionlint.String{}
	if r := workflow.RunOf(s); r != nil {
		out["the script"] = r.Run
		return out
	}
	a := workflow.UsesOf(s)
	if a == nil {
		return out
	}
	for _, name := range codeInputs[actionSlug(a.Uses.Value)] {
		if in := a.Inputs[name]; in != nil && in.Value != nil {
			out["input "+name+" of "+actionSlug(a.Uses.Value)] = in.Value
		}
	}
	return out
}

// actionSlug returns owner/name of what uses names, in lower case.
func actionSlug(uses string) string { return taint.ActionSlug(uses) }

// checkInjection reports expressions in scripts: the runner expands them before the
// shell reads the text, so quotes of the shell do not protect.
func checkInjection(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		texts := codeSinks(s)
		for _, v := range workflow.InOrder(texts, func(v *actionlint.String) *actionlint.Pos { return v.Pos }) {
			name := ""
			for n, t := range texts {
				if t == v {
					name = n
				}
			}
			for _, e := range expression.FindAll(v.Value) {
				p.reportInjection(b, i, name, v, e)
			}
		}
		if r := workflow.RunOf(s); r != nil {
			checkEvaluatedVariables(p, b, i, r)
		}
	}
}

// reportInjection reports an expression in code by who can choose its value.
func (p *Pass) reportInjection(b workflow.Body, i int, name string, v *actionlint.String, e expression.Expression) {
	if e.Root == nil {
		return
	}
	at := p.File.PartPlace(v, e.Offset, e.Length)
	worst, ok := taint.WorstOrigin(p.Flow.Origins(e.Root, taint.Site{Body: b, Step: i}))
	text := shorten("${{" + e.Text + "}}")
	if !ok || worst.Trust == taint.Safe || worst.Trust == taint.Secret {
		if _, constant := expression.ConstantValue(e.Root); !constant && len(expression.AllUses(e.Root)) > 0 {
			f := p.newFinding(at, "", "%s is put into %s before it runs, %s", text, name, describeStep(b, i))
			f.Fix = p.fixExpression(b, b.Steps[i], e)
			p.emit("expression-in-script", f)
		}
		return
	}
	f := p.newFinding(at, "", "%s", "")
	f.Fix = p.fixExpression(b, b.Steps[i], e)
	f.Steps = p.taintPath(worst, at, text)
	through := ""
	if worst.Context != "" && !strings.EqualFold(strings.TrimSpace(e.Text), worst.Context) {
		through = " (" + worst.Context + ")"
	}
	switch worst.Trust {
	case taint.Untrusted:
		f.Message = text + through + ", which is attacker-controlled, becomes part of " + name + " " +
			describeStep(b, i)
		if !p.isReachable() {
			f.Severity, f.Confidence = finding.Medium, finding.MediumConfidence
			if v := p.privilegeOf(b); v.secret == "" && v.weight == "" {
				f.Terms = append(f.Terms, lowered("the job has no secret and no right to write"))
			}
		}
		if isGuarded(p, b, b.Steps[i]) {
			f.Terms = append(f.Terms, lowered("a condition admits only trusted users"))
		}
		f.Cause = fmt.Sprintf("%s %s %s", p.File.Path, describeStep(b, i), text) // one edit for all of the same text
	case taint.Writers, taint.Callers:
		f.Severity, f.Confidence = finding.Low, finding.LowConfidence
		if worst.Trust == taint.Callers && p.isPublished() {
			f.Severity = finding.Medium // its users may pass what an attacker chooses
		} else {
			f.Terms = append(f.Terms, lowered("only "+describeTrust(worst.Trust)+" can choose the value"))
		}
		f.Cause = p.File.Path + " " + describeTrust(worst.Trust)
		f.Message = text + through + ", which " + describeTrust(worst.Trust) + " can choose, becomes part of " + name +
			" " +
			describeStep(b, i)
	default:
		f.Severity, f.Confidence = finding.Low, finding.LowConfidence
		f.Terms = append(f.Terms, lowered("nothing says that an attacker can choose the value"))
		f.Cause = p.File.Path + " unknown"
		f.Message = text + through + ", of which nothing is known, becomes part of " + name + " " + describeStep(b, i)
	}
	p.emit("template-injection", f)
}

// isPublished reports whether other repositories can use the file: an action at the root of its
// repository, which is where the marketplace expects it.
func (p *Pass) isPublished() bool {
	return p.File.Action != nil && !strings.Contains(strings.TrimPrefix(p.File.Path, p.File.Root), "/")
}

// describeTrust names for people who chooses a value of that trust.
func describeTrust(t taint.Trust) string {
	if t == taint.Writers {
		return "whoever may push or start the workflow"
	}
	return "whoever uses this"
}

// isReachable reports whether an event that attackers cause with more than a fork's
// rights can start the file: the token of pull_request from a fork can only read.
// Without one of those events the injection needs an insider, and is less severe.
func (p *Pass) isReachable() bool {
	if p.File.Workflow == nil {
		return true
	}
	for _, e := range p.File.Workflow.On {
		switch e.EventName() {
		case "pull_request", "schedule", "workflow_dispatch", "merge_group", "release":
		case "push":
		default:
			return true
		}
	}
	return false
}

// taintPath makes the steps of a finding. The message of each step is what the text
// went through.
func (p *Pass) taintPath(o taint.Origin, sink document.Place, text string) []finding.Step {
	var out []finding.Step
	for n, s := range o.Path {
		kind := finding.Intermediate
		if n == 0 {
			kind = finding.Source
		}
		out = append(out, finding.Step{Kind: kind, Message: shorten(s.Message),
			Location: locationOf(s.File.Path, s.Place)})
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, finding.Step{Kind: finding.Sink, Message: text + " becomes code",
		Location: locationOf(p.File.Path, sink)})
}

// checkEvaluatedVariables finds variables with an attacker's text that a script runs as code:
// taking the text through env is no help there.
func checkEvaluatedVariables(p *Pass, b workflow.Body, i int, r *actionlint.ExecRun) {
	for _, l := range script.SplitLines(r.Run.Value) {
		for _, name := range script.EvaluatedVariables(l.Text) {
			worst, ok := taint.WorstOrigin(p.Flow.ShellOrigins("$"+name, r.Run.Value, taint.Site{Body: b, Step: i}))
			if !ok || worst.Trust != taint.Untrusted {
				continue
			}
			at := p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			f := p.newFinding(at, "", "$%s contains %s, which is attacker-controlled, and is run as code %s", name,
				worst.Context,
				describeStep(b, i))
			f.Steps = p.taintPath(worst, at, "$"+name)
			p.emit("template-injection", f)
		}
	}
}
