// Package circleci finds vulnerabilities in pipelines of CircleCI.
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
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in pipelines of CircleCI.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/circleci",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    isConfigPath,
	File: func(p *scan.FilePass) error {
		return pipeline.AnalyzeFile(p, Rules, func(f *pipeline.File) {
			for _, d := range f.Docs {
				(&configDocument{file: f, doc: d}).checkDocument()
			}
		})
	},
}

// isConfigPath reports whether the file is in the folder that CircleCI reads. With
// setup workflows there may be several.
func isConfigPath(p string) bool {
	dir, base := path.Split(p)
	return (dir == ".circleci/" || strings.HasSuffix(dir, "/.circleci/")) && (strings.HasSuffix(base, ".yml") ||
		strings.HasSuffix(base, ".yaml"))
}

//go:embed rules.md
var rulesPage string

// Rules are the rules of CircleCI.
var Rules = pipeline.LoadRules("cicd/circleci", "yaml", rulesPage)

// configDocument is one document of a configuration.
type configDocument struct {
	file *pipeline.File
	doc  *document.Node
	seen int
}

// checkDocument checks one configuration: its orbs, its jobs, executors and commands,
// and which jobs of its workflows get secrets.
func (c *configDocument) checkDocument() {
	if !c.doc.IsMap() {
		return
	}
	c.checkOrbs(c.doc.Get("orbs"))
	for _, section := range []string{"jobs", "executors", "commands"} {
		for _, e := range c.doc.Get(section).Pairs() {
			c.checkUnit(e.Value, fmt.Sprintf("in %s %q", strings.TrimSuffix(section, "s"),
				pipeline.Shorten(e.Key)))
		}
	}
	for _, e := range c.doc.Get("workflows").Pairs() {
		c.checkWorkflow(e.Key, e.Value)
	}
}

// full matches a full version of an orb; versions are immutable there.
var full = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// checkOrbs reports orbs without a full version. Orbs inside of the file are
// configurations themselves; five levels bound the recursion.
func (c *configDocument) checkOrbs(orbs *document.Node) {
	for _, e := range orbs.Pairs() {
		if e.Value.IsMap() { // an orb in the file
			inner := &configDocument{file: c.file, doc: e.Value, seen: c.seen + 1}
			if inner.seen < 5 {
				inner.checkDocument()
			}
			continue
		}
		_, version, _ := strings.Cut(e.Value.Text(), "@")
		switch {
		case full.MatchString(version):
		case version == "volatile" || version == "" || strings.HasPrefix(version, "dev:"):
			c.file.Report("unpinned-dependency", c.file.Source.Whole(e.Value),
				pipeline.NewRating(finding.High, finding.HighConfidence), "The orb %s is whatever is newest when the "+
					"pipeline runs",
				pipeline.Shorten(e.Value.Text()))
		case !strings.Contains(version, "<<"):
			c.file.Report("unpinned-dependency", c.file.Source.Whole(e.Value),
				pipeline.NewRating(finding.Low, finding.MediumConfidence),
				"The orb %s is not fixed to a full version", pipeline.Shorten(e.Value.Text()))
		}
	}
}

// chosen says who can choose a value of a pipeline.
// https://circleci.com/docs/pipeline-variables/
var chosen = regexp.MustCompile(`<<\s*(pipeline\.(?:git\.(?:branch|tag)|trigger_parameters\.[\w.-]+|event\.[\w.-]+|parameters\.[\w-]+)|parameters\.[\w-]+)\s*>>`)

// branches lists the variables of the environment that attackers choose.
var branches = map[string]string{"CIRCLE_BRANCH": "CIRCLE_BRANCH", "CIRCLE_TAG": "CIRCLE_TAG",
	"CIRCLE_PR_REPONAME": "CIRCLE_PR_REPONAME"}

// checkUnit checks a job, an executor or a command.
func (c *configDocument) checkUnit(n *document.Node, where string) {
	for _, i := range n.Get("docker").List() {
		c.file.CheckImage(i.Get("image"), where)
		for _, e := range i.Get("auth").Pairs() {
			c.file.CheckSecret(e.KeyNode(), e.Value, where)
		}
		c.checkEnvironment(i.Get("environment"), where)
	}
	c.checkEnvironment(n.Get("environment"), where)
	types := map[string]string{}
	for _, e := range n.Get("parameters").Pairs() {
		types[e.Key] = e.Value.Get("type").Text()
		if e.Value.Get("type").Text() == "steps" {
			c.checkSteps(e.Value.Get("default"), where, types)
		}
	}
	c.checkSteps(n.Get("steps"), where, types)
	c.checkSteps(n.Get("pre-steps"), where, types)
	c.checkSteps(n.Get("post-steps"), where, types)
}

