package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/all"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// rulesListCommand lists the built-in rules.
type rulesListCommand struct {
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
