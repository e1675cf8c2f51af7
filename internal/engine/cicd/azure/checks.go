package azure

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// A project is every pipeline and template of the tree.
type project struct {
	// By path.
	files map[string]*pipeline.File
	// The uses of a template, by its path.
	calls map[string][]templateCall
	// Parameters of a template that attackers choose, with their origin, by its path; nil: being
	// computed.
	own map[string]map[string]string
}

// A templateCall is a use of a template.
type templateCall struct {
	// The path of the pipeline or template that uses it.
	from string
	// The parameters that it passes; nil: none.
	params *document.Node
}

// chosen lists the variables that attackers, or whoever may push, choose, in lower
// case. https://learn.microsoft.com/azure/devops/pipelines/build/variables
var chosen = func() map[string]string {
	m := map[string]string{}
	for _, v := range strings.Fields(`Build.SourceVersionMessage Build.SourceBranchName Build.SourceBranch System.PullRequest.SourceBranch
		System.PullRequest.SourceBranchName Build.SourceVersionAuthor Build.RequestedFor Build.BuildNumberFormat
		Release.TriggeringArtifact.Alias Build.SourceTagsName System.PullRequest.Title`) {
		m[strings.ToLower(v)] = v
	}
	return m
}()

// A scope is what is known at a step. It is a value: what a stage sets ends with it.
type scope struct {
	file *pipeline.File
	// The job for messages: `in job "build"`.
	where string
	// Variables that attackers choose, in small letters, with their origin.
	chosen map[string]string
	// Parameters of the template that attackers choose, likewise.
	params map[string]string
	// The type of each parameter; "choice" where the values are listed.
	typed map[string]string
	// Names of containers among the resources, which are no images.
	named map[string]bool
}

// checkFile checks one pipeline or template, with what its callers pass to it.
func (r *project) checkFile(name string, f *pipeline.File) {
	for _, d := range f.Docs {
		if !d.IsMap() {
			continue
		}
		s := scope{file: f, where: "for all jobs", chosen: chosen, params: r.taintedParameters(name, 0),
			typed: map[string]string{}, named: map[string]bool{}}
		for _, c := range d.Get("resources").Get("containers").List() {
			s.named[c.Get("container").Text()] = true
		}
		for _, p := range d.Get("parameters").List() {
			s.typed[strings.ToLower(p.Get("name").Text())] = p.Get("type").Text()
			if len(p.Get("values").List()) > 0 {
				s.typed[strings.ToLower(p.Get("name").Text())] = "choice"
			}
		}
		r.checkResources(f, d)
		s.visitNode(d)
	}
}

// maxCalls bounds how far parameters are followed.
const maxCalls = 8

// taintedParameters returns the parameters of a template that hold what attackers choose.
func (r *project) taintedParameters(name string, depth int) map[string]string {
	if depth > maxCalls {
		return nil
	}
	if known, ok := r.own[name]; ok {
		return known
	}
	r.own[name] = nil // a template that uses itself
	out := map[string]string{}
	for _, c := range r.calls[name] {
		outer := r.taintedParameters(c.from, depth+1)
		for _, e := range c.params.Pairs() {
			for _, v := range macro.FindAllStringSubmatch(e.Value.Text(), -1) {
				if origin, ok := chosen[strings.ToLower(v[1])]; ok {
					out[strings.ToLower(e.Key)] = origin
				}
			}
			for _, v := range parameter.FindAllStringSubmatch(e.Value.Text(), -1) {
				if origin, ok := outer[strings.ToLower(v[1])]; ok {
					out[strings.ToLower(e.Key)] = origin
				}
			}
		}
	}
	r.own[name] = out
	return out
}

var (
	// macro matches $(name), which is replaced when the task runs; parameter and
	// compiled match ${{ … }}, which is replaced when the pipeline is compiled. In a
	// script both become part of its text.
	// https://learn.microsoft.com/azure/devops/pipelines/process/variables
	macro     = lazyregexp.New(`\$\(([A-Za-z_][\w.-]*)\)`)
	parameter = lazyregexp.New(`\$\{\{[^}]*?\bparameters\.([\w-]+)[^}]*\}\}`)
	compiled  = lazyregexp.New(`\$\{\{[^}]*?\bvariables(?:\.|\[')([\w.]+)(?:'\])?[^}]*\}\}`)
)

// visitNode goes down stages, jobs and steps; what is set on the way holds below.
func (s scope) visitNode(n *document.Node) {
	if n.IsList() {
		for _, item := range n.Items {
			s.visitNode(item)
		}
		return
	}
	if !n.IsMap() {
		return
	}
	s = s.enterNode(n)
	s.checkStep(n)
	for _, e := range n.Entries {
		if sections[e.Key] || strings.HasPrefix(e.Key, "${{") { // if, else, each
			s.visitNode(e.Value)
		}
	}
}

// sections lists the members below which stages, jobs and steps stand: those of a
// pipeline, and the strategies and hooks of a deployment job.
var sections = map[string]bool{"stages": true, "jobs": true, "steps": true, "strategy": true, "deploy": true,
	"runOnce": true, "rolling": true, "canary": true, "preDeploy": true, "routeTraffic": true,
	"postRouteTraffic": true, "on": true, "failure": true, "success": true}

