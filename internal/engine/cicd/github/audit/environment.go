package audit

import (
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/taint"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
)

// This file looks at what scripts do: to the variables of later steps, with code
// from the network, with packages, and with secrets in their logs.

// checkEnvironmentFiles finds values of others that become variables or folders of
// commands for the steps that follow. Later steps run with them, in the same job and
// with its secrets.
func checkEnvironmentFiles(p *Pass, b workflow.Body) {
	event := p.startingEvent(privileged)
	if event == "" && p.File.Workflow != nil {
		return
	}
	for i, s := range runnableSteps(b) {
		if a := workflow.UsesOf(s); a != nil {
			p.checkLoadedEnvironment(b, i, a)
		}
		r := workflow.RunOf(s)
		if r == nil {
			continue
		}
		for _, file := range []string{"GITHUB_ENV", "GITHUB_PATH"} {
			for _, w := range script.ParseWrites(r.Run.Value, file) {
				p.checkEnvironmentWrite(b, i, file, w, event)
			}
		}
	}
}

// checkEnvironmentWrite grades one write to GITHUB_ENV or GITHUB_PATH. Whoever chooses
// a line of either chooses code: LD_PRELOAD, NODE_OPTIONS, or a folder with a command
// of a well-known name.
func (p *Pass) checkEnvironmentWrite(b workflow.Body, i int, file string, w script.Write, event string) {
	value := w.Value
	if w.Name == "" && len(script.ParseReads(value)) > 0 {
		value = "$(" + value + ")" // the whole of a file, a line of it each
	}
	r := workflow.RunOf(b.Steps[i])
	worst, _ := taint.WorstOrigin(p.Flow.ShellOrigins(value, r.Run.Value, taint.Site{Body: b, Step: i}))
	if isFixedWrite(w) && worst.Trust != taint.Untrusted || w.Name == "" && file == "GITHUB_PATH" &&
		ownFolder.MatchString(w.Value) {
		return
	}
	at := p.File.PartPlace(r.Run, w.Offset, min(w.Length, len(r.Run.Value)-w.Offset))
	f := p.newFinding(at, "", "A value that is not fixed is written to %s, %s", file, describeStep(b, i))
	if event != "" {
		f.Message += ", and " + event + " lets untrusted users start it"
	}
	switch {
	case worst.Trust == taint.Untrusted:
		f.Message = worst.Context + ", which is attacker-controlled, is written to " + file + ", " + describeStep(b, i)
		f.Severity, f.Confidence = finding.High, finding.HighConfidence
		if worst.OneLine && file == "GITHUB_ENV" && w.Name != "" {
			f.Severity, f.Confidence = finding.Medium, finding.LowConfidence // no further variables can be added
		}
		f.Steps = p.taintPath(worst, at, file)
	case event == "":
		f.Severity, f.Confidence = finding.Low, finding.LowConfidence
		f.Terms = append(f.Terms, lowered("no event of untrusted users starts it"))
	case worst.Trust == taint.Safe && worst.Context != "", worst.OneLine:
		f.Confidence = finding.LowConfidence
		f.Terms = append(f.Terms, harmless("the value has no room for other variables"))
	default:
		f.Terms = append(f.Terms, lowered("nothing says that an attacker can choose the value"))
	}
	p.emit("environment-injection", f)
}

// isFixedWrite reports whether a script writes a literal: nothing is expanded in its
// value, and no command prints it.
func isFixedWrite(w script.Write) bool {
	return !strings.ContainsAny(w.Value, "$`%") && !strings.Contains(w.Value, "|") && w.Name != "" ||
		!strings.ContainsAny(w.Value, "$`%|<")
}

// loaders lists actions that make variables of what a file holds.
var loaders = wordSet(`aarcangeli/load-dotenv xom9ikk/dotenv falti/dotenv-action cardinalby/export-env-action c-py/action-dotenv-to-setenv`)

