package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/flow"
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

// sinks returns the texts of a step that are run as code, with the name of what
// runs them.
func sinks(s *actionlint.Step) map[string]*actionlint.String {
	out := map[string]*actionlint.String{}
	if r := workflow.Run(s); r != nil {
		out["the script"] = r.Run
		return out
	}
	a := workflow.Uses(s)
	if a == nil {
		return out
	}
	for _, name := range codeInputs[slug(a.Uses.Value)] {
		if in := a.Inputs[name]; in != nil && in.Value != nil {
			out["input "+name+" of "+slug(a.Uses.Value)] = in.Value
		}
	}
	return out
}

func slug(uses string) string { return flow.Slug(uses) }

func injection(p *Pass, b workflow.Body) {
	for i, s := range live(b) {
		texts := sinks(s)
		for _, v := range workflow.InOrder(texts, func(v *actionlint.String) *actionlint.Pos { return v.Pos }) {
			name := ""
			for n, t := range texts {
				if t == v {
					name = n
				}
			}
			for _, e := range expression.In(v.Value) {
				p.inject(b, i, name, v, e)
			}
		}
		if r := workflow.Run(s); r != nil {
			evaluated(p, b, i, r)
		}
	}
}

// inject reports an expression in code by who can choose its value.
func (p *Pass) inject(b workflow.Body, i int, name string, v *actionlint.String, e expression.Expression) {
	if e.Root == nil {
		return
	}
	at := p.File.Part(v, e.Offset, e.Length)
	worst, ok := flow.Worst(p.Flow.Origins(e.Root, flow.Place{Body: b, Step: i}))
	text := short("${{" + e.Text + "}}")
	if !ok || worst.Trust == flow.Safe || worst.Trust == flow.Secret {
		if _, constant := expression.Constant(e.Root); !constant && len(expression.All(e.Root)) > 0 {
			p.report("expression-in-script", at, "", "%s is put into %s before it runs, %s", text, name, where(b, i))
		}
		return
	}
	f := p.finding(at, "", "%s", "")
	f.Steps = p.path(worst, at, text)
	through := ""
	if worst.Context != "" && !strings.EqualFold(strings.TrimSpace(e.Text), worst.Context) {
		through = " (" + worst.Context + ")"
	}
	rule := Rules["template-injection"]
	switch worst.Trust {
	case flow.Anybody:
		f.Message = text + through + ", which anybody can choose, becomes part of " + name + " " + where(b, i)
		if !p.reachable() {
			f.Severity, f.Confidence = finding.Medium, finding.Likely
		}
	case flow.Writers, flow.Callers:
		f.Severity, f.Confidence = finding.Medium, finding.Uncertain
		f.Message = text + through + ", which " + who(worst.Trust) + " can choose, becomes part of " + name + " " +
			where(b, i)
	default:
		f.Severity, f.Confidence = finding.Low, finding.Uncertain
		f.Message = text + through + ", of which nothing is known, becomes part of " + name + " " + where(b, i)
	}
	p.Out(rule, f)
}

func who(t flow.Trust) string {
	if t == flow.Writers {
		return "whoever may push or start the workflow"
	}
	return "whoever uses this"
}

// reachable reports whether an event that strangers cause with more than a fork's
// rights can start the file: the token of pull_request from a fork can only read.
func (p *Pass) reachable() bool {
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

// path makes the steps of a finding.
func (p *Pass) path(o flow.Origin, sink document.Place, text string) []finding.Step {
	var out []finding.Step
	for n, s := range o.Path {
		kind := finding.Intermediate
		if n == 0 {
			kind = finding.Source
		}
		out = append(out, finding.Step{Kind: kind, Message: short(s.Message), Location: location(s.File.Path, s.Place)})
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, finding.Step{Kind: finding.Sink, Message: text + " becomes code",
		Location: location(p.File.Path, sink)})
}

// evaluated finds variables with a stranger's text that a script runs as code:
// taking the text through env is no help there.
func evaluated(p *Pass, b workflow.Body, i int, r *actionlint.ExecRun) {
	for _, l := range script.Lines(r.Run.Value) {
		for _, name := range script.Evaluated(l.Text) {
			worst, ok := flow.Worst(p.Flow.Shell("$"+name, r.Run.Value, flow.Place{Body: b, Step: i}))
			if !ok || worst.Trust != flow.Anybody {
				continue
			}
			at := p.File.Part(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			f := p.finding(at, "", "$%s holds %s, which anybody can choose, and is run as code %s", name, worst.Context,
				where(b, i))
			f.Steps = p.path(worst, at, "$"+name)
			p.Out(Rules["template-injection"], f)
		}
	}
}
