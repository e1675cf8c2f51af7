package audit

import (
	"path"
	"strings"

	"github.com/rhysd/actionlint"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
)

// This file looks at which actions are used, and how firmly they are named.

// checkUses checks the actions of a job or an action: how firmly each is named, what is
// known of it, and whether a local one comes from the workflow's own commit.
func checkUses(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil {
			continue
		}
		if ref, ok := strings.CutPrefix(a.Uses.Value, "docker://"); ok {
			p.checkImage(b, ref, p.File.Place(a.Uses), describeStep(b, i))
			continue
		}
		p.checkReference(b, a.Uses, describeStep(b, i))
		p.checkLocalAction(b, i, a)
	}
}

var (
	// commit matches a whole commit, which nobody can move. The lengths are those of
	// SHA-1 and SHA-256.
	commit   = lazyregexp.New(`^(?i)(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	abridged = lazyregexp.New(`^(?i)[0-9a-f]{7,39}$`)
	digits   = lazyregexp.New(`^\d+$`)
	version  = lazyregexp.New(`^v?\d+(?:\.\d+)*(?:[-+.]\w+)*$`)
)

// checkReference reports what is wrong with the name of an action or a reusable
// workflow of another repository.
func (p *Pass) checkReference(b workflow.Body, u *actionlint.String, where string) {
	text := u.Value
	if isLocalReference(text) || strings.Contains(text, "${{") || text == "" {
		return
	}
	at := p.File.Place(u)
	name, ref, pinned := strings.Cut(text, "@")
	if clean := path.Clean(name); clean != name && name != "" {
		p.report("obfuscation", at, "", "The path of %s is written in a roundabout way: it is %s", shorten(text), clean)
		name = clean
	}
	f := p.newFinding(at, "", "%s is named by %q, which can be moved, %s", shorten(name), shorten(ref), where)
	switch {
	case !pinned || ref == "":
		f.Message = shorten(name) + " is named without a version " + where
		f.Severity, f.Confidence = finding.Medium, finding.HighConfidence
		p.reportUnpinned(b, name, f)
	case commit.MatchString(ref):
	case abridged.MatchString(ref) && !digits.MatchString(ref):
		f.Message = shorten(name) + " is named by a shortened commit, which a branch or tag of that name can " +
			"take over, " + where
		p.reportUnpinned(b, name, f)
	default:
		if !version.MatchString(ref) {
			f.Confidence = finding.MediumConfidence
		} else {
			f.Confidence = finding.LowConfidence
		}
		p.reportUnpinned(b, name, f)
	}
	p.checkKnownAction(b, u, actionSlug(text), ref, where)
}

// isLocalReference reports whether uses names a file of the workflow's own commit.
func isLocalReference(uses string) bool {
	return strings.HasPrefix(uses, "./") || strings.HasPrefix(uses, "$/") || strings.HasPrefix(uses, "../")
}

// platforms are owners of actions that also run the platforms which the actions speak to: who
// controls them has the credentials that one hands over anyway.
var platforms = wordSet(`docker aws-actions azure google-github-actions googleapis hashicorp microsoft dependabot astral-sh
	pypa ruby pulumi cloudflare gradle sigstore`)

// reportUnpinned reports an action by what its code can reach in the job. Actions of GitHub itself
// are a decision of their own: who does not trust GitHub cannot use the runner either.
func (p *Pass) reportUnpinned(b workflow.Body, name string, f finding.Finding) {
	owner, _, _ := strings.Cut(strings.ToLower(name), "/")
	if owner == "actions" || owner == "github" {
		f.Confidence = finding.LowConfidence
		f.Terms = append(f.Terms, lowered("the action is GitHub's own"))
		f.Cause = "actions of GitHub"
		p.emit("unpinned-uses", f)
		return
	}
	terms := p.privilegeOf(b).terms()
	if platforms[owner] {
		terms = append(terms, lowered("the owner runs the platform that the action speaks to"))
	}
	if p.Tree.IsOwner(owner) {
		terms = append(terms, lowered("the action is of the same owner"))
	}
	f.Terms = append(f.Terms, capTerms(terms, finding.High.Rank()-max(f.Severity.Rank(), finding.Low.Rank()))...)
	f.Cause = "actions of others"
	p.emit("unpinned-uses", f)
}

// checkKnownAction reports actions of which something is known: flaws, an end, a name that
// is nearly another's, and being unneeded.
func (p *Pass) checkKnownAction(b workflow.Body, u *actionlint.String, slug, ref, where string) {
	at := p.File.Place(u)
	p.checkVulnerableAction(u, slug, ref, where)
	if instead, ok := archived[slug]; ok {
		f := p.newFinding(at, "", "%s is no longer maintained, %s%s", slug, where, instead)
		f.Terms = capTerms(p.privilegeOf(b).terms(), severity.Raised)
		p.emit("archived-action", f)
	}
	if like := similarAction(slug); like != "" {
		p.report("typosquat-uses", at, "", "%s looks like %s and has another owner, %s", slug, like, where)
	}
	if instead, ok := superfluous[slug]; ok {
		p.report("superfluous-action", at, "", "%s does what the runner can do itself (%s), %s", slug, instead, where)
	}
}

// checkVulnerableAction looks the action up in the vulnerability data, by its tag, or by the
// version that the comment behind a commit names, and in the short list of our own.
func (p *Pass) checkVulnerableAction(u *actionlint.String, slug, ref, where string) {
	v := p.namedVersion(u, ref)
	if v == "" || !version.MatchString(v) || p.reportAdvisories(u, slug, v, where) {
		return
	}
	for _, k := range flawed {
		if k.action == slug && compareVersions(v, k.from) >= 0 && compareVersions(v, k.fixed) < 0 {
			f := p.newFinding(p.File.Place(u), "", "%s %s has a known flaw, %s: %s, %s; %s clears it", slug, v, k.id,
				k.what, where, k.fixed)
			f.Severity = k.severity
			p.emit("known-vulnerable-action", f)
		}
	}
}

// namedVersion returns the version of an action without its v. Behind a commit, bots
// keep the version in a comment, which is the only hint to it without the network.
func (p *Pass) namedVersion(u *actionlint.String, ref string) string {
	v := ref
	if commit.MatchString(ref) {
		v = ""
		if c, ok := p.File.Source.Comment(u.Pos.Line); ok {
			v = commented.FindString(c)
		}
	}
	return strings.TrimPrefix(v, "v")
}

// reportAdvisories reports what the vulnerability data knows of a version, and whether
// it knows anything. Data that fails is as good as none: our own list remains.
func (p *Pass) reportAdvisories(u *actionlint.String, slug, v, where string) bool {
	if p.Advisories == nil || !p.Advisories.Knows("GitHub Actions") {
		return false
	}
	matches, err := p.Advisories.Match(p.Context, "GitHub Actions", slug, v)
	if err != nil {
		return false
	}
	for _, m := range matches {
		f := p.newFinding(p.File.Place(u), "", "%s %s has a known flaw, %s: %s, %s", slug, v, m.Advisory.ID,
			shorten(m.Advisory.Summary), where)
		f.Severity = m.Advisory.Severity
		if m.Upgrade != "" {
			f.Message += "; " + m.Upgrade + " clears it"
		}
		p.emit("known-vulnerable-action", f)
	}
	return len(matches) > 0
}

// commented matches the version in the comment behind a commit.
var commented = lazyregexp.New(`v?\d+(?:\.\d+)*`)

// compareVersions compares versions number by number. A missing number of the first is
// the highest there is: @v4 is the newest of 4. Numbers are compared by their length
// first, so that they need no limit.
func compareVersions(a, b string) int {
	x, y := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(b, ".")
	for i := range y {
		if i >= len(x) {
			return 1
		}
		if len(x[i]) != len(y[i]) {
			return len(x[i]) - len(y[i])
		}
		if c := strings.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return 0
}

// checkLocalAction finds local actions that come out of something else than the
// workflow's own commit. After a checkout of another ref, "./action" is that ref's
// code, although the workflow's own was reviewed.
func (p *Pass) checkLocalAction(b workflow.Body, i int, a *actionlint.ExecAction) {
	if !strings.HasPrefix(a.Uses.Value, "./") {
		return
	}
	for n := range i {
		c := workflow.UsesOf(b.Steps[n])
		if c == nil {
			continue
		}
		other := actionSlug(c.Uses.Value) == "actions/checkout" &&
			(inputText(c, "ref") != "" || inputText(c, "repository") != "") &&
			inputText(c, "path") == "" || actionSlug(c.Uses.Value) == "actions/download-artifact" &&
			inputText(c, "path") == ""
		if other {
			f := p.newFinding(p.File.Place(a.Uses), "", "%s is taken from the folder that %s filled, not "+
				"from the workflow's own commit, %s", shorten(a.Uses.Value), stepName(b, n), describeStep(b, i))
			if p.startingEvent(public) == "" {
				f.Terms = append(f.Terms, lowered("no event of untrusted users starts it"))
			}
			p.emit("workspace-action", f)
			return
		}
	}
}

// similarAction returns the well-known action that the name is one slip away from and
// whose owner is another, or "". Attackers register such names and wait for somebody to
// mistype (typosquatting).
func similarAction(slug string) string {
	owner, _, ok := strings.Cut(slug, "/")
	if !ok || popular[slug] {
		return ""
	}
	for known := range popular {
		knownOwner, _, _ := strings.Cut(known, "/")
		if owner != knownOwner && differsByOneEdit(slug, known) {
			return known
		}
	}
	return ""
}

// differsByOneEdit reports whether one omitted, added, changed or swapped character
// makes b of a. This is a Damerau-Levenshtein distance of one, without the matrix of
// the general algorithm.
func differsByOneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// checkToolVersions finds actions that fetch the newest version of a tool. A stolen
// release of the tool then runs in every job the same day.
func checkToolVersions(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil {
			continue
		}
		input, ok := fetches[actionSlug(a.Uses.Value)]
		if !ok {
			continue
		}
		in := a.Inputs[input]
		switch {
		case in == nil || in.Value == nil || in.Value.Value == "":
			p.reportTool(b, p.File.Place(a.Uses), "", "%s fetches the newest version of its "+
				"tool, %s", actionSlug(a.Uses.Value), describeStep(b, i))
		case strings.EqualFold(in.Value.Value, "latest"):
			p.reportTool(b, p.File.Place(in.Name), "", "%s: latest fetches the newest version of the "+
				"tool, %s", input, describeStep(b, i))
		case in.Value.ContainsExpression():
			p.reportTool(b, p.File.Place(in.Name), finding.LowConfidence, "%s is known only when the job "+
				"runs, %s", input, describeStep(b, i))
		}
	}
}

// reportTool reports a tool by what it can reach in the job.
func (p *Pass) reportTool(b workflow.Body, at document.Place, c finding.Confidence, format string, args ...any) {
	f := p.newFinding(at, c, format, args...)
	f.Terms = capTerms(p.privilegeOf(b).terms(), severity.Raised)
	p.emit("unpinned-tool", f)
}

// checkMisfeatures finds what the platform offers and nobody should use.
func checkMisfeatures(p *Pass) {
	if w := p.File.Workflow; w != nil {
		p.checkDefaultShell(w.Defaults, "for all jobs")
	}
	for _, b := range p.File.Bodies() {
		if b.Job != nil {
			p.checkDefaultShell(b.Job.Defaults, describeJob(b.Job))
		}
		for i, s := range runnableSteps(b) {
			if r := workflow.RunOf(s); r != nil && r.Shell != nil && cmd.MatchString(r.Shell.Value) {
				p.report("misfeature", p.File.Place(r.Shell), "", "The shell cmd is not made for scripts of others' "+
					"values, %s", describeStep(b, i))
			}
			a := workflow.UsesOf(s)
			if a == nil || actionSlug(a.Uses.Value) != "actions/setup-python" || a.Inputs["pip-install"] == nil {
				continue
			}
			p.report("misfeature", p.File.Place(a.Inputs["pip-install"].Name), "", "pip-install puts packages into "+
				"the interpreter itself, %s", describeStep(b, i))
		}
	}
}

// cmd matches the command interpreter of Windows as a shell.
var cmd = lazyregexp.New(`^(?i)\s*cmd(?:\.exe)?(?:\s|$)`)

// checkDefaultShell finds the shell cmd as a default. cmd expands %NAME% before it
// parses the line, so that no quotes protect a value.
func (p *Pass) checkDefaultShell(d *actionlint.Defaults, where string) {
	if d != nil && d.Run != nil && d.Run.Shell != nil && cmd.MatchString(d.Run.Shell.Value) {
		p.report("misfeature", p.File.Place(d.Run.Shell), "", "The shell cmd is not made for scripts of others' "+
			"values, %s", where)
	}
}

// checkAppTokens finds tokens of GitHub Apps that can do more than they need.
func checkAppTokens(p *Pass, b workflow.Body) {
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil {
			continue
		}
		name := actionSlug(a.Uses.Value)
		if name == "actions/create-github-app-token" || name == "tibdex/github-app-token" {
			p.checkAppToken(a, describeStep(b, i))
		}
	}
}

// checkAppToken checks how long a token is valid, for which repositories, and for what.
func (p *Pass) checkAppToken(a *actionlint.ExecAction, where string) {
	if in := a.Inputs["skip-token-revoke"]; in != nil && in.Value != nil && expressionTrue(in.Value.Value) {
		p.report("github-app", p.File.Place(in.Name), "", "The token of the app stays valid when the job is "+
			"over, %s", where)
	}
	if in := a.Inputs["owner"]; in != nil && inputText(a, "repositories") == "" && !asksOrganizationPermissions(a) {
		p.report("github-app", p.File.Place(in.Name), "", "The token of the app is good for every repository of "+
			"the owner, %s", where)
	}
	if len(a.Inputs) > 0 && !limitsPermissions(a) { // without any, with is an expression
		f := p.newFinding(p.File.Place(a.Uses), "", "The token of the app has every right that the app was "+
			"given, %s", where)
		f.Severity = finding.Low
		f.Terms = append(f.Terms, lowered("what the app was given is not known"))
		p.emit("github-app", f)
	}
}

// limitsPermissions reports whether the inputs ask for less than all that the app was
// granted.
func limitsPermissions(a *actionlint.ExecAction) bool {
	for name := range a.Inputs {
		if strings.HasPrefix(name, "permission") {
			return true
		}
	}
	return false
}

// asksOrganizationPermissions reports whether all permissions that are asked for are those of
// an organization, which no list of repositories limits.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
func asksOrganizationPermissions(a *actionlint.ExecAction) bool {
	some := false
	for name := range a.Inputs {
		what, ok := strings.CutPrefix(name, "permission-")
		if !ok {
			continue
		}
		some = true
		if what != "members" && what != "team-discussions" && !strings.HasPrefix(what, "organization-") &&
			!strings.HasPrefix(what, "enterprise-") {
			return false
		}
	}
	return some
}

// expressionTrue reports whether a text, or the constant expression in it, is true.
func expressionTrue(text string) bool {
	text = strings.TrimSpace(text)
	if all := expression.FindAll(text); len(all) == 1 {
		v, ok := expression.ConstantValue(all[0].Root)
		return ok && expression.IsTruthy(v)
	}
	return strings.EqualFold(text, "true")
}
