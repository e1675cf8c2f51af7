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

// A cacher is an action that restores a cache.
type cacher struct {
	input  string   // that controls it; "" is always
	def    bool     // without the input
	off    []string // values of the input that switch it off; nil is "false"
	onText bool     // any text switches it on, such as the name of a package manager
	needs  string   // another input without which there is no cache
}

var cachers = map[string]cacher{
	"actions/cache":                             {input: "lookup-only", def: true, off: []string{"true"}},
	"actions/setup-node":                        {input: "cache", onText: true},
	"actions/setup-python":                      {input: "cache", onText: true},
	"actions/setup-java":                        {input: "cache", onText: true},
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

var releaseBranch = lazyregexp.New(`(?i)^releas(?:e|es|ing)\b|^release`)

// publishesBy says why the workflow publishes something, or "".
func (p *Pass) publishesBy(b workflow.Body) string {
	if p.File.On("release") {
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
	for i, s := range live(b) {
		a := workflow.Uses(s)
		if a == nil {
			continue
		}
		off, ok := publishers[slug(a.Uses.Value)]
		if ok && (off[0] == "" || !strings.EqualFold(with(a, off[0]), off[1])) {
			return stepName(b, i) + " publishes"
		}
	}
	return ""
}

func caches(p *Pass, b workflow.Body) {
	if p.File.Workflow == nil {
		return
	}
	why := p.publishesBy(b)
	if why == "" {
		return
	}
	for i, s := range live(b) {
		a := workflow.Uses(s)
		if a == nil || p.notOnTags(s.If) {
			continue
		}
		c, ok := cachers[slug(a.Uses.Value)]
		if !ok || strings.HasSuffix(strings.Split(a.Uses.Value, "@")[0], "/save") {
			continue
		}
		on, sure := p.restores(a, c)
		if !on {
			continue
		}
		f := p.finding(p.File.Place(a.Uses), "", "%s restores a cache that other jobs may have filled, "+
			"and %s, %s", slug(a.Uses.Value), why, where(b, i))
		if !sure || !delivers(b) {
			f.Confidence = finding.Uncertain
		}
		p.Out(Rules["cache-poisoning"], f)
	}
}

// delivers reports whether something of the job gets out of it: a job that only
// checks, in a workflow that also publishes, leaves nothing to be poisoned.
func delivers(b workflow.Body) bool {
	if b.Job == nil || b.Job.Environment != nil {
		return true
	}
	if b.Job.Permissions != nil {
		for _, s := range b.Job.Permissions.Scopes {
			if s.Value != nil && s.Value.Value == "write" {
				return true
			}
		}
	}
	for _, s := range live(b) {
		if a := workflow.Uses(s); a != nil {
			name := slug(a.Uses.Value)
			if _, ok := publishers[name]; ok || strings.Contains(name, "upload") || strings.Contains(name, "release") ||
				strings.Contains(name, "publish") || strings.Contains(name, "deploy") {
				return true
			}
		}
		if r := workflow.Run(s); r != nil && (publish.MatchString(r.Run.Value) || delivery.MatchString(r.Run.Value)) ||
			secretIn(s.Env) {
			return true
		}
	}
	return false
}

var delivery = lazyregexp.New(`(?i)\b(?:publish|deploy|release|upload|(?:docker|git|podman|helm|oras)\s+push|gh\s+release|--push)\b`)

// restores reports whether the action restores a cache, and whether that is sure.
func (p *Pass) restores(a *actionlint.ExecAction, c cacher) (on, sure bool) {
	if c.needs != "" && with(a, c.needs) == "" {
		return false, true
	}
	in := a.Inputs[c.input]
	if c.input == "" || in == nil || in.Value == nil || in.Value.Value == "" {
		return c.def, true
	}
	text := strings.TrimSpace(in.Value.Value)
	if all := expression.In(text); len(all) > 0 {
		if v, ok := expression.Constant(all[0].Root); ok && len(all) == 1 {
			return expression.Truthy(v) != (c.off != nil), true
		}
		if p.offOnTags(text, c.off != nil) {
			return false, true
		}
		return true, false
	}
	if c.off != nil {
		return !slices.Contains(c.off, strings.ToLower(text)), true
	}
	if c.onText {
		return !strings.EqualFold(text, "false"), true
	}
	return !strings.EqualFold(text, "false"), true
}

// tagsOnly reports whether only tags and releases start the publishing, so that
// what depends on the ref is known.
func (p *Pass) tagsOnly() bool {
	if e, ok := p.File.Event("push").(*actionlint.WebhookEvent); ok && e != nil {
		return e.Branches.IsEmpty() || !slices.ContainsFunc(e.Branches.Values, func(v *actionlint.String) bool {
			return releaseBranch.MatchString(v.Value)
		})
	}
	return true
}

var (
	isTag  = lazyregexp.New(`(?i)startsWith\(\s*github\.ref\s*,\s*'refs/tags/?[^']*'\s*\)|github\.ref_type\s*==\s*'tag'|github\.event_name\s*==\s*'release'`)
	notTag = lazyregexp.New(`(?i)!\s*\(?\s*(?:startsWith\(\s*github\.ref\s*,\s*'refs/tags/?|github\.ref_type\s*==\s*'tag'|github\.event_name\s*==\s*'(?:release|push)')|github\.ref_type\s*!=\s*'tag'|github\.event_name\s*(?:!=\s*'(?:release|push)'|==\s*'(?:pull_request|schedule)')|github\.ref\s*==\s*'refs/heads/`)
)

// offOnTags reports whether an expression switches a cache off when a tag or a
// release starts the workflow. Where the input disables (disables), it must hold
// on tags instead.
func (p *Pass) offOnTags(text string, disables bool) bool {
	if !p.tagsOnly() {
		return false
	}
	if disables {
		return isTag.MatchString(text) && !notTag.MatchString(text)
	}
	return notTag.MatchString(text)
}

func (p *Pass) notOnTags(cond *actionlint.String) bool {
	return cond != nil && p.tagsOnly() && notTag.MatchString(cond.Value)
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

var harmlessPublish = lazyregexp.New(`--dry-run|--help|(?:^|\s)-n(?:\s|$)`)

// uploads is publish for commands whose program options of the interpreter divide.
var uploads = lazyregexp.New(`python[\d.]*\s+(?:-\S+\s+)*-m\s+(?:twine\s+upload|poetry\s+publish|hatch\s+publish|uv\s+publish|flit\s+publish)`)

func publishing(p *Pass, b workflow.Body) {
	signs := p.mayIdentify(b)
	for i, s := range live(b) {
		if r := workflow.Run(s); r != nil && !signs {
			for _, l := range script.Lines(r.Run.Value) {
				if (publish.MatchString(l.Text) || uploads.MatchString(l.Text)) &&
					!harmlessPublish.MatchString(l.Text) && !strings.HasPrefix(l.Text, "echo ") {
					p.report("use-trusted-publishing",
						p.File.Part(r.Run, l.Offset, min(l.Length, len(r.Run.Value)-l.Offset)), "",
						"%q publishes with a password that does not expire, %s", short(l.Text), where(b, i))
				}
			}
		}
		if a := workflow.Uses(s); a != nil && passwordPublisher(a) {
			p.report("use-trusted-publishing", p.File.Place(a.Uses), "", "%s signs in with a password that does not "+
				"expire, %s", slug(a.Uses.Value), where(b, i))
		}
	}
}

// mayIdentify reports whether the job may ask for an identity token, which is how
// one publishes without a password.
func (p *Pass) mayIdentify(b workflow.Body) bool {
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

// passwordPublisher reports whether the action publishes with a password.
func passwordPublisher(a *actionlint.ExecAction) bool {
	has := func(name string) bool { return with(a, name) != "" }
	switch slug(a.Uses.Value) {
	case "pypa/gh-action-pypi-publish":
		url := with(a, "repository-url") + with(a, "repository_url")
		return has("password") && (url == "" || strings.Contains(url, "pypi.org"))
	case "rubygems/release-gem":
		return with(a, "setup-trusted-publisher") == "false"
	case "rubygems/configure-rubygems-credentials":
		return has("api-token")
	case "js-devtools/npm-publish":
		return has("token")
	case "katyo/publish-crates":
		return has("registry-token")
	case "actions/setup-node":
		url := strings.TrimSuffix(with(a, "registry-url"), "/")
		return strings.EqualFold(with(a, "always-auth"), "true") && (url == "" || url == "https://registry.npmjs.org")
	}
	return false
}
