// Package remedy says what to type so that a rule about infrastructure code does not report the
// resource again: a text with code in the format of the file and, where the resource at hand
// allows it, an edit of the file.
package remedy

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed texts/*.md
var pages embed.FS

// An Advice is what a page says about one rule.
type Advice struct {
	Text string // Markdown without the code: what to do and why
	Kind string // of the resource that the code belongs to: "aws_ebs_volume", "container"; may be empty
	More string // another kind that takes the same code
	Code string // attributes of the resource, in the format of the platform

	// mergeable says that the code holds for each resource as it is, without names to replace,
	// so that it can be merged into the resource at hand.
	mergeable bool
}

// advices reads all pages once. A mistake in one panics: pages are part of the program, and each
// test that asks for a rule finds it.
var advices = sync.OnceValue(func() map[string]Advice {
	out := map[string]Advice{}
	names, err := fs.Glob(pages, "texts/*.md")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := pages.ReadFile(name)
		if err == nil {
			err = parsePage(string(text), out)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", name, err))
		}
	}
	return out
})

// parsePage adds the advices of a page. A page has sections:
//
//	# Encryption at rest
//
//	One paragraph: what to do, and what an attacker could do otherwise.
//
//	## terraform/rule, terraform/other = aws_ebs_volume
//
//	    encrypted = true
//
// A heading of the second level names rules (without "iac/") and, behind "=" or ":", the kind of
// the resource that the indented code belongs to, or two of them ("a or b"). With "=" the code can be
// merged into any such resource. A paragraph before the code replaces that of the section.
func parsePage(page string, out map[string]Advice) error {
	var section string
	var rules []string
	var at Advice
	finish := func() error {
		if len(rules) > 0 && (at.Code == "" || at.Text == "" && section == "") {
			return fmt.Errorf("%s: text and code are needed", rules[0])
		}
		for _, rule := range rules {
			if _, double := out["iac/"+rule]; double {
				return fmt.Errorf("%s is there twice", rule)
			}
			own := at
			if own.Text == "" {
				own.Text = section
			}
			own.Code = strings.TrimRight(own.Code, "\n")
			out["iac/"+rule] = own
		}
		rules, at = nil, Advice{}
		return nil
	}
	for i, line := range strings.Split(page, "\n") {
		heading, isRule := strings.CutPrefix(line, "## ")
		code, isCode := strings.CutPrefix(line, "    ")
		switch {
		case isRule || strings.HasPrefix(line, "# "):
			if err := finish(); err != nil {
				return err
			}
			if !isRule {
				section = ""
				continue
			}
			rules, at.Kind, at.mergeable = parseHeading(heading)
			at.Kind, at.More, _ = strings.Cut(at.Kind, " or ")
		case isCode && len(rules) > 0:
			at.Code += code + "\n"
		case line == "" && at.Code != "":
			at.Code += "\n"
		case line == "":
		case at.Code != "":
			return fmt.Errorf("line %d: text behind code", i+1)
		case len(rules) > 0:
			at.Text = strings.TrimSpace(at.Text + " " + line)
		default:
			section = strings.TrimSpace(section + " " + line)
		}
	}
	return finish()
}

// parseHeading reads "terraform/a, terraform/b = aws_ebs_volume".
func parseHeading(s string) (rules []string, kind string, mergeable bool) {
	names, kind, mergeable := strings.Cut(s, " = ")
	if !mergeable {
		names, kind, _ = strings.Cut(s, " : ")
	}
	for _, name := range strings.Split(names, ",") {
		rules = append(rules, strings.TrimSpace(name))
	}
	return rules, strings.TrimSpace(kind), mergeable
}

// Text returns the remediation of a rule as Markdown with code, or "" where no page has one. The
// link is a page about the attribute; it may be empty.
func Text(rule, link string) string {
	a, ok := adviceOf(rule)
	if !ok {
		return ""
	}
	out := a.Text + "\n\n" + a.codeBlock(platformOf(rule))
	if link != "" {
		out += "\n\nSee the [documentation](" + link + ")."
	}
	return out
}

// adviceOf returns what the pages say about a rule. Rules for versions of a format, such as "-v2",
// share their advice.
func adviceOf(rule string) (Advice, bool) {
	a, ok := advices()[rule]
	if before, version, found := cutLast(rule, "-v"); !ok && found && len(version) == 1 {
		a, ok = advices()[before]
	}
	return a, ok
}

// cutLast cuts a text at the last separator.
func cutLast(s, by string) (before, after string, found bool) {
	if i := strings.LastIndex(s, by); i >= 0 {
		return s[:i], s[i+len(by):], true
	}
	return s, "", false
}

// platformOf returns the second part of a rule's id: "terraform".
func platformOf(rule string) string {
	platform, _, _ := strings.Cut(strings.TrimPrefix(rule, "iac/"), "/")
	return platform
}

// Fences is the language of code blocks, by the platform of the rule.
var Fences = map[string]string{
	"ansible": "yaml", "arm": "bicep", "buildah": "bash", "cloudformation": "yaml", "compose": "yaml",
	"crossplane": "yaml", "dockerfile": "dockerfile", "google-deployment": "yaml", "grpc": "proto",
	"knative": "yaml", "kubernetes": "yaml", "openapi": "yaml", "pulumi": "yaml", "serverless": "yaml",
	"terraform": "hcl",
}

// codeBlock returns the code within its resource, so that a reader sees where it belongs.
func (a Advice) codeBlock(platform string) string {
	code, fence := a.Code, Fences[platform]
	switch {
	case strings.HasPrefix(code, "["): // ansible.cfg
		fence = "ini"
	case a.Kind == "":
	case platform == "terraform":
		code = fmt.Sprintf("resource %q \"example\" {\n%s\n}", a.Kind, indentCode(code, "  "))
	case platform == "cloudformation" && strings.Contains(a.Kind, "::"):
		code = fmt.Sprintf("Resources:\n  Example:\n    Type: %s\n    Properties:\n%s", a.Kind,
			indentCode(code, "      "))
	case platform == "ansible":
		code = fmt.Sprintf("- %s:\n%s", a.Kind, indentCode(code, "    "))
	case platform == "arm":
		code = fmt.Sprintf("resource example '%s' = {\n%s\n}", a.Kind, indentCode(code, "  "))
	case a.Kind == "container":
		code = "containers:\n  - name: example\n" + indentCode(code, "    ")
	case a.Kind == "pod":
		code = "spec: # of the pod\n" + indentCode(code, "  ")
	case a.Kind == "service":
		code = "services:\n  example:\n" + indentCode(code, "    ")
	}
	return "```" + fence + "\n" + code + "\n```"
}

// indentCode puts the indent before each line that is not empty.
func indentCode(code, indent string) string {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}

// Rules lists the rules that have a page, in order.
func Rules() []string { return slices.Sorted(maps.Keys(advices())) }
