// Package circleci finds flaws in pipelines of CircleCI.
//
// The language: https://circleci.com/docs/configuration-reference/
package circleci

import (
	_ "embed" // the manual
	"fmt"
	"path"
	"regexp"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/engine/cicd/rule"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds flaws in pipelines of CircleCI.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/circleci",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    match,
	File: func(p *scan.FilePass) error {
		return pipeline.Check(p, Rules, func(f *pipeline.File) {
			for _, d := range f.Docs {
				(&config{file: f, doc: d}).check()
			}
		})
	},
}

func match(p string) bool {
	dir, base := path.Split(p)
	return (dir == ".circleci/" || strings.HasSuffix(dir, "/.circleci/")) && (strings.HasSuffix(base, ".yml") ||
		strings.HasSuffix(base, ".yaml"))
}

// Rules are the rules of CircleCI.
var Rules = rule.New("cicd/circleci", "yaml", pipeline.Texts(
	rule.Text{ID: "context-in-open-job", Name: "Secrets available to every branch", Severity: finding.Low,
		Confidence: finding.Uncertain, CWE: "CWE-272", Risk: "CICD-SEC-5",
		What: "A job with a context of secrets runs on every branch, and nothing holds it.",
		Why: "Whoever may push a branch changes what the job does, with the secrets. Where secrets are passed to " +
			"builds of forks, strangers do.",
		Fix: "Limit the job with `filters:` to protected branches, or let an approval job go before it, and " +
			"restrict the context."},
)...)

// config is one document of a configuration.
type config struct {
	file *pipeline.File
	doc  *document.Node
	seen int
}

func (c *config) check() {
	if !c.doc.IsMap() {
		return
	}
	c.orbs(c.doc.Get("orbs"))
	for _, section := range []string{"jobs", "executors", "commands"} {
		for _, e := range c.doc.Get(section).Pairs() {
			c.unit(e.Value, fmt.Sprintf("in %s %q", strings.TrimSuffix(section, "s"), pipeline.Short(e.Key)))
		}
	}
	for _, e := range c.doc.Get("workflows").Pairs() {
		c.workflow(e.Key, e.Value)
	}
}

var full = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

func (c *config) orbs(orbs *document.Node) {
	for _, e := range orbs.Pairs() {
		if e.Value.IsMap() { // an orb in the file
			inner := &config{file: c.file, doc: e.Value, seen: c.seen + 1}
			if inner.seen < 5 {
				inner.check()
			}
			continue
		}
		_, version, _ := strings.Cut(e.Value.Text(), "@")
		switch {
		case full.MatchString(version):
		case version == "volatile" || version == "" || strings.HasPrefix(version, "dev:"):
			c.file.Report("unpinned-dependency", c.file.Source.Whole(e.Value),
				pipeline.As(finding.High, finding.Certain), "The orb %s is whatever is newest when the pipeline runs",
				pipeline.Short(e.Value.Text()))
		case !strings.Contains(version, "<<"):
			c.file.Report("unpinned-dependency", c.file.Source.Whole(e.Value), pipeline.As(finding.Low, finding.Likely),
				"The orb %s is not fixed to a full version", pipeline.Short(e.Value.Text()))
		}
	}
}

// chosen says who can choose a value of a pipeline.
// https://circleci.com/docs/pipeline-variables/
var chosen = regexp.MustCompile(`<<\s*(pipeline\.(?:git\.(?:branch|tag)|trigger_parameters\.[\w.-]+|event\.[\w.-]+|parameters\.[\w-]+)|parameters\.[\w-]+)\s*>>`)

// branches lists the variables of the environment that strangers choose.
var branches = map[string]string{"CIRCLE_BRANCH": "CIRCLE_BRANCH", "CIRCLE_TAG": "CIRCLE_TAG",
	"CIRCLE_PR_REPONAME": "CIRCLE_PR_REPONAME"}

// unit checks a job, an executor or a command.
func (c *config) unit(n *document.Node, where string) {
	for _, i := range n.Get("docker").List() {
		c.file.Image(i.Get("image"), where)
		for _, e := range i.Get("auth").Pairs() {
			c.file.Secret(e.KeyNode(), e.Value, where)
		}
		c.environment(i.Get("environment"), where)
	}
	c.environment(n.Get("environment"), where)
	types := map[string]string{}
	for _, e := range n.Get("parameters").Pairs() {
		types[e.Key] = e.Value.Get("type").Text()
		if e.Value.Get("type").Text() == "steps" {
			c.steps(e.Value.Get("default"), where, types)
		}
	}
	c.steps(n.Get("steps"), where, types)
	c.steps(n.Get("pre-steps"), where, types)
	c.steps(n.Get("post-steps"), where, types)
}

