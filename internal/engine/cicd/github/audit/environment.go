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
	"merlon/internal/lazyregexp"
)

// This file looks at what scripts do: to the variables of later steps, with code
// from the network, with packages, and with secrets in their logs.

// environmentFiles finds values of others that become variables or folders of
// commands for the steps that follow.
func environmentFiles(p *Pass, b workflow.Body) {
	event := p.startedBy(privileged)
	if event == "" && p.File.Workflow != nil {
		return
	}
	for i, s := range live(b) {
		if a := workflow.Uses(s); a != nil {
			p.loaded(b, i, a)
		}
		r := workflow.Run(s)
		if r == nil {
			continue
		}
		for _, file := range []string{"GITHUB_ENV", "GITHUB_PATH"} {
			for _, w := range script.Writes(r.Run.Value, file) {
				p.environmentWrite(b, i, file, w, event)
			}
		}
	}
}

func (p *Pass) environmentWrite(b workflow.Body, i int, file string, w script.Write, event string) {
	value := w.Value
	if w.Name == "" && len(script.Reads(value)) > 0 {
		value = "$(" + value + ")" // the whole of a file, a line of it each
	}
	r := workflow.Run(b.Steps[i])
	worst, _ := flow.Worst(p.Flow.Shell(value, r.Run.Value, flow.Place{Body: b, Step: i}))
	fixed := !strings.ContainsAny(w.Value, "$`%") && !strings.Contains(w.Value, "|") && w.Name != "" ||
		!strings.ContainsAny(w.Value, "$`%|<")
	if fixed && worst.Trust != flow.Anybody || w.Name == "" && file == "GITHUB_PATH" && ownFolder.MatchString(w.Value) {
		return
	}
	at := p.File.Part(r.Run, w.Offset, min(w.Length, len(r.Run.Value)-w.Offset))
	f := p.finding(at, "", "A value that is not fixed is written to %s, %s", file, where(b, i))
	if event != "" {
		f.Message += ", and " + event + " lets strangers start it"
	}
	switch {
	case worst.Trust == flow.Anybody:
		f.Message = worst.Context + ", which anybody can choose, is written to " + file + ", " + where(b, i)
		f.Severity, f.Confidence = finding.High, finding.Certain
		if worst.OneLine && file == "GITHUB_ENV" && w.Name != "" {
			f.Severity, f.Confidence = finding.Medium, finding.Uncertain // no further variables can be added
		}
		f.Steps = p.path(worst, at, file)
	case event == "":
		f.Severity, f.Confidence = finding.Low, finding.Uncertain
	case worst.Trust == flow.Safe && worst.Context != "", worst.OneLine:
		f.Confidence = finding.Uncertain
	}
	p.Out(Rules["environment-injection"], f)
}

// loaders lists actions that make variables of what a file holds.
var loaders = words(`aarcangeli/load-dotenv xom9ikk/dotenv falti/dotenv-action cardinalby/export-env-action c-py/action-dotenv-to-setenv`)

// loaded finds actions that make variables of strangers' files, and scripts of
// actions/github-script that make them of strangers' texts.
func (p *Pass) loaded(b workflow.Body, i int, a *actionlint.ExecAction) {
	at := flow.Place{Body: b, Step: i}
	name := slug(a.Uses.Value)
	if loaders[name] {
		if o, ok := p.Flow.Foreign(at); ok {
			f := p.finding(p.File.Place(a.Uses), "", "%s makes variables of a file of %s, which anybody can "+
				"choose, %s", name, short(o.Context), where(b, i))
			f.Severity, f.Confidence = finding.High, finding.Likely
			p.Out(Rules["environment-injection"], f)
		}
	}
	if name != "actions/github-script" {
		return
	}
	if o, ok := flow.Worst(p.Flow.Exported(a, at)); ok && o.Trust == flow.Anybody {
		f := p.finding(p.File.Place(a.Uses), "", "%s, which anybody can choose, becomes a variable of later "+
			"steps, %s", o.Context, where(b, i))
		p.Out(Rules["environment-injection"], f)
	}
}

// ownFolder matches folders that the runner or the user's home give.
var ownFolder = lazyregexp.New(`^\s*echo\s+["']?(?:\$HOME|\$\{HOME\}|~|\$GITHUB_ACTION_PATH|\$\{\{\s*github\.action_path\s*\}\}|\$GITHUB_WORKSPACE|\$\{\{\s*github\.workspace\s*\}\}|\$RUNNER_TEMP|\$\(go env GOPATH\)|\$\(pwd\)|\$PWD)[\w./-]*["']?\s*$`)

const unsecure = "ACTIONS_ALLOW_UNSECURE_COMMANDS"

func insecureCommands(p *Pass, b workflow.Body) {
	if b.Job != nil && len(p.File.Jobs()) > 0 && p.File.Jobs()[0] == b.Job {
		p.unsecure(p.File.Workflow.Env, "for all jobs")
	}
	if b.Job != nil {
		p.unsecure(b.Job.Env, inJob(b.Job))
	}
	for i, s := range live(b) {
		p.unsecure(s.Env, where(b, i))
	}
}

