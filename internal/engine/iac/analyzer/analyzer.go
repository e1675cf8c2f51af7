// Package analyzer finds mistakes in infrastructure code of all formats: it
// reads the files into documents and asks them the library of queries.
package analyzer

import (
	"cmp"
	"context"
	_ "embed" // the manual
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/normalize"
	"merlon/internal/engine/iac/rules/cloud"
	"merlon/internal/engine/iac/rules/workload"
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
	Rules:    func() ([]*finding.Rule, error) { return listRules(kics.Rules) },
	Match:    isInfrastructure,
	Project:  func(p *scan.ProjectPass) error { return analyzeTree(p, kics.Run) },
}

// listRules returns the queries of the library and our own rules. Of a build without
// the library these are our own, with the error that says so.
func listRules(library func() ([]*finding.Rule, error)) ([]*finding.Rule, error) {
	asked, missing := library()
	if missing != nil && !errors.Is(missing, kics.ErrNoLibrary) {
		return nil, missing
	}
	own, err := cloud.Rules()
	if err != nil {
		return nil, err
	}
	return slices.Concat(asked, workload.Rules(), own), missing
}

// queryLibrary runs the queries that documents can trigger (kics.Run).
type queryLibrary func(context.Context, []*document.Document, int) ([]kics.Flaw, []kics.Failure, error)

// analyzeTree reads the documents of the tree, runs all rules on them and reports what
// they find. Without the library of queries our own rules still run, and the analysis is
// degraded.
func analyzeTree(p *scan.ProjectPass, ask queryLibrary) error {
	p.Progress(0, "read infrastructure code")
	docs, project, err := readTree(p)
	if err != nil {
		return err
	}
	p.Progress(40, "check infrastructure code")
	projects := []*terraform.Project{normalize.Project(docs)}
	if project != nil {
		projects = append(projects, project)
	}
	var beside errgroup.Group
	var lib *cloud.Library
	beside.Go(func() (err error) { lib, err = cloud.For(projects...); return err }) // as long as some queries take
	flaws, failures, err := ask(p.Context, docs, p.Workers)
	if errors.Is(err, kics.ErrNoLibrary) {
		p.Degrade(scan.Reason{Code: "unavailable", Message: err.Error()})
		err = nil
	}
	if err := cmp.Or(err, beside.Wait()); err != nil {
		return err
	}
	for _, f := range failures {
		p.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the query %s failed: %v", f.Query, f.Err),
			Path: f.Path})
	}
	flaws = dedupe(append(decided(flaws, p.Degrade), workload.Run(docs)...))
	flaws = dropFalsePositives(flaws, docs, p.FS, p.Files)
	var all []told
	fixes := &fixer{files: p.FS}
	for _, f := range flaws {
		f.Fix = fixes.fixOf(f)
		all = append(all, told{f.Rule, newFinding(f), resourceAddress(f)})
	}
	for _, one := range projects {
		found, err := cloud.Find(p, one, lib, knownMatches(flaws))
		if err != nil {
			return err
		}
		for _, f := range found {
			f.Finding.Fix = fixes.fixOfMatch(f)
			all = append(all, told{f.Rule, f.Finding, f.Address})
		}
	}
	published := isModuleLibrary(p.Files)
	for _, t := range gather(merge(all)) {
		if published && isTerraform(t.finding.Location.Path) {
			t.finding.Terms = append(slices.Clip(t.finding.Terms), publishedModule)
		}
		p.Report(t.rule, t.finding)
	}
	return p.Context.Err()
}

// newFinding makes the finding of a flaw.
func newFinding(f kics.Flaw) finding.Finding {
	address := resourceAddress(f)
	return finding.Finding{
		RuleID: f.Rule.ID, Message: messageOf(f, address), Language: f.Rule.Language,
		Location: finding.Location{Path: f.Path, StartLine: f.Line, EndLine: f.Line},
		Severity: f.Severity, Terms: termsOf(f), Fix: f.Fix, Cause: causeOf(f),
		Identity: strings.Join([]string{address, f.Key}, "\n"),
	}
}

// resourceAddress names the resource as its platform does: "aws_s3_bucket.logs", with the
// module before it, "Pod/web", "Bucket" of CloudFormation.
func resourceAddress(f kics.Flaw) string {
	name := ""
	switch f.Document.Platform {
	case document.Terraform:
		name = terraformAddress(f)
	case document.CloudFormation:
		name = joinNames(logicalName(f), " ", f.Kind)
	case document.Kubernetes, document.Knative, document.Crossplane:
		name = joinNames(f.Kind, "/", f.Name)
	default:
		name = joinNames(f.Kind, " ", f.Name)
	}
	if name == "" {
		return ""
	}
	return f.Document.Prefix + name
}

// logicalName returns the name that the template gives the resource.
func logicalName(f kics.Flaw) string { return sam.Written(elementName(f)) }

// elementName returns the name of the resource in the document; what the query names may
// be the name of the thing in the cloud.
func elementName(f kics.Flaw) string {
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
func terraformAddress(f kics.Flaw) string {
	if s := f.Steps; len(s) >= 3 && s[0] == "resource" {
		return fullAddress(s[1], s[2])
	} else if len(s) >= 3 && s[0] == "data" {
		return "data." + fullAddress(s[1], s[2])
	}
	kind, rest, ok := strings.Cut(f.Key, "[")
	if name := upToBracket(rest); ok && kind != "" && name != "" && !strings.ContainsAny(kind, ". {") {
		return fullAddress(kind, strings.Trim(name, "{}"))
	}
	return joinNames(f.Kind, ".", f.Name)
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

// fullAddress joins a type and a name; a plan gives the whole address as the name.
func fullAddress(kind, name string) string {
	if strings.Contains(name, kind+".") {
		return name
	}
	return kind + "." + name
}

// joinNames joins kind and name, or returns the one that is there.
func joinNames(kind, by, name string) string {
	if kind == "" || name == "" {
		return firstNonEmpty(name, kind)
	}
	return kind + by + name
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// extraArguments is what the evaluator's "sprintf" adds when a query gives it too much.
var extraArguments = regexp.MustCompile(`%!\([A-Z]+[^)]*\)`)

// cleanText makes one line of a query's text, without the braces that quote words in its
// search keys.
func cleanText(s string) string {
	s = extraArguments.ReplaceAllString(s, "")
	s = strings.NewReplacer("{{", "", "}}", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRight(s, ". ")
}