func (c *config) environment(n *document.Node, where string) {
	for _, e := range n.Pairs() {
		c.file.Secret(e.KeyNode(), e.Value, where)
	}
	for _, item := range n.List() {
		for _, e := range item.Pairs() {
			c.file.Secret(e.KeyNode(), e.Value, where)
		}
	}
}

func (c *config) steps(n *document.Node, where string, types map[string]string) {
	for _, step := range n.List() {
		for _, key := range []string{"when", "unless"} {
			c.steps(step.Get(key).Get("steps"), where, types)
		}
		run := step.Get("run")
		if run == nil {
			continue
		}
		text := run
		if run.IsMap() {
			text = run.Get("command")
			c.environment(run.Get("environment"), where)
		}
		if text.Text() != "" {
			c.script(text, where, types)
		}
	}
}

func (c *config) script(text *document.Node, where string, types map[string]string) {
	c.file.Script(pipeline.Script{Text: text, Where: where, Secret: pipeline.NamesSecret(text.Text()), Chosen: branches,
		Whole: true})
	for _, at := range chosen.FindAllStringSubmatchIndex(text.Text(), -1) {
		whole, name := text.Text()[at[0]:at[1]], text.Text()[at[2]:at[3]]
		place := c.file.Source.Part(text, at[0], at[1]-at[0])
		switch {
		case strings.HasPrefix(name, "pipeline.git."), strings.HasPrefix(name, "pipeline.event."):
			c.file.Report("script-injection", place, pipeline.As(finding.High, finding.Certain),
				"%s, which strangers choose, becomes part of the script %s", whole, where)
		case strings.HasPrefix(name, "pipeline."):
			if t := c.doc.Get("parameters").Get(strings.TrimPrefix(name,
				"pipeline.parameters.")).Get("type").Text(); t == "boolean" || t == "integer" || t == "enum" {
				continue
			}
			c.file.Report("script-injection", place, pipeline.As(finding.Medium, finding.Likely), "%s, which whoever "+
				"triggers the pipeline chooses, becomes part of the script %s", whole, where)
		default:
			if origin := c.passed(strings.TrimPrefix(name, "parameters.")); origin != "" {
				c.file.Report("script-injection", place, pipeline.As(finding.High, finding.Certain), "%s (%s), which "+
					"strangers choose, becomes part of the script %s", whole, origin, where)
			} else if t := types[strings.TrimPrefix(name, "parameters.")]; t == "string" {
				c.file.Report("script-injection", place, pipeline.As(finding.Low, finding.Uncertain), "%s becomes "+
					"part of the script before it runs, %s", whole, where)
			}
		}
	}
}

// passed returns what strangers choose and somebody in the file passes as the
// parameter, or "".
func (c *config) passed(name string) string {
	origin := ""
	c.doc.Walk(func(n *document.Node) bool {
		if m := chosen.FindStringSubmatch(n.Get(name).Text()); m != nil && strings.HasPrefix(m[1], "pipeline.git.") {
			origin = m[1]
		}
		return origin == ""
	})
	return origin
}

// workflow checks which jobs get contexts.
func (c *config) workflow(name string, n *document.Node) {
	jobs := n.Get("jobs").List()
	approval := map[string]bool{}
	for _, j := range jobs {
		for _, e := range j.Pairs() {
			if e.Value.Get("type").Text() == "approval" {
				approval[e.Key] = true
			}
		}
	}
	for _, j := range jobs {
		for _, e := range j.Pairs() {
			if e.Value.Get("context") == nil || e.Value.Get("filters") != nil ||
				e.Value.Get("type").Text() == "approval" {
				continue
			}
			held := false
			for _, r := range e.Value.Get("requires").Scalars() {
				held = held || approval[r.Text()]
			}
			if !held {
				c.file.At("context-in-open-job", e.Value.Key("context"), "The job %q has the secrets of a context on "+
					"every branch, in workflow %q", pipeline.Short(e.Key), pipeline.Short(name))
			}
		}
	}
}
