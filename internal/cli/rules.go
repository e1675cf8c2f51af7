package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/all"
	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/engine/sast/rules"
	"merlon/internal/engine/sast/ruletest"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// rulesCommand groups the commands for authors of rules.
type rulesCommand struct {
	List     rulesListCommand     `cmd:"" help:"List built-in rules."`
	Show     rulesShowCommand     `cmd:"" help:"Show description and remediation of a rule."`
	Validate rulesValidateCommand `cmd:"" help:"Validate source code rules."`
	Test     rulesTestCommand     `cmd:"" help:"Run the annotated tests of rules."`
}

// rulesValidateCommand checks rule files for errors without scanning.
type rulesValidateCommand struct {
	Path []string `arg:"" help:"Rule files in the Semgrep format, or folders of them."`
}

// Run reads the rules and compiles their patterns. It asks for exit code 1 when
// something is wrong with them.
// Patterns are compiled as well: a rule file can be valid YAML with an invalid pattern.
func (c rulesValidateCommand) Run(host Host) error {
	parser, err := rules.Parser()
	if err != nil {
		return err
	}
	p := printer{w: host.Stdout}
	found, files, faults := 0, 0, 0
	for _, path := range c.Path {
		names, err := rule.Files(path)
		if err != nil {
			return err
		}
		for _, name := range names {
			files++
			loaded, err := parser.Load(name)
			// A fault of a rule is output; a file that cannot be read ends the command.
			said, err := faultLines(err)
			if err != nil {
				return err
			}
			found += len(loaded)
			_, problems := sast.Compile(loaded)
			for _, problem := range problems {
				said = append(said, fmt.Sprintf("%s: %v", name, problem.Err))
			}
			faults += len(said)
			for _, s := range said {
				p.printf("%s\n", s)
			}
		}
	}
	p.printf("%s in %s, %s.\n", countNoun(found, "rule"), countNoun(files, "file"), countNoun(faults, "fault"))
	if p.err == nil && faults > 0 {
		return exit{code: ExitFindings}
	}
	return p.err
}

// faultLines returns the faults of rules, one on each line. An error that is something
// else comes back.
// rule.Error joins all faults of a file with newlines.
func faultLines(err error) ([]string, error) {
	var fault *rule.Error
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &fault):
		return strings.Split(err.Error(), "\n"), nil
	}
	return nil, err
}

// countNoun returns "1 rule", "2 rules".
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rulesTestCommand runs rules on their annotated test files, and compares the findings with the
// annotations.
type rulesTestCommand struct {
	Path   string `arg:"" help:"Rule file or folder of rule files. The tests of x.yaml are x.py, x.go, x.test.yaml and so on in the same folder."`
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
}

// Run runs the tests. It asks for exit code 1 when one fails.
func (c rulesTestCommand) Run(ctx context.Context, host Host) error {
	parser, err := rules.Parser()
	if err != nil {
		return err
	}
	report, err := ruletest.Run(ctx, c.Path, parser)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		out := json.NewEncoder(host.Stdout)
		// Patterns are full of <, > and &, which would be unreadable as \u003c.
		out.SetEscapeHTML(false)
		err = out.Encode(report)
	} else {
		err = printTests(host, report)
	}
	// Faults are rules that cannot be tested, which is as bad as a failed test.
	if err == nil && report.Failed+len(report.Faults) > 0 {
		return exit{code: ExitFindings}
	}
	return err
}

// printTests says which tests failed, and how.
func printTests(host Host, r *ruletest.Report) error {
	p := printer{w: host.Stdout}
	for _, fault := range r.Faults {
		p.printf("%s\n", fault)
	}
	for _, c := range r.Cases {
		if c.Pass {
			continue
		}
		p.printf("%s: rule %s fails on %s\n", c.Rules, c.ID, c.Target)
		if c.Error != "" {
			p.printf("  %s\n", strings.ReplaceAll(c.Error, "\n", "\n  "))
		}
		// Lines marked todo are expected by the author to fail: found or not, they are right.
		if missed := subtractLines(c.Expect, slices.Concat(c.Got, c.Todo)); missed != "" {
			p.printf("  not found on line %s\n", missed)
		}
		if extra := subtractLines(c.Got, slices.Concat(c.Expect, c.Todo)); extra != "" {
			p.printf("  found, and not expected, on line %s\n", extra)
		}
	}
	p.printf("%s: %d passed, %d failed.\n", countNoun(len(r.Cases), "test"), r.Passed, r.Failed)
	// No test found is a common mistake of placement, so the rule for annotations is printed.
	if len(r.Cases) == 0 {
		p.printf("A test is a file beside the rules with a comment \"ruleid: …\" or \"ok: …\" before a line.\n")
	}
	return p.err
}