// checkLoadedEnvironment finds actions that make variables of attackers' files, and
// scripts of actions/github-script that make them of attackers' texts. Such a file can
// set NODE_OPTIONS or PATH as well.
func (p *Pass) checkLoadedEnvironment(b workflow.Body, i int, a *actionlint.ExecAction) {
	at := taint.Site{Body: b, Step: i}
	name := actionSlug(a.Uses.Value)
	if loaders[name] {
		if o, ok := p.Flow.UntrustedFiles(at); ok {
			f := p.newFinding(p.File.Place(a.Uses), "", "%s makes variables of a file of %s, which is "+
				"attacker-controlled, %s", name, shorten(o.Context), describeStep(b, i))
			f.Severity, f.Confidence = finding.High, finding.MediumConfidence
			p.emit("environment-injection", f)
		}
	}
	if name != "actions/github-script" {
		return
	}
	if o, ok := taint.WorstOrigin(p.Flow.ExportedOrigins(a, at)); ok && o.Trust == taint.Untrusted {
		f := p.newFinding(p.File.Place(a.Uses), "", "%s, which is attacker-controlled, becomes a variable of later "+
			"steps, %s", o.Context, describeStep(b, i))
		p.emit("environment-injection", f)
	}
}

// ownFolder matches folders that the runner or the user's home give.
var ownFolder = lazyregexp.New(`^\s*echo\s+["']?(?:\$HOME|\$\{HOME\}|~|\$GITHUB_ACTION_PATH|\$\{\{\s*github\.action_path\s*\}\}|\$GITHUB_WORKSPACE|\$\{\{\s*github\.workspace\s*\}\}|\$RUNNER_TEMP|\$\(go env GOPATH\)|\$\(pwd\)|\$PWD)[\w./-]*["']?\s*$`)

// unsecure is the variable that switches the deprecated workflow commands on.
const unsecure = "ACTIONS_ALLOW_UNSECURE_COMMANDS"

// checkInsecureCommands finds jobs that switch the workflow commands set-env and
// add-path back on. GitHub disabled them because whatever a step prints, such as the
// title of an issue, could then set variables (CVE-2020-15228).
func checkInsecureCommands(p *Pass, b workflow.Body) {
	if b.Job != nil && len(p.File.Jobs()) > 0 && p.File.Jobs()[0] == b.Job {
		p.checkUnsecureCommands(p.File.Workflow.Env, "for all jobs")
	}
	if b.Job != nil {
		p.checkUnsecureCommands(b.Job.Env, describeJob(b.Job))
	}
	for i, s := range runnableSteps(b) {
		p.checkUnsecureCommands(s.Env, describeStep(b, i))
	}
}

// checkUnsecureCommands checks the variables of one level: of the workflow, a job or a
// step. where says which for the message.
func (p *Pass) checkUnsecureCommands(e *actionlint.Env, where string) {
	if e == nil {
		return
	}
	if e.Expression != nil {
		p.report("insecure-commands", p.File.Place(e.Expression), finding.LowConfidence, "Which variables are set is "+
			"known only when the job runs; one could be %s, %s", unsecure, where)
		return
	}
	v := e.Vars[strings.ToLower(unsecure)]
	if v == nil || v.Value == nil {
		return
	}
	if text := strings.TrimSpace(v.Value.Value); strings.EqualFold(text, "true") || text == "1" {
		f := p.newFinding(p.File.Place(v.Name), "", "%s lets what a step prints set variables, %s", unsecure, where)
		f.Fix = p.fixVariable(v)
		p.emit("insecure-commands", f)
	}
}

// printed matches a line that prints a secret. A redirection is no print.
var printed = lazyregexp.New(`(?:^|[;&|]\s*)(?:echo|printf|Write-Host|Write-Output)\b[^>]*\$\{\{\s*secrets\.`)

