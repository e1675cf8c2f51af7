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

// This file looks at what is published: whether it is built on caches that others
// could have filled, and whether it is signed in with a password.

// A cacheAction is an action that restores a cache.
type cacheAction struct {
	input string   // that controls it; "" is always
	def   bool     // without the input
	off   []string // values of the input that switch it off; nil is "false"
	needs string   // another input without which there is no cache
}

// cachers lists the actions that restore a cache, by their slug, with the input that
// switches it.
var cachers = map[string]cacheAction{
	"actions/cache":                             {input: "lookup-only", def: true, off: []string{"true"}},
	"actions/setup-node":                        {input: "cache"},
	"actions/setup-python":                      {input: "cache"},
	"actions/setup-java":                        {input: "cache"},
	"actions/setup-go":                          {input: "cache", def: true},
	"actions/setup-dotnet":                      {input: "cache"},
	"actions-rust-lang/setup-rust-toolchain":    {input: "cache", def: true},
	"actions-rust-lang/rustup":                  {input: "cache", def: true},
	"astral-sh/setup-uv":                        {input: "enable-cache", def: true},
	"ruby/setup-ruby":                           {input: "bundler-cache"},
	"swatinem/rust-cache":                       {input: "lookup-only", def: true, off: []string{"true"}},
	"mozilla-actions/sccache-action":            {def: true},
	"hendrikmuhs/ccache-action":                 {def: true},
	"gradle/actions/setup-gradle":               {input: "cache-disabled", def: true, off: []string{"true"}},
	"gradle/actions":                            {input: "cache-disabled", def: true, off: []string{"true"}},
	"gradle/gradle-build-action":                {input: "cache-disabled", def: true, off: []string{"true"}},
	"docker/setup-buildx-action":                {input: "cache-binary", def: true, needs: "version"},
	"pyo3/maturin-action":                       {input: "sccache"},
	"oven-sh/setup-bun":                         {input: "no-cache", def: true, off: []string{"true"}},
	"denoland/setup-deno":                       {input: "cache"},
	"pnpm/action-setup":                         {input: "cache"},
	"pdm-project/setup-pdm":                     {input: "cache"},
	"jdx/mise-action":                           {input: "cache", def: true},
	"prefix-dev/setup-pixi":                     {input: "cache"},
	"moonrepo/setup-rust":                       {input: "cache", def: true},
	"golangci/golangci-lint-action":             {input: "skip-cache", def: true, off: []string{"true"}},
	"jetify-com/devbox-install-action":          {input: "enable-cache"},
	"mlugg/setup-zig":                           {input: "use-cache", def: true},
	"determinatesystems/magic-nix-cache-action": {def: true},
	"nix-community/cache-nix-action":            {def: true},
	"awalsh128/cache-apt-pkgs-action":           {def: true},
	"bahmutov/npm-install":                      {input: "usecache", def: true},
	"android-actions/setup-android":             {input: "cache"},
	"subosito/flutter-action":                   {input: "cache"},
	"sbt/setup-sbt":                             {input: "cache"},
	"coursier/cache-action":                     {def: true},
}

// publishers lists actions that publish what was built, with an input whose value
// says that they do not.
var publishers = map[string][2]string{
	"pypa/gh-action-pypi-publish": {}, "softprops/action-gh-release": {}, "goreleaser/goreleaser-action": {},
	"docker/build-push-action": {"push", "false"},
	"js-devtools/npm-publish":  {"dry-run", "true"}, "rubygems/release-gem": {}, "ncipollo/release-action": {},
	"svenstaro/upload-release-action": {},
	"actions/deploy-pages":            {}, "peaceiris/actions-gh-pages": {}, "jamesives/github-pages-deploy-action": {},
	"changesets/action":                {},
	"cycjimmy/semantic-release-action": {}, "elgohr/publish-docker-github-action": {},
	"elgohr/github-release-action": {}, "marvinpinto/action-automatic-releases": {},
	"crazy-max/ghaction-github-pages": {}, "pulumi/actions": {}, "google-github-actions/deploy-cloudrun": {},
	"aws-actions/amazon-ecs-deploy-task-definition": {},
	"azure/webapps-deploy":                          {}, "azure/functions-action": {},
	"actions/attest-build-provenance":      {},
	"slsa-framework/slsa-github-generator": {},
	"cloudflare/wrangler-action":           {}, "katyo/publish-crates": {}, "actions/upload-release-asset": {},
	"actions/create-release": {}, "release-drafter/release-drafter": {},
	"ac10ns/docker": {}, "mr-smithers-excellent/docker-build-push": {}, "helm/chart-releaser-action": {},
	"docker/bake-action": {"push", "false"},
}