// enterNode adds what a stage, a job or a pipeline sets. The scope is a value, so that
// what a stage sets ends with it.
func (s scope) enterNode(n *document.Node) scope {
	for _, kind := range []string{"stage", "job", "deployment"} {
		if name := n.Get(kind).Text(); name != "" {
			s.where = fmt.Sprintf("in %s %q", kind, pipeline.Shorten(name))
		}
	}
	vars := n.Get("variables")
	if vars == nil {
		return s.enterContainers(n)
	}
	out := map[string]string{}
	for k, v := range s.chosen {
		out[k] = v
	}
	s.chosen = out
	for _, e := range vars.Pairs() {
		s.setVariable(e.KeyNode(), e.Value)
	}
	for _, item := range vars.List() {
		if name := item.Get("name"); name != nil {
			key := &document.Node{Kind: document.String, Value: name.Text(), Line: name.Line, Column: name.Column}
			s.setVariable(key, item.Get("value"))
		}
	}
	return s.enterContainers(n)
}

// enterContainers checks the container of a job: its image and its rights, or a name
// among the resources, which are checked with the file.
func (s scope) enterContainers(n *document.Node) scope {
	c := n.Get("container")
	if c.IsMap() {
		s.file.CheckImage(c.Get("image"), s.where)
		s.checkContainerOptions(c.Get("options"))
	} else if !s.named[c.Text()] {
		s.file.CheckImage(c, s.where)
	}
	return s
}

// checkContainerOptions finds options of docker run that give a container the rights of
// its host: from there an attacker reaches the agent and the jobs of others.
func (s scope) checkContainerOptions(n *document.Node) {
	if t := n.Text(); strings.Contains(t, "--privileged") || strings.Contains(t, "docker.sock") ||
		strings.Contains(t, "--pid=host") || strings.Contains(t, "SYS_ADMIN") {
		s.file.ReportNode("privileged-container", n, "The container has the rights of its host, %s: %s", s.where,
			pipeline.Shorten(t))
	}
}

// setVariable records whether a variable holds what attackers choose, and checks it for
// a secret and for the debug setting. A later value replaces the earlier one.
func (s *scope) setVariable(key, value *document.Node) {
	s.file.CheckSecret(key, value, s.where)
	name := strings.ToLower(key.Value)
	if name == "system.debug" && value.True() {
		s.file.ReportNode("debug-mode", key, "system.debug prints everything that the agent does, %s", s.where)
	}
	// A stage may replace a variable by a constant.
	delete(s.chosen, name)
	for _, m := range macro.FindAllStringSubmatch(value.Text(), -1) {
		if origin, ok := s.chosen[strings.ToLower(m[1])]; ok {
			s.chosen[name] = origin
		}
	}
	for _, m := range compiled.FindAllStringSubmatch(value.Text(), -1) {
		if origin, ok := s.chosen[strings.ToLower(m[1])]; ok {
			s.chosen[name] = origin
		}
	}
	for _, m := range parameter.FindAllStringSubmatch(value.Text(), -1) {
		if origin, ok := s.params[strings.ToLower(m[1])]; ok {
			s.chosen[name] = origin
		}
	}
}

// scriptInputs lists inputs of tasks that are run as code, in lower case.
var scriptInputs = []string{"script", "inlinescript", "inline", "scriptblock", "command", "arguments",
	"scriptarguments", "customcommand", "runcommands"}

// checkStep checks one step: its script or its task, the token of a checkout, and its
// environment.
func (s scope) checkStep(n *document.Node) {
	for _, key := range []string{"script", "bash", "pwsh", "powershell"} {
		if text := n.Get(key); text.Text() != "" {
			s.checkScript(text, n)
		}
	}
	if task := n.Get("task").Text(); task != "" {
		s.checkTask(n, task)
	}
	if c := n.Get("checkout"); c.Text() != "" && n.Get("persistCredentials").True() {
		s.file.ReportNode("persisted-credentials", n.Key("persistCredentials"), "The checkout leaves its token on "+
			"the disk "+
			"for all later steps, %s", s.where)
	}
	for _, e := range n.Get("env").Pairs() {
		s.file.CheckSecret(e.KeyNode(), e.Value, s.where)
	}
}

// checkTask analyzes the inputs that a task runs as code; command is the exception,
// because most tasks use it for a fixed word such as "build".
func (s scope) checkTask(n *document.Node, task string) {
	if !strings.Contains(task, "@") {
		s.file.ReportNode("unpinned-dependency", n.Get("task"), "The task %s is named without a version, %s", task,
			s.where)
	}
	for _, e := range n.Get("inputs").Pairs() {
		key := strings.ToLower(e.Key)
		if slices.Contains(scriptInputs, key) && (key != "command" || strings.Contains(strings.ToLower(task), "ssh")) {
			s.checkScript(e.Value, n)
		}
		s.file.CheckSecret(e.KeyNode(), e.Value, s.where)
	}
}