func (p *Pass) unsecure(e *actionlint.Env, where string) {
	if e == nil {
		return
	}
	if e.Expression != nil {
		p.report("insecure-commands", p.File.Place(e.Expression), finding.Uncertain, "Which variables are set is "+
			"known only when the job runs; one could be %s, %s", unsecure, where)
		return
	}
	v := e.Vars[strings.ToLower(unsecure)]
	if v == nil || v.Value == nil {
		return
	}
	if text := strings.TrimSpace(v.Value.Value); strings.EqualFold(text, "true") || text == "1" {
		p.report("insecure-commands", p.File.Place(v.Name), "", "%s lets what a step prints set variables, %s",
			unsecure, where)
	}
}

var printed = lazyregexp.New(`(?:^|[;&|]\s*)(?:echo|printf|Write-Host|Write-Output)\b[^>]*\$\{\{\s*secrets\.`)

// scripts finds code from the network, and packages that no lock file fixes.
func scripts(p *Pass, b workflow.Body) {
	for i, s := range live(b) {
		r := workflow.Run(s)
		if r == nil {
			continue
		}
		for _, l := range script.Lines(r.Run.Value) {
			at := func() document.Place {
				return p.File.Part(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			}
			if script.Fetched(l.Text) {
				p.report("remote-script", at(), "", "A script is fetched and run at once, %s: %s", where(b, i),
					short(l.Text))
			}
			if host := script.Collector(l.Text); host != "" {
				p.report("request-collector", at(), "", "Something is sent to %s, where anybody can look at "+
					"requests, %s", host, where(b, i))
			}
			if what := script.AdHoc(l.Text); what != "" {
				p.report("adhoc-packages", at(), "", "%q installs what no lock file fixes, %s", what, where(b, i))
			}
		}
	}
}

// debugging finds logs that show more than they should, and doors into the
// runner.
func debugging(p *Pass, b workflow.Body) {
	var envs []*actionlint.Env
	if b.Job != nil {
		if p.File.Jobs()[0] == b.Job {
			envs = append(envs, p.File.Workflow.Env)
		}
		envs = append(envs, b.Job.Env)
	}
	for i, s := range live(b) {
		envs = append(envs, s.Env)
		if r := workflow.Run(s); r != nil {
			p.shownSecrets(b, i, r)
		}
		a := workflow.Uses(s)
		if a == nil || slug(a.Uses.Value) != "mxschmitt/action-tmate" && slug(a.Uses.Value) != "lhotari/action-upterm" {
			continue
		}
		f := p.finding(p.File.Place(a.Uses), "", "%s opens the runner to whoever reads the log, %s", slug(a.Uses.Value),
			where(b, i))
		if strings.EqualFold(with(a, "limit-access-to-actor"), "true") || with(a, "limit-access-to-users") != "" ||
			s.If != nil {
			f.Severity, f.Confidence = finding.Low, finding.Uncertain
		}
		p.Out(Rules["debug-mode"], f)
	}
	for _, e := range envs {
		for _, v := range workflow.Vars(e) {
			name := strings.ToUpper(v.Name.Value)
			if (name == "ACTIONS_STEP_DEBUG" || name == "ACTIONS_RUNNER_DEBUG") && v.Value != nil &&
				expressionTrue(v.Value.Value) {
				p.report("debug-mode", p.File.Place(v.Name), "", "%s fills the logs with everything that the "+
					"runner knows", v.Name.Value)
			}
		}
	}
}

func (p *Pass) shownSecrets(b workflow.Body, i int, r *actionlint.ExecRun) {
	text := r.Run.Value
	secret := strings.Contains(text, "secrets.") || secretIn(b.Steps[i].Env)
	for _, l := range script.Lines(text) {
		at := func() document.Place { return p.File.Part(r.Run, l.Offset, min(l.Length, len(text)-l.Offset)) }
		switch {
		case printed.MatchString(l.Text) && !strings.Contains(l.Text, "|") && !strings.Contains(l.Text, ">"):
			p.report("secret-in-log", at(), "", "A secret is printed into the log, %s", where(b, i))
		case secret && script.Traced(l.Text):
			p.report("secret-in-log", at(), finding.Likely, "The script prints every command with its secrets, %s",
				where(b, i))
		case secret && script.Listed(l.Text):
			p.report("secret-in-log", at(), finding.Likely, "The script prints every variable, secrets included, %s",
				where(b, i))
		}
	}
}

func secretIn(e *actionlint.Env) bool {
	for _, v := range workflow.Vars(e) {
		if v.Value == nil {
			continue
		}
		for _, x := range expression.In(v.Value.Value) {
			for _, u := range expression.Values(x.Root) {
				if strings.HasPrefix(u.Path, "secrets.") && u.Path != "secrets.github_token" {
					return true
				}
			}
		}
	}
	return false
}
