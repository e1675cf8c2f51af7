// Package template runs templates in the format of nuclei that users bring: YAML
// documents with requests, matchers and extractors. It is an interpreter of the part of
// the format that sends requests over HTTP; a template that uses anything else is not
// run, and the scan says which and why.
//
// Everything goes through the run of the attack: scope, limits, profiles and evidence are
// those of every other check. What matches is asked once more, with new random values,
// before it is reported.
//
// The format: https://docs.projectdiscovery.io/templates/introduction.
package template

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// A Set is the templates of a scan.
type Set struct {
	runnable []*Template

	mu      sync.Mutex
	cache   map[string]*message.Response
	pending []hit
	left    map[string][]string // names of templates by what kept them from their end
}

// A Failure says why a template is not run.
type Failure struct {
	Name string // of the file
	Why  string
}

// Load reads templates. Descriptions whose name does not end in .yaml or .yml, where
// there are others, are files of words that payloads may name.
func Load(list []scan.Description) (templates []*Template, failures []Failure) {
	files := map[string]string{}
	for _, d := range list {
		if isWordList(d.Name) {
			files[d.Name] = d.Text
		}
	}
	ids := map[string]bool{}
	for _, d := range list {
		if isWordList(d.Name) {
			continue
		}
		t, err := loadFile(d, files)
		if err == nil && ids[t.ID] {
			err = fmt.Errorf("the id %.60q is that of another template", t.ID)
		}
		if err != nil {
			failures = append(failures, Failure{d.Name, err.Error()})
			continue
		}
		ids[t.ID] = true
		templates = append(templates, t)
	}
	return templates, failures
}

// isWordList reports whether a file holds words and not a template.
func isWordList(name string) bool {
	return path.Ext(name) == ".txt" || path.Ext(name) == ".csv" || path.Ext(name) == ".dic"
}

// loadFile reads and compiles one template.
func loadFile(d scan.Description, files map[string]string) (*Template, error) {
	if d.Text == "" {
		return nil, fmt.Errorf("it has no text: templates are not read from the target")
	}
	doc, err := readTemplate([]byte(d.Text))
	if err != nil {
		return nil, err
	}
	return compileTemplate(doc, d.Name, files)
}

// Checks returns the checks that run the templates of a target; listening says whether
// calls of the target would arrive. What cannot be run is told to degrade.
func Checks(t *scan.Target, listening bool, degrade func(scan.Reason)) []*activescan.Rule {
	if len(t.Templates) == 0 {
		return nil
	}
	templates, failures := Load(t.Templates)
	s := &Set{cache: map[string]*message.Response{}, left: map[string][]string{}}
	var rules []*finding.Rule
	for _, tpl := range templates {
		switch {
		case !t.Profile.Allows(tpl.Needs):
			failures = append(failures, Failure{tpl.name, fmt.Sprintf("needs the profile %s: %s", tpl.Needs, tpl.Why)})
		case tpl.Listens && !listening:
			failures = append(failures, Failure{tpl.name, "waits for calls of the target, and nothing listens " +
				"for them"})
		case tpl.Slow && t.Production:
			failures = append(failures, Failure{tpl.name, "measures time, and the target is in production"})
		default:
			s.runnable = append(s.runnable, tpl)
			rules = append(rules, tpl.Rule)
		}
	}
	reportUnrun(failures, degrade)
	return []*activescan.Rule{
		{ID: "template", FindingRules: rules, Profile: scan.Safe, ScanSite: func(t *activescan.OperationScan) error {
			return s.runTemplates(t, false)
		}, ScanOperation: func(t *activescan.OperationScan) error { return s.fuzzOperation(t, false) }},
		{ID: "template", FindingRules: rules, Profile: scan.Safe, Slow: true,
			ScanSite: func(t *activescan.OperationScan) error {
				return s.runTemplates(t, true)
			}, ScanOperation: func(t *activescan.OperationScan) error { return s.fuzzOperation(t, true) }},
	}
}

// maxTold bounds the reasons for templates that were not run, and maxNamed the names in
// each.
const (
	maxTold  = 12
	maxNamed = 5
)

// reportUnrun says what was not run, one reason for each cause.
func reportUnrun(failures []Failure, degrade func(scan.Reason)) {
	by := map[string][]string{}
	for _, f := range failures {
		by[f.Why] = append(by[f.Why], f.Name)
	}
	reportCauses(by, "not run", degrade)
}

// reportCauses says what happened to templates, the most frequent cause first. Each
// reason names a few of them.
func reportCauses(by map[string][]string, what string, degrade func(scan.Reason)) {
	causes := make([]string, 0, len(by))
	for why := range by {
		causes = append(causes, why)
	}
	slices.SortFunc(causes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(by[b]), len(by[a])), strings.Compare(a, b))
	})
	rest := 0
	for i, why := range causes {
		names := by[why]
		if i >= maxTold {
			rest += len(names)
			continue
		}
		shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
		if n := len(names) - maxNamed; n > 0 {
			shown += fmt.Sprintf(" and %d more", n)
		}
		degrade(scan.Reason{Code: "unsupported", Message: fmt.Sprintf("%d templates were %s: "+
			"%s (%s)", len(names), what, why, shown)})
	}
	if rest > 0 {
		degrade(scan.Reason{Code: "unsupported", Message: fmt.Sprintf("%d more templates were %s for "+
			"other causes", rest, what)})
	}
}