// checkScripts finds code from the network, and packages that no lock file fixes. What
// they fetch runs with the secrets of the job, and nobody has reviewed it.
func checkScripts(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		r := workflow.RunOf(s)
		if r == nil {
			continue
		}
		for _, l := range script.SplitLines(r.Run.Value) {
			at := func() document.Place {
				return p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset))
			}
			if script.RunsRemoteScript(l.Text) {
				p.reportRemoteScript(b, i, at(), l.Text)
			}
			if host := script.RequestCollector(l.Text); host != "" {
				p.report("request-collector", at(), "", "Something is sent to %s, a public request inspection "+
					"service, %s", host, describeStep(b, i))
			}
			if what := script.UnlockedInstall(l.Text); what != "" {
				p.reportInstall(b, i, at(), what)
			}
		}
	}
}

// reportRemoteScript reports a script that is downloaded and executed. What it can do is what the
// job can do: it may change the files and variables of the steps that follow, so a token that
// can write is as good as its own.
func (p *Pass) reportRemoteScript(b workflow.Body, step int, at document.Place, line string) {
	f := p.newFinding(at, "", "A script is fetched and run at once, %s: %s", describeStep(b, step), shorten(line))
	v := p.privilegeOf(b)
	if v.weight.Rank() > finding.Low.Rank() {
		f.Message += "; the token of the job may write " + v.scope
	}
	f.Terms = v.terms()
	switch {
	case strings.Contains(line, "codecov.io/bash"):
		// The script was replaced for two months in 2021 by one that sent the variables of all who ran
		// it to a server of attackers, and is no longer maintained.
		f.Severity = finding.Medium
		f.Message += "; this script was retired after it had been used to steal secrets"
		f.Terms = nil
	case commitInURL.MatchString(line):
		f.Terms = append(f.Terms, lowered("the address names a commit"))
	}
	p.emit("remote-script", f)
}

// commitInURL matches the address of a file in a fixed commit.
var commitInURL = lazyregexp.New(`https://\S*/[0-9a-f]{40}/`)

// reportInstall reports packages that no lock file fixes. The registry, unlike any server of the
// network, removes malicious versions, so that it weighs one point less than a remote script.
func (p *Pass) reportInstall(b workflow.Body, step int, at document.Place, command string) {
	f := p.newFinding(at, "", "%q installs what no lock file fixes, %s", command, describeStep(b, step))
	f.Terms = append(capTerms(p.privilegeOf(b).terms(), severity.Raised), lowered("the registry removes malicious "+
		"versions"))
	switch {
	case script.HasExactVersions(command):
		f.Terms = append(f.Terms, lowered("the version is fixed"))
	case strings.HasPrefix(command, "npx ") && !strings.Contains(command, "@") && !npxFetches.MatchString(command) ||
		strings.HasPrefix(command, "npx ") && installsProject(b.Steps[:step]):
		f.Terms = append(f.Terms, lowered("npx takes an installed dependency first"))
	}
	p.emit("adhoc-packages", f)
}

// npxFetches matches the options with which npx is meant to fetch.
var npxFetches = lazyregexp.New(`^npx\s+(?:-\S+\s+)*(?:-y|--yes|-p|--package)\b`)

// projectInstall matches commands that install what the lock file of the project names.
var projectInstall = lazyregexp.New(`(?:^|[\s;&|(])(?:npm\s+(?:ci|install|i)|pnpm\s+(?:i|install)|yarn(?:\s+install)?|bun\s+(?:i|install))(?:\s+-\S+)*\s*(?:$|[;&|\n])`)

// installsProject reports whether a step installs the dependencies of the project.
func installsProject(steps []*actionlint.Step) bool {
	for _, s := range steps {
		if r := workflow.RunOf(s); r != nil && projectInstall.MatchString(r.Run.Value) {
			return true
		}
		if a := workflow.UsesOf(s); a != nil && strings.HasPrefix(a.Uses.Value, "./") {
			return true // actions of the tree often install
		}
	}
	return false
}