// subtractLines lists the lines of a that are not in b.
func subtractLines(a, b []int) string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, strconv.Itoa(x))
		}
	}
	return strings.Join(out, ", ")
}

// rulesListCommand lists the built-in rules.
type rulesListCommand struct {
	// An empty text matches every rule.
	Search   string `arg:"" optional:"" help:"Text to search for in ID, title and CWE."`
	Analysis string `placeholder:"NAME" help:"Analysis of the rules: sast, sca, iac, container, secret, cicd, dast or api."`
	Format   string `enum:"text,json" default:"text" help:"Output format: text, or json with all texts."`
}

// Run lists the rules of the build. What the build lacks is said on standard error.
func (c rulesListCommand) Run(host Host) error {
	if c.Analysis != "" && !slices.Contains(finding.Analyses, finding.Analysis(c.Analysis)) {
		return exit{code: ExitUsage, text: fmt.Sprintf("--analysis: there is no analysis %q", c.Analysis)}
	}
	rules, missing, err := rulesOf(all.Analyzers)
	if err != nil {
		return err
	}
	notes := printer{w: host.Stderr}
	// A part may be missing from a build without the library of queries; other rules are still
	// listed.
	for _, part := range missing {
		notes.printf("Not complete: %v\n", part)
	}
	rules = slices.DeleteFunc(rules, func(r *finding.Rule) bool { return !c.isSelected(r) })
	if c.Format == "json" {
		out := json.NewEncoder(host.Stdout)
		out.SetEscapeHTML(false)
		return out.Encode(rules)
	}
	p := printer{w: host.Stdout}
	for _, r := range rules {
		p.printf("%-8s  %s  %s\n", r.Severity, r.ID, r.Name)
	}
	p.printf("%s.\n", countNoun(len(rules), "rule"))
	return cmp.Or(p.err, notes.err)
}

// isSelected reports whether the rule is one of those asked for.
func (c rulesListCommand) isSelected(r *finding.Rule) bool {
	if c.Analysis != "" && string(r.Analysis) != c.Analysis {
		return false
	}
	search := strings.ToLower(c.Search)
	for _, text := range append([]string{r.ID, r.Name}, r.CWE...) {
		if strings.Contains(strings.ToLower(text), search) {
			return true
		}
	}
	return false
}

// rulesShowCommand prints the description and the remediation of a rule.
type rulesShowCommand struct {
	ID string `arg:"" help:"ID of a rule, as shown by findings and \"merlon rules list\" name it."`
}

// Run prints one rule with its texts.
func (c rulesShowCommand) Run(host Host) error {
	rules, missing, err := rulesOf(all.Analyzers)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rules, func(r *finding.Rule) bool { return r.ID == c.ID })
	// The rule may be in the missing part, so its absence is no mistake of the user.
	if i < 0 && len(missing) > 0 {
		return fmt.Errorf("unknown rule %q; this build is not complete: %w", c.ID, errors.Join(missing...))
	} else if i < 0 {
		return exit{code: ExitUsage, text: fmt.Sprintf("unknown rule %q; \"merlon rules list\" prints the ids", c.ID)}
	}
	r := rules[i]
	p := printer{w: host.Stdout}
	p.printf("%s\n\n", r.Name)
	for _, line := range [][2]string{
		{"Id", r.ID}, {"Analysis", string(r.Analysis)}, {"Severity", string(r.Severity)},
		{"Confidence", string(r.Confidence)},
		{"Language", r.Language}, {"CWE", strings.Join(r.CWE, ", ")}, {"OWASP", strings.Join(r.OWASP, ", ")},
		{"ASVS", strings.Join(r.ASVS, ", ")},
		{"Link", r.Link},
	} {
		if line[1] != "" {
			p.printf("%-11s %s\n", line[0]+":", line[1])
		}
	}
	p.printf("\n%s\n\nRemediation\n\n%s\n", strings.TrimSpace(r.Description), strings.TrimSpace(r.HowToPrevent))
	return p.err
}

// rulesOf returns the rules of the analyzers, ordered by id, and what the build lacks.
func rulesOf(analyzers []*scan.Analyzer) (out []*finding.Rule, missing []error, err error) {
	for _, a := range analyzers {
		// An analyzer without declared rules makes them while scanning, such as from advisories.
		if a.Rules == nil {
			continue
		}
		rules, err := a.Rules()
		if errors.Is(err, scan.ErrMissingPart) {
			missing = append(missing, fmt.Errorf("%s: %w", a.ID, err))
		} else if err != nil {
			return nil, nil, fmt.Errorf("list the rules of %s: %w", a.ID, err)
		}
		out = append(out, rules...)
	}
	slices.SortFunc(out, func(a, b *finding.Rule) int { return strings.Compare(a.ID, b.ID) })
	return out, missing, nil
}
