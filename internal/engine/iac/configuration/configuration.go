// Package configuration finds mistakes in infrastructure code of all formats: it
// reads the files into documents and asks them the library of queries.
package configuration

import (
	"cmp"
	_ "embed" // the manual
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/checks"
	"merlon/internal/engine/iac/cloud"
	"merlon/internal/engine/iac/declared"
	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/queries"
	"merlon/internal/engine/iac/rules"
	"merlon/internal/engine/iac/sam"
	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds mistakes in infrastructure code.
var Analyzer = &scan.Analyzer{
	ID:       "iac/configuration",
	Version:  1,
	Analysis: finding.IaC,
	Doc:      doc + "\n#" + cloud.Doc,
	Rules:    listRules,
	Match:    wanted,
	Project:  run,
}

// listRules returns the queries of the library and our own rules.
func listRules() ([]*finding.Rule, error) {
	asked, err := queries.Rules()
	if err != nil {
		return nil, err
	}
	own, err := rules.Rules()
	if err != nil {
		return nil, err
	}
	return slices.Concat(asked, checks.Rules(), own), nil
}

// run reads, asks and reports.
func run(p *scan.ProjectPass) error {
	p.Progress(0, "read infrastructure code")
	docs, project, err := read(p)
	if err != nil {
		return err
	}
	p.Progress(40, "check infrastructure code")
	projects := []*terraform.Project{declared.Project(docs)}
	if project != nil {
		projects = append(projects, project)
	}
	var beside errgroup.Group
	var lib *rules.Library
	beside.Go(func() (err error) { lib, err = rules.For(projects...); return err }) // as long as some queries take
	flaws, failures, err := queries.Run(p.Context, docs, p.Workers)
	if err := cmp.Or(err, beside.Wait()); err != nil {
		return err
	}
	for _, f := range failures {
		p.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the query %s failed: %v", f.Query, f.Err),
			Path: f.Path})
	}
	flaws = once(append(decided(flaws, p.Degrade), checks.Run(docs)...))
	flaws = plausible(flaws, docs, p.Files)
	var all []told
	for _, f := range flaws {
		all = append(all, told{f.Rule, describe(f), address(f)})
	}
	for _, one := range projects {
		found, err := cloud.Find(p, one, lib, known(flaws))
		if err != nil {
			return err
		}
		for _, f := range found {
			all = append(all, told{f.Rule, f.Finding, f.Address})
		}
	}
	for _, t := range gather(merge(all)) {
		p.Report(t.rule, t.finding)
	}
	return p.Context.Err()
}

// describe makes the finding of a flaw.
func describe(f queries.Flaw) finding.Finding {
	address := address(f)
	message := f.Rule.Name
	if f.Actual != "" {
		message = sam.Written(clean(f.Actual))
	}
	if address != "" {
		message = address + ": " + message
	}
	if f.Expected != "" {
		message += ". Expected: " + sam.Written(clean(f.Expected))
	}
	if f.Document.Variant != "" {
		message += " (with " + f.Document.Variant + ")"
	}
	return finding.Finding{
		RuleID: f.Rule.ID, Message: message, Language: f.Rule.Language,
		Location: finding.Location{Path: f.Path, StartLine: f.Line, EndLine: f.Line},
		Identity: strings.Join([]string{address, f.Key}, "\n"),
	}
}

// address names the resource as its platform does: "aws_s3_bucket.logs", with the
// module before it, "Pod/web", "Bucket" of CloudFormation.
func address(f queries.Flaw) string {
	name := ""
	switch f.Document.Platform {
	case document.Terraform:
		name = terraformAddress(f)
	case document.CloudFormation:
		name = joined(logical(f), " ", f.Kind)
	case document.Kubernetes, document.Knative, document.Crossplane:
		name = joined(f.Kind, "/", f.Name)
	default:
		name = joined(f.Kind, " ", f.Name)
	}
	if name == "" {
		return ""
	}
	return f.Document.Prefix + name
}

// logical returns the name that the template gives the resource.
func logical(f queries.Flaw) string { return sam.Written(element(f)) }

// element returns the name of the resource in the document; what the query names may be
// the name of the thing in the cloud.
func element(f queries.Flaw) string {
	steps := f.Steps
	if len(steps) == 0 {
		steps = strings.Split(f.Key, ".")
	}
	if i := slices.Index(steps, "Resources"); i >= 0 && i+1 < len(steps) {
		return strings.Trim(steps[i+1], "{}")
	}
	return f.Name
}

// terraformAddress takes the address from the path of the value, or from the
// query's words for the place, which begin with it: the name that a query gives is
// often that of the thing in the cloud and not of the resource.
func terraformAddress(f queries.Flaw) string {
	if s := f.Steps; len(s) >= 3 && s[0] == "resource" {
		return whole(s[1], s[2])
	} else if len(s) >= 3 && s[0] == "data" {
		return "data." + whole(s[1], s[2])
	}
	kind, rest, ok := strings.Cut(f.Key, "[")
	if name := upToBracket(rest); ok && kind != "" && name != "" && !strings.ContainsAny(kind, ". {") {
		return whole(kind, strings.Trim(name, "{}"))
	}
	return joined(f.Kind, ".", f.Name)
}

// upToBracket returns the text before the bracket that closes.
func upToBracket(s string) string {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	return ""
}

// whole joins a type and a name; a plan gives the whole address as the name.
func whole(kind, name string) string {
	if strings.Contains(name, kind+".") {
		return name
	}
	return kind + "." + name
}

func joined(kind, by, name string) string {
	if kind == "" || name == "" {
		return or(name, kind)
	}
	return kind + by + name
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// extra is what the evaluator's "sprintf" adds when a query gives it too much.
var extra = regexp.MustCompile(`%!\([A-Z]+[^)]*\)`)

// clean makes one line of a query's text, without the braces that quote words in
// its search keys.
func clean(s string) string {
	s = extra.ReplaceAllString(s, "")
	s = strings.NewReplacer("{{", "", "}}", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRight(s, ". ")
}
