// Package cloud holds our own rules for cloud resources. Most are data: which
// argument of which resource must have which value, one file for each provider and
// service, written from the providers' documentation and from the benchmarks of
// the Center for Internet Security. Those that follow one resource to another, or
// read a policy, are functions.
//
// A rule speaks only of what is known. An argument whose value nobody knows before
// the provider is asked is silent.
package cloud

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"merlon/internal/engine/iac/rules/calibration"
	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
)

//go:embed data/*.yaml
var data embed.FS

// Prefix stands before the id of each rule.
const Prefix = "iac/cloud/"

// A Match is a place where a rule is broken.
type Match struct {
	Rule     *finding.Rule
	Resource *terraform.Resource // nil for a provider or an output
	Module   *terraform.Module
	Address  string
	Message  string
	Place    finding.Location
	Steps    []finding.Step // beyond the calls of the module

	// Arguments is code to merge into the resource so that the rule holds; empty where the
	// conditions leave a choice.
	Arguments string
}

// group is a set of checks that share their texts.
type group struct {
	ID       string   `yaml:"id"`
	Title    string   `yaml:"title"`
	Severity string   `yaml:"severity"`
	CWE      string   `yaml:"cwe"`
	CIS      string   `yaml:"cis"`
	Why      string   `yaml:"why"`
	Fix      string   `yaml:"fix"`
	Types    []string `yaml:"types"`
	Each     string   `yaml:"each"`
	When     []string `yaml:"when"`
	Must     []string `yaml:"must"`
	// With lists resources that may satisfy the rule instead: see related.
	With  []with `yaml:"with"`
	Cases []kind `yaml:"cases"`
}

// kind is one check of a group, a rule of its own.
type kind struct {
	What     string `yaml:"what"`
	ID       string `yaml:"id"`
	CIS      string `yaml:"cis"`
	Severity string `yaml:"severity"`
	// Fix replaces the remediation where the conditions do not say what to change.
	Fix   string   `yaml:"fix"`
	Types []string `yaml:"types"`
	Each  string   `yaml:"each"`
	When  []string `yaml:"when"`
	Must  []string `yaml:"must"`
	With  []with   `yaml:"with"`
}

// with names a resource that speaks of the one under check: "aws_s3_bucket_versioning"
// whose argument By names it. Without By, any of the same root module will do.
type with struct {
	Type string   `yaml:"type"`
	By   string   `yaml:"by"`
	Must []string `yaml:"must"`
}

// check is a declarative rule, ready to be asked.
type check struct {
	rule  *finding.Rule
	types []string
	each  []step
	when  []*condition
	must  []*condition
	with  []related
	// arguments is code that meets the conditions in any resource; empty where there is none.
	arguments string
}

// A Library is some of the rules.
type Library struct {
	checks map[string][]*check // by type
	rules  []*finding.Rule
}

// A passage is one group of a file of rules, as text. Reading all of them takes longer
// than most scans need for everything else, so that a passage is read when there is a
// resource that it names.
type passage struct {
	file  string // without its folder and extension
	line  int    // of the file, before the passage
	text  string
	lower string
	load  func() (*Library, error) // once in a process
}

// passages are all of them, in the order of the files.
var passages = sync.OnceValues(func() ([]*passage, error) {
	names, err := fs.Glob(data, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*passage
	for _, name := range names {
		text, err := data.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, splitPassages(strings.TrimSuffix(path.Base(name), ".yaml"), string(text))...)
	}
	return out, nil
})

// splitPassages cuts a file of rules into its groups, which are the items of its list.
func splitPassages(file, text string) []*passage {
	var out []*passage
	line := 0
	for start := 0; start < len(text); {
		end := len(text)
		if next := strings.Index(text[start+1:], "\n- "); next >= 0 {
			end = start + 1 + next + 1
		}
		p := &passage{file: file, line: line, text: text[start:end], lower: strings.ToLower(text[start:end])}
		p.load = sync.OnceValues(p.readGroups)
		out = append(out, p)
		line += strings.Count(p.text, "\n")
		start = end
	}
	return out
}