// checkDebugging finds logs that show more than they should, and remote shells into the
// runner.
func checkDebugging(p *Pass, b workflow.Body) {
	var envs []*actionlint.Env
	if b.Job != nil {
		if p.File.Jobs()[0] == b.Job { // the workflow's own are checked once, with its first job
			envs = append(envs, p.File.Workflow.Env)
		}
		envs = append(envs, b.Job.Env)
	}
	for i, s := range runnableSteps(b) {
		envs = append(envs, s.Env)
		if r := workflow.RunOf(s); r != nil {
			p.checkPrintedSecrets(b, i, r)
		}
		if a := workflow.UsesOf(s); a != nil {
			p.checkRemoteShell(b, i, a)
		}
	}
	for _, e := range envs {
		p.checkDebugSettings(e)
	}
}

// checkRemoteShell finds actions that open a shell on the runner to whoever reads the
// log. A list of users, or a step that only runs by hand or after a failure, limits it.
func (p *Pass) checkRemoteShell(b workflow.Body, i int, a *actionlint.ExecAction) {
	slug := actionSlug(a.Uses.Value)
	if slug != "mxschmitt/action-tmate" && slug != "lhotari/action-upterm" {
		return
	}
	f := p.newFinding(p.File.Place(a.Uses), "", "%s opens the runner to whoever reads the log, %s", slug,
		describeStep(b, i))
	if strings.EqualFold(inputText(a, "limit-access-to-actor"), "true") ||
		inputText(a, "limit-access-to-users") != "" || b.Steps[i].If != nil {
		f.Severity, f.Confidence = finding.Low, finding.LowConfidence
	}
	p.emit("debug-mode", f)
}

// checkDebugSettings finds the variables that make the runner log all it does.
// https://docs.github.com/en/actions/how-tos/monitor-workflows/enable-debug-logging
func (p *Pass) checkDebugSettings(e *actionlint.Env) {
	for _, v := range workflow.OrderedVars(e) {
		name := strings.ToUpper(v.Name.Value)
		if (name == "ACTIONS_STEP_DEBUG" || name == "ACTIONS_RUNNER_DEBUG") && v.Value != nil &&
			expressionTrue(v.Value.Value) {
			f := p.newFinding(p.File.Place(v.Name), "", "%s writes all variables of the runner to "+
				"the log", v.Name.Value)
			f.Fix = p.fixVariable(v)
			p.emit("debug-mode", f)
		}
	}
}

// checkPrintedSecrets finds lines that print secrets. GitHub hides the exact text of a
// secret in logs, but not its parts, its encodings, or a secret of several lines.
func (p *Pass) checkPrintedSecrets(b workflow.Body, i int, r *actionlint.ExecRun) {
	text := r.Run.Value
	secret := strings.Contains(text, "secrets.") || hasSecret(b.Steps[i].Env)
	for _, l := range script.SplitLines(text) {
		at := func() document.Place { return p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(text)-l.Offset)) }
		switch {
		case printed.MatchString(l.Text) && !strings.Contains(l.Text, "|") && !strings.Contains(l.Text, ">"):
			p.report("secret-in-log", at(), "", "A secret is printed into the log, %s", describeStep(b, i))
		case secret && script.EnablesTracing(l.Text):
			p.report("secret-in-log", at(), finding.MediumConfidence, "The script prints every command with its "+
				"secrets, %s",
				describeStep(b, i))
		case secret && script.PrintsEnvironment(l.Text):
			p.report("secret-in-log", at(), finding.MediumConfidence, "The script prints every variable, secrets "+
				"included, %s",
				describeStep(b, i))
		}
	}
}

// hasSecret reports whether a variable is set from a secret. The token of the job does
// not count: it expires with the job.
func hasSecret(e *actionlint.Env) bool {
	for _, v := range workflow.OrderedVars(e) {
		if v.Value == nil {
			continue
		}
		for _, x := range expression.FindAll(v.Value.Value) {
			for _, u := range expression.Values(x.Root) {
				if strings.HasPrefix(u.Path, "secrets.") && u.Path != "secrets.github_token" &&
					!harmlessSecret.MatchString(u.Path) {
					return true
				}
			}
		}
	}
	return false
}