// releaseBranch matches branches that releases are made from.
var releaseBranch = lazyregexp.New(`(?i)^releas(?:e|es|ing)\b|^release`)

// publishReason says why the workflow publishes something, or "".
func (p *Pass) publishReason(b workflow.Body) string {
	if p.File.StartsOn("release") {
		return "release starts the workflow"
	}
	if e, ok := p.File.Event("push").(*actionlint.WebhookEvent); ok && e != nil {
		if !e.Tags.IsEmpty() {
			return "tags start the workflow"
		}
		if !e.Branches.IsEmpty() && slices.ContainsFunc(e.Branches.Values, func(v *actionlint.String) bool {
			return releaseBranch.MatchString(v.Value)
		}) {
			return "a release branch starts the workflow"
		}
	}
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil {
			continue
		}
		off, ok := publishers[actionSlug(a.Uses.Value)]
		if ok && (off[0] == "" || !strings.EqualFold(inputText(a, off[0]), off[1])) {
			return stepName(b, i) + " publishes"
		}
	}
	return ""
}

// checkCaches reports caches that a publishing job restores: a less privileged run can
// fill them, so that a release is built from poisoned files. A cache of the default
// branch is shared with every branch and with pull requests, and an attacker with code
// in any of those runs can replace an entry before the release restores it.
func checkCaches(p *Pass, b workflow.Body) {
	if p.File.Workflow == nil {
		return
	}
	why := p.publishReason(b)
	if why == "" {
		return
	}
	for i, s := range runnableSteps(b) {
		a := workflow.UsesOf(s)
		if a == nil || p.skipsTags(s.If) {
			continue
		}
		c, ok := cachers[actionSlug(a.Uses.Value)]
		if !ok || strings.HasSuffix(strings.Split(a.Uses.Value, "@")[0], "/save") {
			continue
		}
		on, sure := p.restoresCache(a, c)
		if !on {
			continue
		}
		f := p.newFinding(p.File.Place(a.Uses), "", "%s restores a cache that other jobs may have filled, "+
			"and %s, %s", actionSlug(a.Uses.Value), why, describeStep(b, i))
		if !deliversOutput(b) {
			f.Confidence = finding.LowConfidence
			f.Terms = append(f.Terms, harmless("nothing that the job builds leaves it"))
		} else if !sure {
			f.Confidence = finding.LowConfidence
			f.Terms = append(f.Terms, lowered("an expression may switch the cache off"))
		}
		f.Fix = p.fixCache(s, a, c)
		p.emit("cache-poisoning", f)
	}
}

// deliversOutput reports whether something of the job gets out of it: a job that only
// checks, in a workflow that also publishes, leaves nothing to be poisoned.
func deliversOutput(b workflow.Body) bool {
	if b.Job == nil || b.Job.Environment != nil || hasWritePermission(b.Job.Permissions) {
		return true
	}
	for _, s := range runnableSteps(b) {
		if a := workflow.UsesOf(s); a != nil && deliversByName(actionSlug(a.Uses.Value)) {
			return true
		}
		if r := workflow.RunOf(s); r != nil && (publish.MatchString(r.Run.Value) ||
			delivery.MatchString(r.Run.Value)) ||
			hasSecret(s.Env) {
			return true
		}
	}
	return false
}