// readGroups reads the passage.
func (p *passage) readGroups() (*Library, error) {
	lib := &Library{checks: map[string][]*check{}}
	var groups []group
	decoder := yaml.NewDecoder(strings.NewReader(p.text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&groups); err != nil && !errors.Is(err, io.EOF) { // a passage of comments
		return nil, fmt.Errorf("read %s.yaml, behind line %d: %w", p.file, p.line, err)
	}
	for i := range groups {
		if err := lib.addGroup(&groups[i], p.file); err != nil {
			return nil, fmt.Errorf("read %s.yaml, behind line %d: %w", p.file, p.line, err)
		}
	}
	return lib, nil
}

// mayConcern reports whether the passage may have a rule about one of the types, which are
// in lower case.
func (p *passage) mayConcern(types []string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return strings.Contains(p.lower, t) })
}

// loadFor reads the rules that may be about one of the types.
func loadFor(types []string) (*Library, error) {
	all, err := passages()
	if err != nil {
		return nil, err
	}
	lib := &Library{checks: map[string][]*check{}}
	for _, p := range all {
		if types != nil && !p.mayConcern(types) {
			continue
		}
		part, err := p.load()
		if err != nil {
			return nil, err
		}
		lib.rules = append(lib.rules, part.rules...)
		for kind, checks := range part.checks {
			lib.checks[kind] = append(lib.checks[kind], checks...)
		}
	}
	return lib, nil
}

// loadAll reads all rules.
func loadAll() (*Library, error) {
	lib, err := loadFor(nil)
	if err != nil {
		return nil, err
	}
	for _, f := range functions {
		lib.rules = append(lib.rules, f.rule)
	}
	seen := map[string]bool{}
	for _, r := range lib.rules {
		if seen[r.ID] {
			return nil, fmt.Errorf("rule %s: the id stands twice", r.ID)
		}
		seen[r.ID] = true
	}
	return lib, nil
}

// Rules returns every rule.
func Rules() ([]*finding.Rule, error) {
	lib, err := loadAll()
	if err != nil {
		return nil, err
	}
	return lib.rules, nil
}

// addGroup makes the checks of a group.
func (lib *Library) addGroup(g *group, file string) error {
	if len(g.Cases) == 0 {
		g.Cases = []kind{{Types: g.Types, Each: g.Each, When: g.When, Must: g.Must, With: g.With}}
		g.Types, g.When, g.Must, g.With, g.Each = nil, nil, nil, nil, ""
	}
	for _, k := range g.Cases {
		c, err := k.newCheck(g)
		if err != nil {
			return fmt.Errorf("rule %s: %w", g.ID, err)
		}
		if l := languages[file]; l != "" {
			c.rule.Language = l
		}
		block, arguments := c.snippet(c.rule.Language)
		c.rule.HowToPrevent, c.arguments = c.rule.HowToPrevent+"\n\n"+block, arguments
		lib.rules = append(lib.rules, c.rule)
		for _, t := range c.types {
			if strings.HasPrefix(t, "Microsoft.") {
				t = strings.ToLower(t)
			}
			lib.checks[t] = append(lib.checks[t], c)
		}
	}
	return nil
}

// languages is what the resources of a file of rules are written in, where it is
// not Terraform. The words are those of the query library's rules.
var languages = map[string]string{"cloudformation": "CloudFormation", "azure_templates": "Azure Resource Manager"}

// shortType makes of a type the end of an id: "aws_s3_bucket" is "s3-bucket",
// "AWS::EC2::Volume" is "ec2-volume", "Microsoft.Sql/servers" is "sql-servers".
func shortType(kind string) string {
	if name, ok := strings.CutPrefix(kind, "AWS::"); ok {
		return strings.ToLower(strings.ReplaceAll(name, "::", "-"))
	}
	if name, ok := strings.CutPrefix(kind, "Microsoft."); ok {
		return strings.ToLower(strings.NewReplacer("/", "-", ".", "-").Replace(name))
	}
	_, name, _ := strings.Cut(kind, "_")
	return strings.ReplaceAll(name, "_", "-")
}

