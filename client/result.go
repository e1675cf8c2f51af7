package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// This file lists findings.

// A Finding is a flaw of a project, on one branch.
type Finding struct {
	ID        string    `json:"id"`
	ProjectID string    `json:"projectId"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updateAt"`
	State     string    `json:"currentState"`    // "to_verify", "confirmed", "resolved" or "ignored"
	Severity  string    `json:"currentSeverity"` // "critical", "high", "medium" or "low"
	Priority  string    `json:"currentPriority"`
	Language  string    `json:"language"`
	Path      string    `json:"path"`
	StartLine int       `json:"vulnerableStartLine"`
	EndLine   int       `json:"vulnerableEndLine"`
	Branch    string    `json:"branch"`
	Type      string    `json:"vulnerabilityType"`

	Snippets []Snippet `json:"codeSnippets"`
	Flow     []Step    `json:"dataFlowItems"`
	CVSS     *float64  `json:"cvssScore"`

	// Base holds the rule, which is nil for a dependency.
	Base struct {
		Rule *Rule `json:"vulnerability"`
	} `json:"base"`
	Library  *Library  `json:"library"`  // of a dependency
	Advisory *Advisory `json:"metadata"` // of a dependency
	Fixes    []Fix     `json:"autofixRecords"`
}

// A Rule is what a finding is an instance of.
type Rule struct {
	ID               string   `json:"id"`
	CWE              []string `json:"cwe"`
	Name             string   `json:"name"`
	ShortDescription string   `json:"shortDescription"`
	Description      string   `json:"description"`
	HowToPrevent     string   `json:"howToPrevent"`
	OWASP            []string `json:"owaspTop10"`
	Severity         string   `json:"severity"` // in capitals
	Language         string   `json:"language"`
}

// A Library is a dependency of a project.
type Library struct {
	Name      string   `json:"packageName"`
	Version   string   `json:"packageVersion"`
	File      string   `json:"fileName"`
	Ecosystem string   `json:"ecosystem"`
	Path      []string `json:"path"` // from the project to the dependency
}

// An Advisory is a known vulnerability.
type Advisory struct {
	GHSA     string `json:"ghsaId"`
	CVE      string `json:"cve"`
	Internal string `json:"internalId"`
	Summary  string `json:"summary"`
	Details  string `json:"details"`
	CWEs     []struct {
		ID string `json:"cweId"`
	} `json:"cwes"`
	Aliases []struct {
		Alias string `json:"alias"`
	} `json:"aliases"`
	References []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"references"`
}

// A Fix is an update that clears a finding of a dependency.
type Fix struct {
	Version string `json:"recommendedProposedVersion"`
	Command string `json:"installCommand"`
}

// A Snippet is code around a flaw.
type Snippet struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Code      []Line `json:"code"`
}

// A Step is a station of a path through the code.
type Step struct {
	Line int    `json:"line"`
	Code []Line `json:"code"`
	Type string `json:"type"` // "source", "intermediate" or "sink"
	Path string `json:"path"` // empty: the finding's
}

// A Line is a line of code.
type Line struct {
	Number  int    `json:"line"`
	Content string `json:"content"`
}

// A Filter chooses findings; empty members choose all.
type Filter struct {
	Branch     string
	States     []string
	Severities []string
}

// Findings walks over the findings of a project that an analysis made: "sast",
// "sca", "iac", "secret", "cicd" or "container"; the worst come first.
func (c *Client) Findings(ctx context.Context, projectID, analysis string, f Filter) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		query := url.Values{"pageSizeNumber": {"100"}, "sort": {"currentSeverity"}, "order": {"asc"}}
		if f.Branch != "" {
			query.Set("branch", f.Branch)
		}
		query["status"], query["severity"] = f.States, f.Severities
		for page := 1; ; page++ {
			query.Set("pageNumber", strconv.Itoa(page))
			var out struct {
				Findings []Finding `json:"vulnerabilities"`
				Pages    int       `json:"totalPages"`
			}
			op := call{method: http.MethodGet, path: []string{"project", projectID, "results", analysis}, query: query, out: &out}
			if err := c.do(ctx, op); err != nil {
				yield(Finding{}, err)
				return
			}
			for _, finding := range out.Findings {
				if !yield(finding, nil) {
					return
				}
			}
			if page >= out.Pages || len(out.Findings) == 0 {
				return
			}
		}
	}
}