// hasWritePermission reports whether one of the permissions of a job is to write.
func hasWritePermission(perms *actionlint.Permissions) bool {
	if perms == nil {
		return false
	}
	for _, s := range perms.Scopes {
		if s.Value != nil && s.Value.Value == "write" {
			return true
		}
	}
	return false
}

// deliversByName reports whether an action carries something out of the job, as it is
// known of the action or as its name says.
func deliversByName(slug string) bool {
	_, known := publishers[slug]
	return known || strings.Contains(slug, "upload") || strings.Contains(slug, "release") ||
		strings.Contains(slug, "publish") || strings.Contains(slug, "deploy")
}

// delivery matches commands that carry something out of the job.
var delivery = lazyregexp.New(`(?i)\b(?:publish|deploy|release|upload|(?:docker|git|podman|helm|oras)\s+push|gh\s+release|--push)\b`)

// restoresCache reports whether the action restores a cache, and whether that is sure.
// It is not sure where an expression of the run decides.
func (p *Pass) restoresCache(a *actionlint.ExecAction, c cacheAction) (on, sure bool) {
	if c.needs != "" && inputText(a, c.needs) == "" {
		return false, true
	}
	in := a.Inputs[c.input]
	if c.input == "" || in == nil || in.Value == nil || in.Value.Value == "" {
		return c.def, true
	}
	text := strings.TrimSpace(in.Value.Value)
	if all := expression.FindAll(text); len(all) > 0 {
		if v, ok := expression.ConstantValue(all[0].Root); ok && len(all) == 1 {
			return expression.IsTruthy(v) != (c.off != nil), true
		}
		if p.isOffOnTags(text, c.off != nil) {
			return false, true
		}
		return true, false
	}
	if c.off != nil {
		return !slices.Contains(c.off, strings.ToLower(text)), true
	}
	return !strings.EqualFold(text, "false"), true
}

// publishesOnlyTags reports whether only tags and releases start the publishing, so that
// what depends on the ref is known.
func (p *Pass) publishesOnlyTags() bool {
	if e, ok := p.File.Event("push").(*actionlint.WebhookEvent); ok && e != nil {
		return e.Branches.IsEmpty() || !slices.ContainsFunc(e.Branches.Values, func(v *actionlint.String) bool {
			return releaseBranch.MatchString(v.Value)
		})
	}
	return true
}

var (
	// isTag and notTag match expressions that are true, and false, when a tag or a
	// release starts the workflow. They are matched as texts: an evaluation would need
	// the event.
	isTag  = lazyregexp.New(`(?i)startsWith\(\s*github\.ref\s*,\s*'refs/tags/?[^']*'\s*\)|github\.ref_type\s*==\s*'tag'|github\.event_name\s*==\s*'release'`)
	notTag = lazyregexp.New(`(?i)!\s*\(?\s*(?:startsWith\(\s*github\.ref\s*,\s*'refs/tags/?|github\.ref_type\s*==\s*'tag'|github\.event_name\s*==\s*'(?:release|push)')|github\.ref_type\s*!=\s*'tag'|github\.event_name\s*(?:!=\s*'(?:release|push)'|==\s*'(?:pull_request|schedule)')|github\.ref\s*==\s*'refs/heads/`)
)

// isOffOnTags reports whether an expression switches a cache off when a tag or a
// release starts the workflow. Where the input disables (disables), it must hold on
// tags instead. Authors write this so that releases build without a cache.
func (p *Pass) isOffOnTags(text string, disables bool) bool {
	if !p.publishesOnlyTags() {
		return false
	}
	if disables {
		return isTag.MatchString(text) && !notTag.MatchString(text)
	}
	return notTag.MatchString(text)
}

// skipsTags reports whether the condition of a step is false when a tag or a release
// starts the workflow, so that the step is no part of what is published.
func (p *Pass) skipsTags(cond *actionlint.String) bool {
	return cond != nil && p.publishesOnlyTags() && notTag.MatchString(cond.Value)
}