// newCheck reads the lines of a rule.
func (k kind) newCheck(g *group) (*check, error) {
	c := &check{types: append(append([]string(nil), g.Types...), k.Types...)}
	if len(c.types) == 0 {
		return nil, fmt.Errorf("no types")
	}
	id, title := g.ID, g.Title
	if k.What != "" || k.ID != "" {
		suffix := k.ID
		if suffix == "" {
			suffix = shortType(c.types[0])
		}
		id += "-" + suffix
		title = strings.ReplaceAll(title, "{what}", k.What)
	}
	c.rule = describe(id, title, g, firstOf(k.Severity, g.Severity), firstOf(k.CIS, g.CIS))
	if c.rule.Severity.Rank() == 0 || g.Why == "" || g.Fix == "" || g.CWE == "" || title == "" {
		return nil, fmt.Errorf("severity, cwe, title, why and fix are needed")
	}
	if cis := firstOf(k.CIS, g.CIS); cis != "" && fullBenchmark(cis) == cis {
		return nil, fmt.Errorf("unknown benchmark %q", cis)
	}
	if err := k.addConditions(c, g); err != nil {
		return nil, err
	}
	if c.rule.HowToPrevent = k.Fix; k.Fix == "" {
		c.rule.HowToPrevent = c.remediation(g.Fix)
	}
	return c, nil
}

// addConditions reads the conditions of a check: those of its group come first.
func (k kind) addConditions(c *check, g *group) error {
	if each := firstOf(k.Each, g.Each); each != "" {
		one, err := parseCondition(each)
		if err != nil {
			return err
		}
		c.each = one.path
	}
	var err error
	if c.when, err = parseAll(g.When, k.When); err != nil {
		return err
	}
	if c.must, err = parseAll(g.Must, k.Must); err != nil {
		return err
	}
	for _, w := range append(append([]with(nil), g.With...), k.With...) {
		must, err := parseAll(w.Must, nil)
		if err != nil {
			return err
		}
		c.with = append(c.with, related{w.Type, w.By, must})
	}
	if len(c.must) == 0 && len(c.with) == 0 {
		return fmt.Errorf("nothing must hold")
	}
	return nil
}

func parseAll(lists ...[]string) ([]*condition, error) {
	var out []*condition
	for _, list := range lists {
		for _, text := range list {
			c, err := parseCondition(text)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// describe makes the rule that people read.
func describe(id, title string, g *group, severity, cis string) *finding.Rule {
	r := &finding.Rule{
		ID: Prefix + id, Analysis: finding.IaC, Name: title, ShortDescription: title + ".",
		Description: g.Why, CWE: []string{g.CWE}, OWASP: []string{"A05:2021", "A02:2025"},
		Severity: finding.Severity(severity), Confidence: finding.HighConfidence, Language: "terraform",
	}
	if cis != "" {
		r.Description += "\n\nReference: " + fullBenchmark(cis) + "."
	}
	r.AddReferences()
	calibration.Apply(r)
	return r
}

// benchmarks are the names that stand before a section in the tables, with the whole
// name and the version whose sections they are.
var benchmarks = map[string]string{
	"CIS AWS Foundations":   "CIS Amazon Web Services Foundations Benchmark 3.0.0, section",
	"CIS Azure Foundations": "CIS Microsoft Azure Foundations Benchmark 2.0.0, section",
	"CIS Google Cloud":      "CIS Google Cloud Platform Foundation Benchmark 2.0.0, section",
	"CIS GKE":               "CIS Google Kubernetes Engine Benchmark 1.6.0, section",
	"CIS Amazon EKS":        "CIS Amazon Elastic Kubernetes Service Benchmark 1.5.0, section",
	"AWS Foundational Security Best Practices": "AWS Foundational Security Best Practices, control",
}

// fullBenchmark writes the name of a benchmark out.
func fullBenchmark(cis string) string {
	name, section := cis, ""
	if i := strings.LastIndexByte(cis, ' '); i > 0 {
		name, section = cis[:i], cis[i+1:]
	}
	if full := benchmarks[name]; full != "" {
		return full + " " + section
	}
	return cis
}