// checkEnvironment finds secrets in plain text among variables, which are a map or a
// list of maps.
func (c *configDocument) checkEnvironment(n *document.Node, where string) {
	for _, e := range n.Pairs() {
		c.file.CheckSecret(e.KeyNode(), e.Value, where)
	}
	for _, item := range n.List() {
		for _, e := range item.Pairs() {
			c.file.CheckSecret(e.KeyNode(), e.Value, where)
		}
	}
}

// checkSteps checks the scripts of a list of steps, and of those below when and unless.
// types holds the types of the parameters that the steps can use.
func (c *configDocument) checkSteps(n *document.Node, where string, types map[string]string) {
	for _, step := range n.List() {
		for _, key := range []string{"when", "unless"} {
			c.checkSteps(step.Get(key).Get("steps"), where, types)
		}
		run := step.Get("run")
		if run == nil {
			continue
		}
		text := run
		if run.IsMap() {
			text = run.Get("command")
			c.checkEnvironment(run.Get("environment"), where)
		}
		if text.Text() != "" {
			c.checkScript(text, where, types)
		}
	}
}

// checkScript checks a script, and the values that are put into it before it runs. A
// value of the trigger or of git is an attacker's; one of a parameter is as tainted as
// what the file passes to it, and harmless where its type leaves no room for code.
func (c *configDocument) checkScript(text *document.Node, where string, types map[string]string) {
	c.file.CheckScript(pipeline.Script{Text: text, Where: where, HasSecret: pipeline.NamesSecret(text.Text()),
		Tainted:    branches,
		AllSecrets: true})
	for _, at := range chosen.FindAllStringSubmatchIndex(text.Text(), -1) {
		whole, name := text.Text()[at[0]:at[1]], text.Text()[at[2]:at[3]]
		place := c.file.Source.Part(text, at[0], at[1]-at[0])
		switch {
		case strings.HasPrefix(name, "pipeline.git."), strings.HasPrefix(name, "pipeline.event."):
			c.file.Report("script-injection", place, pipeline.NewRating(finding.High, finding.HighConfidence),
				"%s, which is attacker-controlled, becomes part of the script %s", whole, where)
		case strings.HasPrefix(name, "pipeline."):
			if t := c.doc.Get("parameters").Get(strings.TrimPrefix(name,
				"pipeline.parameters.")).Get("type").Text(); t == "boolean" || t == "integer" || t == "enum" {
				continue
			}
			c.file.Report("script-injection", place, pipeline.NewRating(finding.Medium, finding.MediumConfidence),
				"%s, which whoever "+
					"triggers the pipeline chooses, becomes part of the script %s", whole, where)
		default:
			if origin := c.taintedArgument(strings.TrimPrefix(name, "parameters.")); origin != "" {
				c.file.Report("script-injection", place, pipeline.NewRating(finding.High, finding.HighConfidence),
					"%s (%s), which is attacker-controlled, becomes part of the script %s", whole, origin, where)
			} else if t := types[strings.TrimPrefix(name, "parameters.")]; t == "string" {
				c.file.Report("script-injection", place, pipeline.NewRating(finding.Low, finding.LowConfidence),
					"%s becomes "+
						"part of the script before it runs, %s", whole, where)
			}
		}
	}
}

// taintedArgument returns what attackers choose and somebody in the file passes as the
// parameter, or "".
func (c *configDocument) taintedArgument(name string) string {
	origin := ""
	c.doc.Walk(func(n *document.Node) bool {
		if m := chosen.FindStringSubmatch(n.Get(name).Text()); m != nil && strings.HasPrefix(m[1], "pipeline.git.") {
			origin = m[1]
		}
		return origin == ""
	})
	return origin
}

// checkWorkflow checks which jobs get contexts. An approval job before it, or a filter
// on branches, holds a job back. https://circleci.com/docs/contexts/
func (c *configDocument) checkWorkflow(name string, n *document.Node) {
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
				c.file.ReportNode("context-in-open-job", e.Value.Key("context"), "The job %q has the secrets of a "+
					"context on "+
					"every branch, in workflow %q", pipeline.Shorten(e.Key), pipeline.Shorten(name))
			}
		}
	}
}
