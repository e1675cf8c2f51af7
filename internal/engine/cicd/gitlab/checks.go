package gitlab

import (
	"fmt"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/engine/cicd/script"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// project is every pipeline of the tree, with the jobs that others extend.
type project struct {
	files     map[string]*pipeline.File
	templates map[string]*document.Node // job by name
	variables map[string]*document.Node // of all files
}

// keywords lists the words at the top of a file that are no jobs.
var keywords = map[string]bool{"default": true, "include": true, "stages": true, "variables": true, "workflow": true,
	"image":    true,
	"services": true, "cache": true, "before_script": true, "after_script": true, "spec": true, "pages": false,
	"types": true}

// indexJobs runs over all files before any check, because a job may extend one of a
// file that is read later.
func (r *project) indexJobs(f *pipeline.File) {
	if r.variables == nil {
		r.variables = map[string]*document.Node{}
	}
	for _, d := range f.Docs {
		if d.IsMap() {
			for _, e := range d.Entries {
				if e.Value.IsMap() && !keywords[e.Key] {
					r.templates[e.Key] = e.Value
				}
			}
			for _, e := range d.Get("variables").Pairs() {
				r.variables[e.Key] = variableText(e.Value)
			}
		}
	}
}

// variableText returns the text of a variable: itself, or the member value.
func variableText(n *document.Node) *document.Node {
	if n.IsMap() {
		return n.Get("value")
	}
	return n
}

// chosen lists the variables whose text attackers choose.
// https://docs.gitlab.com/ci/variables/predefined_variables/
var chosen = func() map[string]string {
	m := map[string]string{}
	for _, v := range strings.Fields(`CI_COMMIT_MESSAGE CI_COMMIT_TITLE CI_COMMIT_DESCRIPTION CI_COMMIT_AUTHOR CI_COMMIT_REF_NAME CI_COMMIT_BRANCH
		CI_COMMIT_TAG CI_COMMIT_TAG_MESSAGE CI_BUILD_REF_NAME CI_BUILD_TAG CI_MERGE_REQUEST_TITLE CI_MERGE_REQUEST_DESCRIPTION
		CI_MERGE_REQUEST_SOURCE_BRANCH_NAME CI_MERGE_REQUEST_LABELS CI_MERGE_REQUEST_MILESTONE
		CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME CI_OPEN_MERGE_REQUESTS GITLAB_USER_NAME CI_RELEASE_DESCRIPTION`) {
		m[v] = v
	}
	return m
}()

// checkFile checks what holds for all jobs of a file, and then each job with the
// variables that it inherits.
func (r *project) checkFile(f *pipeline.File) {
	for _, d := range f.Docs {
		if !d.IsMap() {
			continue
		}
		r.checkIncludes(f, d)
		top := job{file: f, name: "", where: "for all jobs", node: d, repo: r,
			tainted: r.taintedVariables(d.Get("variables"), chosen)}
		top.checkVariables(d.Get("variables"))
		top.checkImages(d)
		top.checkScripts(d)
		if def := d.Get("default"); def.IsMap() {
			top.checkImages(def)
			top.checkScripts(def)
		}
		for _, e := range d.Entries {
			if keywords[e.Key] || !e.Value.IsMap() {
				continue
			}
			j := job{file: f, name: e.Key, where: fmt.Sprintf("in job %q", pipeline.Shorten(e.Key)),
				node: e.Value, repo: r}
			j.tainted = r.taintedVariables(j.inheritedMember("variables"), top.tainted)
			j.checkJob()
		}
	}
}

// taintedVariables returns the variables that hold what attackers choose: those of
// outer, and those that are set from them. A variable that is set anew loses the origin
// that it had.
func (r *project) taintedVariables(vars *document.Node, outer map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range outer {
		out[k] = v
	}
	for range 3 { // variables may name one another in any order
		for _, e := range vars.Pairs() {
			v := variableText(e.Value)
			delete(out, e.Key)
			for _, name := range script.ExpandedVariables(v.Text()) {
				if origin, ok := out[name]; ok && name != e.Key {
					out[e.Key] = origin
				}
			}
		}
	}
	return out
}

var (
	// commit and version match refs that nobody is expected to move. A component's
	// version is a tag of the catalog.
	commit  = lazyregexp.New(`^[0-9a-f]{40}$`)
	version = lazyregexp.New(`^v?\d+\.\d+\.\d+$`)
)

// checkIncludes finds pipelines that are taken from elsewhere and can change.
func (r *project) checkIncludes(f *pipeline.File, d *document.Node) {
	for _, inc := range listItems(d.Get("include")) {
		url := inc.Get("remote")
		if inc.IsScalar() && strings.Contains(inc.Text(), "://") {
			url = inc
		}
		switch {
		case url != nil && inc.Get("integrity") == nil:
			f.Report("unpinned-dependency", f.Source.Whole(url),
				pipeline.NewRating(finding.High, finding.HighConfidence),
				"The pipeline includes whatever %s returns at run time", pipeline.Shorten(url.Text()))
		case inc.Get("project") != nil:
			checkIncludedProject(f, inc)
		case inc.Get("component") != nil:
			_, ref, _ := strings.Cut(inc.Get("component").Text(), "@")
			if !commit.MatchString(ref) && !version.MatchString(ref) {
				f.ReportNode("unpinned-dependency", inc.Get("component"), "The component %s is not fixed to a full "+
					"version", pipeline.Shorten(inc.Get("component").Text()))
			}
		}
	}
}

// checkIncludedProject finds files of another project that are taken from a branch or a
// tag: whoever may push there changes this pipeline.
func checkIncludedProject(f *pipeline.File, inc *document.Node) {
	ref := inc.Get("ref")
	switch {
	case ref == nil:
		f.ReportNode("unpinned-dependency", inc.Get("project"), "The included project %s is taken from its "+
			"default branch", inc.Get("project").Text())
	case !commit.MatchString(ref.Text()):
		f.Report("unpinned-dependency", f.Source.Whole(ref), pipeline.NewRating(finding.Low, finding.MediumConfidence),
			"The included project %s is taken from %s, which can be moved", inc.Get("project").Text(),
			ref.Text())
	}
}

// job is one job, or the part of a file that holds for all of them.
type job struct {
	file    *pipeline.File
	name    string
	where   string
	node    *document.Node
	repo    *project
	tainted map[string]string
}

// inheritedMember returns a member of the job or of the jobs that it extends. Variables
// of all of them are joined. Twelve levels are one more than GitLab allows for extends.
func (j job) inheritedMember(key string) *document.Node {
	out := &document.Node{Kind: document.Map}
	seen := map[*document.Node]bool{}
	var collect func(n *document.Node, depth int) *document.Node
	collect = func(n *document.Node, depth int) *document.Node {
		if n == nil || seen[n] || depth > 12 {
			return nil
		}
		seen[n] = true
		if key != "variables" {
			if v := n.Get(key); v != nil {
				return v
			}
		}
		for _, e := range n.Get("variables").Pairs() {
			if out.Get(e.Key) == nil {
				out.Entries = append(out.Entries, e)
			}
		}
		for _, x := range listItems(n.Get("extends")) {
			if v := collect(j.repo.templates[x.Text()], depth+1); v != nil {
				return v
			}
		}
		return nil
	}
	if v := collect(j.node, 0); v != nil || key != "variables" {
		return v
	}
	return out
}

// checkJob runs every check of one job.
func (j job) checkJob() {
	j.checkVariables(j.node.Get("variables"))
	j.checkImages(j.node)
	j.checkScripts(j.node)
	j.checkConditions()
	j.checkArtifacts()
}

// checkVariables finds secrets in plain text and the switches of GitLab, Docker and Git
// that weaken the job.
func (j job) checkVariables(vars *document.Node) {
	for _, e := range vars.Pairs() {
		v := variableText(e.Value)
		j.file.CheckSecret(e.KeyNode(), v, j.where)
		switch e.Key {
		case "CI_DEBUG_TRACE", "CI_DEBUG_SERVICES":
			if v.True() || v.Text() == "1" {
				j.file.ReportNode("debug-mode", e.KeyNode(), "%s prints every command and variable, secrets "+
					"too, %s", e.Key, j.where)
			}
		case "DOCKER_TLS_CERTDIR":
			if v != nil && v.Text() == "" {
				j.file.Report("privileged-container", j.file.Source.Whole(e.KeyNode()),
					pipeline.NewRating(finding.Low, finding.MediumConfidence), "The Docker daemon of the job is "+
						"reached "+
						"without TLS, %s", j.where)
			}
		case "GIT_SSL_NO_VERIFY", "NODE_TLS_REJECT_UNAUTHORIZED":
			if disablesVerification(e.Key, v) {
				j.file.ReportNode("no-verification", e.KeyNode(), "%s switches the check of certificates "+
					"off, %s", e.Key, j.where)
			}
		}
	}
}

// disablesVerification reports whether the value switches the check of certificates off.
// Git takes 1 for that, Node.js takes 0.
func disablesVerification(name string, v *document.Node) bool {
	off := "0"
	if name == "GIT_SSL_NO_VERIFY" {
		off = "1"
	}
	return v.True() || v.Text() == off
}

// checkImages checks the image and the services of a job. Docker in Docker needs a
// privileged runner, on which a job can reach its host.
func (j job) checkImages(n *document.Node) {
	j.checkImage(n.Get("image"), "the image")
	for _, s := range listItems(n.Get("services")) {
		j.checkImage(s, "a service")
		name := s.Text()
		if s.IsMap() {
			name = s.Get("name").Text()
		}
		if strings.Contains(name, "dind") && strings.Contains(name, "docker") && !strings.Contains(name, "rootless") {
			at := s
			if s.IsMap() {
				at = s.Get("name")
			}
			j.file.Report("privileged-container", j.file.Source.Whole(at),
				pipeline.NewRating(finding.Low, finding.MediumConfidence),
				"%s needs a runner that gives containers the host's rights, %s", pipeline.Shorten(name), j.where)
		}
	}
}

// checkImage checks one image, after the variables of the file are put in, as GitLab
// does.
func (j job) checkImage(n *document.Node, what string) {
	if n.IsMap() {
		n = n.Get("name")
	}
	if n.Text() == "" {
		return
	}
	text := n.Text()
	vars := j.inheritedMember("variables")
	for _, name := range script.ExpandedVariables(text) { // a tag that a variable of the file holds
		v := variableText(vars.Get(name))
		if v == nil {
			v = j.repo.variables[name]
		}
		if v.Text() != "" && !strings.Contains(v.Text(), "$") {
			text = strings.NewReplacer("${"+name+"}", v.Text(), "$"+name, v.Text()).Replace(text)
		}
	}
	j.file.CheckImageText(text, n, "("+what+") "+j.where)
}

var (
	// inputs matches the inputs of a component; bare matches a variable that the shell
	// splits into words.
	inputs = lazyregexp.New(`\$\[\[\s*inputs\.[\w-]+[^\]]*\]\]`)
	bare   = lazyregexp.New(`(?:^|\s)\$\{?(\w+)\}?(?:\s|$)`)
)

// checkScripts checks the scripts of a job in the order in which they run. GitLab puts
// inputs into the text before it runs, and has every variable of the project in the
// environment.
func (j job) checkScripts(n *document.Node) {
	secret := j.usesSecrets()
	for _, key := range []string{"before_script", "script", "after_script"} {
		for _, s := range n.Get(key).Scalars() {
			j.file.CheckScript(pipeline.Script{Text: s, Where: j.where, HasSecret: secret, Tainted: j.tainted,
				AllSecrets: true})
			for _, at := range inputs.FindAllStringIndex(s.Text(), -1) {
				j.file.Report("script-injection", j.file.Source.Part(s, at[0], at[1]-at[0]),
					pipeline.NewRating(finding.Low, finding.LowConfidence),
					"%s is put into the script before it runs, %s", s.Text()[at[0]:at[1]], j.where)
			}
			j.checkUnquotedVariables(s)
			if strings.Contains(s.Text(), "CI_JOB_JWT") {
				j.file.ReportNode("old-job-token", s, "CI_JOB_JWT is good for every service that trusts this "+
					"GitLab, %s", j.where)
			}
		}
	}
}

// checkUnquotedVariables finds variables with an attacker's text that the shell takes apart: the
// text cannot run, but becomes options and files.
func (j job) checkUnquotedVariables(s *document.Node) {
	for _, l := range script.SplitLines(s.Text()) {
		if strings.HasPrefix(l.Text, "echo ") || strings.Contains(l.Text, "[[") {
			continue
		}
		for _, m := range bare.FindAllStringSubmatch(l.Text, -1) {
			if origin, ok := j.tainted[m[1]]; ok && !refName[origin] {
				j.file.Report("script-injection",
					j.file.Source.Part(s, l.Offset, min(l.Length, len(s.Text())-l.Offset)),
					pipeline.NewRating(finding.Low, finding.LowConfidence),
					"$%s contains %s, which is attacker-controlled, and is not quoted: it can add options, %s", m[1],
					origin,
					j.where)
			}
		}
	}
}

// refName lists variables that hold no white space, so that nothing comes of
// leaving the quotes out but a leading dash.
var refName = map[string]bool{"CI_COMMIT_REF_NAME": true, "CI_COMMIT_BRANCH": true, "CI_COMMIT_TAG": true,
	"CI_BUILD_REF_NAME": true, "CI_BUILD_TAG": true,
	"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": true, "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME": true}

// usesSecrets reports whether the scripts of the job name secrets. A name is all there
// is to see: their values are in the settings of the project.
func (j job) usesSecrets() bool {
	for _, key := range []string{"before_script", "script", "after_script"} {
		for _, s := range j.node.Get(key).Scalars() {
			for _, v := range script.ExpandedVariables(s.Text()) {
				if pipeline.IsSecret(v) {
					return true
				}
			}
		}
	}
	return j.node.Get("secrets") != nil || j.node.Get("id_tokens") != nil
}

// onMessage matches a condition on what the author of a change writes.
var onMessage = lazyregexp.New(`\$\{?(CI_COMMIT_(?:MESSAGE|TITLE|DESCRIPTION)|CI_MERGE_REQUEST_(?:TITLE|DESCRIPTION|LABELS))\}?\s*(?:=~|==)`)

// checkConditions finds rules that attackers decide with a message or a title.
func (j job) checkConditions() {
	for _, rule := range listItems(j.node.Get("rules")) {
		cond := rule.Get("if")
		m := onMessage.FindStringSubmatch(cond.Text())
		if m == nil || rule.Get("when").Text() == "never" {
			continue
		}
		if j.node.Get("environment") == nil && !j.usesSecrets() {
			continue
		}
		j.file.ReportNode("untrusted-condition", cond, "%s, which is attacker-controlled, decides whether the job "+
			"with its "+
			"secrets "+
			"runs, %s", m[1], j.where)
	}
}

// checkArtifacts finds artifacts of the whole folder: .git/config and files of
// credentials with tokens are among them, and an artifact of a public project is
// public.
func (j job) checkArtifacts() {
	a := j.node.Get("artifacts")
	for _, p := range a.Get("paths").Scalars() {
		if t := strings.TrimSuffix(strings.TrimPrefix(p.Text(), "./"), "/"); t == "." || t == "" || t == "*" ||
			t == "**" || t == "**/*" || t == ".git" || t == "$CI_PROJECT_DIR" {
			j.file.ReportNode("artifact-exposure", p, "The whole folder, with files that contain tokens, becomes an "+
				"artifact, %s",
				j.where)
		}
	}
	if a.Get("untracked").True() {
		j.file.ReportNode("artifact-exposure", a.Get("untracked"), "Every file that is not in the repository "+
			"becomes an "+
			"artifact, %s", j.where)
	}
}