// publish matches commands that publish with a long-lived password of a registry
// that can do without.
var publish = lazyregexp.New(`(?:^|[\s;&|(])(?:` + strings.Join([]string{
	`(?:cargo(?:\s+\+\S+)?)\s+publish`, `cargo\s+hack\b.*\s+publish`, `npm\s+(?:-\S+\s+)*publish`,
	`yarn\s+npm\s+publish`, `pnpm\s+(?:-\S+\s+)*publish`,
	`(?:bun|bunx\s+npm|npx\s+npm)\s+publish`, `twine(?:==\S+|@\S+)?\s+upload`, `(?:uv|poetry|hatch|flit|pdm)\s+publish`,
	`uvx\s+twine\S*\s+upload`,
	`gem\s+push`, `bundle\s+exec\s+rake\s+release`, `(?:dotnet\s+)?nuget(?:\.exe)?\s+push`,
}, "|") + `)(?:\s|$)`)

// harmlessPublish matches options with which a command that publishes does not.
var harmlessPublish = lazyregexp.New(`--dry-run|--help|(?:^|\s)-n(?:\s|$)`)

// uploads is publish for commands whose program options of the interpreter divide.
var uploads = lazyregexp.New(`python[\d.]*\s+(?:-\S+\s+)*-m\s+(?:twine\s+upload|poetry\s+publish|hatch\s+publish|uv\s+publish|flit\s+publish)`)

// checkPublishing finds uploads to package registries with a long-lived password. A
// registry with trusted publishing takes a token of the job's identity instead, which
// expires within minutes and cannot be stolen from the settings (CICD-SEC-6).
func checkPublishing(p *Pass, b workflow.Body) {
	signs := p.mayRequestIDToken(b)
	for i, s := range runnableSteps(b) {
		if r := workflow.RunOf(s); r != nil && !signs {
			for _, l := range script.SplitLines(r.Run.Value) {
				if (publish.MatchString(l.Text) || uploads.MatchString(l.Text)) &&
					!harmlessPublish.MatchString(l.Text) && !strings.HasPrefix(l.Text, "echo ") {
					p.report("use-trusted-publishing",
						p.File.PartPlace(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset)), "",
						"%q publishes with a password that does not expire, %s", shorten(l.Text), describeStep(b, i))
				}
			}
		}
		if a := workflow.UsesOf(s); a != nil && publishesWithPassword(a) {
			p.report("use-trusted-publishing", p.File.Place(a.Uses), "", "%s signs in with a password that does not "+
				"expire, %s", actionSlug(a.Uses.Value), describeStep(b, i))
		}
	}
}

// mayRequestIDToken reports whether the job may ask for an identity token, which is how
// one publishes without a password.
// https://docs.github.com/en/actions/concepts/security/openid-connect
func (p *Pass) mayRequestIDToken(b workflow.Body) bool {
	if b.Job == nil {
		return false
	}
	perms := b.Job.Permissions
	if perms == nil {
		perms = p.File.Workflow.Permissions
	}
	if perms == nil {
		return false
	}
	if perms.All != nil {
		return perms.All.Value == "write-all"
	}
	s := perms.Scopes["id-token"]
	return s != nil && s.Value != nil && s.Value.Value == "write"
}

// publishesWithPassword reports whether the action publishes with a password. Each case
// is the input by which the action takes one.
func publishesWithPassword(a *actionlint.ExecAction) bool {
	has := func(name string) bool { return inputText(a, name) != "" }
	switch actionSlug(a.Uses.Value) {
	case "pypa/gh-action-pypi-publish":
		url := inputText(a, "repository-url") + inputText(a, "repository_url")
		return has("password") && (url == "" || strings.Contains(url, "pypi.org"))
	case "rubygems/release-gem":
		return inputText(a, "setup-trusted-publisher") == "false"
	case "rubygems/configure-rubygems-credentials":
		return has("api-token")
	case "js-devtools/npm-publish":
		return has("token")
	case "katyo/publish-crates":
		return has("registry-token")
	case "actions/setup-node":
		url := strings.TrimSuffix(inputText(a, "registry-url"), "/")
		return strings.EqualFold(inputText(a, "always-auth"), "true") &&
			(url == "" || url == "https://registry.npmjs.org")
	}
	return false
}
