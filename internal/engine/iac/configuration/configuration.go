// Package configuration finds mistakes in infrastructure code of all formats: it
// reads the files into documents and asks them the library of queries.
package configuration

import (
	_ "embed" // the manual
	"fmt"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/iac/checks"
	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/queries"
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
	Doc:      doc,
	Match:    wanted,
	Project:  run,
}

// run reads, asks and reports.
func run(p *scan.ProjectPass) error {
	p.Progress(0, "read infrastructure code")
	docs, err := read(p)
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		return nil
	}
	p.Progress(40, "check infrastructure code")
	flaws, failures, err := queries.Run(p.Context, docs, p.Workers)
	if err != nil {
		return err
	}
	for _, f := range failures {
		p.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the query %s failed: %v", f.Query, f.Err), Path: f.Path})
	}
	for _, f := range once(append(flaws, checks.Run(docs)...)) {
		p.Report(f.Rule, describe(f))
	}
	return p.Context.Err()
}

// describe makes the finding of a flaw.
func describe(f queries.Flaw) finding.Finding {
	address := address(f)
	message := f.Rule.Name
	if f.Actual != "" {
		message = clean(f.Actual)
	}
	if address != "" {
		message = address + ": " + message
	}
	if f.Expected != "" {
		message += ". Expected: " + clean(f.Expected)
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

// logical returns the name that the template gives the resource; what the query
// names may be the name of the thing in the cloud.
func logical(f queries.Flaw) string {
	steps := f.Steps
	if len(steps) == 0 {
		steps = strings.Split(f.Key, ".")
	}
	if i := slices.Index(steps, "Resources"); i >= 0 && i+1 < len(steps) {
		return strings.Trim(steps[i+1], "{}")
	}
	return f.Name
}

// terraformAddress takes the address from the query's words for the place, which
// begin with it: the name that a query gives is often that of the thing in the
// cloud and not of the resource.
func terraformAddress(f queries.Flaw) string {
	kind, rest, ok := strings.Cut(f.Key, "[")
	if name, _, closed := strings.Cut(rest, "]"); ok && closed && kind != "" && !strings.ContainsAny(kind, ". {") {
		if name = strings.Trim(name, "{}"); strings.Contains(name, kind+".") {
			return name // a plan gives the whole address
		}
		return kind + "." + name
	}
	return joined(f.Kind, ".", f.Name)
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
