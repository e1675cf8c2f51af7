// Package calibration says how much the rules for infrastructure code weigh, the imported queries
// and Merlon's own alike: critical stops work, high is done this week, medium is planned, low is
// hygiene. Rules of form and checklists, on which a team acts all at once or never, belong to the
// profile for audits.
//
// A class has one reason for all of its rules, so that the table is read in one pass (classes.go).
package calibration

import (
	"path"
	"strings"
	"sync"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
)

// A class is rules that weigh the same for the same reason.
type class struct {
	reason string
	// impact replaces the severity that the author of the rule gave; "" keeps it.
	impact finding.Severity
	// confidence replaces that of the rule; "" keeps it.
	confidence finding.Confidence
	// checklist is set for rules that only the profile for audits applies.
	checklist bool
	// rules are ids after "iac/". A star matches any characters but a slash.
	rules []string
}

// A table finds the class of a rule.
type table struct {
	exact    map[string]*class
	patterns []pattern
}

// A pattern is an entry with a star.
type pattern struct {
	text  string
	class *class
}

// sharedTable is the table of all classes, made once per process.
var sharedTable = sync.OnceValue(func() *table {
	t := &table{exact: map[string]*class{}}
	for i := range classes {
		for _, rule := range classes[i].rules {
			if strings.Contains(rule, "*") {
				t.patterns = append(t.patterns, pattern{rule, &classes[i]})
			} else if t.exact[rule] == nil {
				t.exact[rule] = &classes[i]
			}
		}
	}
	return t
})

// find returns the class of a rule by its id after "iac/", or nil. A rule that is named by its whole
// id is not looked up among the patterns; of several patterns the first counts.
func (t *table) find(id string) *class {
	if c := t.exact[id]; c != nil {
		return c
	}
	for _, p := range t.patterns {
		if ok, err := path.Match(p.text, id); ok && err == nil {
			return p.class
		}
	}
	return nil
}

// Apply sets severity, confidence and profile of a rule as its class has them.
func Apply(r *finding.Rule) {
	id := strings.TrimPrefix(r.ID, "iac/")
	if c := sharedTable().find(versionless(id)); c != nil {
		if c.impact != "" {
			r.Severity = c.impact
		}
		if c.confidence != "" {
			r.Confidence = c.confidence
		}
		if c.checklist {
			r.Profile = finding.AllProfile
		}
		return
	}
	platform, _, _ := strings.Cut(id, "/")
	if r.Severity == finding.Low && resourcePlatforms[platform] {
		r.Profile = finding.AllProfile
	}
}

// ApplyAll applies the table to the rules of a page and returns the page.
func ApplyAll(page *ruletext.Set) *ruletext.Set {
	for _, r := range page.All() {
		Apply(r)
	}
	return page
}

// versionless returns the id without the version of the format, "-v2", that queries for several
// versions of OpenAPI have.
func versionless(id string) string {
	for _, version := range []string{"-v2", "-v3", "-v3-1"} {
		if rest, ok := strings.CutSuffix(id, version); ok && strings.HasPrefix(id, "openapi/") {
			return rest
		}
	}
	return id
}

// resourcePlatforms describe resources of clouds. Their rules of low severity ask each resource for
// hardening beyond the defaults of the cloud: hundreds of settings, of which a team decides for all
// resources at once.
var resourcePlatforms = map[string]bool{
	"cloud": true, "terraform": true, "cloudformation": true, "ansible": true, "arm": true, "google-deployment": true,
	"pulumi": true, "crossplane": true, "serverless": true,
}