// checkScript checks a script, and what is put into it before it runs. A macro of an
// unknown name stays as it is, and is no injection.
func (s scope) checkScript(text, step *document.Node) {
	secret := strings.Contains(text.Text(), "System.AccessToken")
	for _, e := range step.Get("env").Pairs() {
		secret = secret || pipeline.IsSecret(e.Key)
	}
	s.file.CheckScript(pipeline.Script{Text: text, Where: s.where, HasSecret: secret,
		Tainted: s.taintedEnvironment(step)})
	for _, at := range macro.FindAllStringSubmatchIndex(text.Text(), -1) {
		name := text.Text()[at[2]:at[3]]
		if origin, ok := s.chosen[strings.ToLower(name)]; ok {
			s.reportInjection(text, at[0], at[1], origin)
		}
	}
	for _, at := range compiled.FindAllStringSubmatchIndex(text.Text(), -1) {
		if origin, ok := s.chosen[strings.ToLower(text.Text()[at[2]:at[3]])]; ok {
			s.reportInjection(text, at[0], at[1], origin)
		}
	}
	for _, at := range parameter.FindAllStringSubmatchIndex(text.Text(), -1) {
		name := strings.ToLower(text.Text()[at[2]:at[3]])
		if origin, ok := s.params[name]; ok {
			s.reportInjection(text, at[0], at[1], origin)
			continue
		}
		// Numbers, booleans and listed values cannot contain code.
		if t := s.typed[name]; t == "" || t == "string" || t == "object" {
			s.file.Report("script-injection", s.file.Source.Part(text, at[0], at[1]-at[0]),
				pipeline.NewRating(finding.Medium, finding.LowConfidence),
				"%s, which whoever starts the run can choose, becomes part of the script %s", text.Text()[at[0]:at[1]],
				s.where)
		}
	}
}

// reportInjection grades by who chooses the value: names of branches and pull
// requests need no rights in the project, variables of a run do.
func (s scope) reportInjection(text *document.Node, from, to int, origin string) {
	if strings.HasPrefix(strings.ToLower(origin), "build.sourcebranch") ||
		strings.HasPrefix(origin, "System.PullRequest") || origin == "Build.SourceVersionMessage" ||
		origin == "System.PullRequest.Title" {
		s.file.Report("script-injection", s.file.Source.Part(text, from, to-from),
			pipeline.NewRating(finding.High, finding.HighConfidence),
			"%s (%s), which is attacker-controlled, becomes part of the script %s", text.Text()[from:to], origin,
			s.where)
		return
	}
	s.file.Report("script-injection", s.file.Source.Part(text, from, to-from),
		pipeline.NewRating(finding.Medium, finding.MediumConfidence),
		"%s (%s), which others choose, becomes part of the script %s", text.Text()[from:to], origin, s.where)
}

// taintedEnvironment returns the variables of the environment that hold what attackers
// choose: those that the step sets, and those that the agent makes of its own. The
// agent writes a variable in capitals, with underscores for dots.
func (s scope) taintedEnvironment(step *document.Node) map[string]string {
	out := map[string]string{}
	for name, origin := range s.chosen {
		out[strings.ToUpper(strings.ReplaceAll(name, ".", "_"))] = origin
	}
	for _, e := range step.Get("env").Pairs() {
		for _, m := range macro.FindAllStringSubmatch(e.Value.Text(), -1) {
			if origin, ok := s.chosen[strings.ToLower(m[1])]; ok {
				out[e.Key] = origin
			}
		}
	}
	return out
}

// checkResources finds templates and images that are taken from elsewhere. A repository
// of the same organization is less of a risk than one of GitHub.
func (r *project) checkResources(f *pipeline.File, d *document.Node) {
	res := d.Get("resources")
	for _, repo := range res.Get("repositories").List() {
		ref := repo.Get("ref")
		name := repo.Get("repository").Text()
		switch {
		case repo.Get("type").Text() == "git" && ref == nil:
			f.Report("unpinned-dependency", f.Source.Whole(repo.Get("repository")),
				pipeline.NewRating(finding.Low, finding.LowConfidence), "The repository %s is taken from its "+
					"default branch", name)
		case ref == nil:
			f.ReportNode("unpinned-dependency", repo.Get("repository"), "The repository %s is taken from its "+
				"default branch",
				name)
		case !commit.MatchString(ref.Text()) && !strings.HasPrefix(ref.Text(), "refs/tags/"):
			f.Report("unpinned-dependency", f.Source.Whole(ref),
				pipeline.NewRating(finding.Low, finding.MediumConfidence),
				"The repository %s is taken from %s, which moves", name, ref.Text())
		}
	}
	for _, c := range res.Get("containers").List() {
		f.CheckImage(c.Get("image"), "(container "+c.Get("container").Text()+")")
		scope{file: f, where: "(container " + c.Get("container").Text() + ")"}.checkContainerOptions(c.Get("options"))
	}
}

// commit matches a whole commit, which nobody can move.
var commit = lazyregexp.New(`^[0-9a-f]{40}$`)
