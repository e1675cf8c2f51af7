package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
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
	Message   string    `json:"message"` // of this one; the rule has the general texts

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
	Secret   *Secret   `json:"secret"`
}

// A Secret is a secret that was found; it never reaches the service whole.
type Secret struct {
	Kind     string         `json:"kind"`
	Redacted string         `json:"redacted"`
	Validity string         `json:"validity"` // valid, invalid, unknown; empty when nobody was asked
	History  *SecretHistory `json:"history"`  // nil when the scan saw no commit with it
}

// A SecretHistory says which commits hold a secret.
type SecretHistory struct {
	FirstCommit string    `json:"firstCommit"`
	LastCommit  string    `json:"lastCommit"` // the latest that wrote a file with the secret
	Author      string    `json:"author"`     // of the first commit
	Date        time.Time `json:"date"`       // of the first commit
	LastDate    time.Time `json:"lastDate"`
	Path        string    `json:"path"` // in the first commit
	InTree      bool      `json:"inTree"`
}

// A Rule is what a finding is an instance of.
type Rule struct {
	ID               string   `json:"id"`
	RuleID           string   `json:"ruleId"` // the rule's own permanent name
	CWE              []string `json:"cwe"`
	Name             string   `json:"name"`
	ShortDescription string   `json:"shortDescription"`
	Description      string   `json:"description"`
	HowToPrevent     string   `json:"howToPrevent"`
	OWASP            []string `json:"owaspTop10"`
	Severity         string   `json:"severity"` // in capitals
	Language         string   `json:"language"`
	Link             string   `json:"link"`
}

// A Library is a dependency of a project.
type Library struct {
	Name      string   `json:"packageName"`
	Version   string   `json:"packageVersion"`
	File      string   `json:"fileName"`
	Ecosystem string   `json:"ecosystem"`
	Path      []string `json:"path"` // from the project to the dependency

	// Reachability says whether the project uses the vulnerable code; nil when that
	// was not analyzed.
	Reachability *Reachability `json:"reachability"`
}

// Reachability says whether a project uses the vulnerable code of a dependency.
type Reachability struct {
	Verdict string `json:"verdict"` // "used", "potentially used", "unused" or "unknown"
	Reason  string `json:"reason"`
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
	Message string `json:"nameHighlight"`
	Path    string `json:"path"` // empty: the finding's
	Line    int    `json:"line"`
	Code    []Line `json:"code"`
	Type    string `json:"type"` // "source", "intermediate" or "sink"
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
// "sca", "iac", "secret", "cicd", "container", "dast" or "api"; the worst come
// first. It asks for page after page, by the cursor of the page before, so that
// none is missed or comes twice while findings come and go.
func (c *Client) Findings(ctx context.Context, projectID, analysis string, f Filter) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		query := url.Values{"pageSizeNumber": {"100"}, "sort": {"currentSeverity"}, "order": {"asc"}, "view": {"full"}}
		if f.Branch != "" {
			query.Set("branch", f.Branch)
		}
		query["status"], query["severity"] = f.States, f.Severities
		for {
			var out struct {
				Findings []Finding `json:"vulnerabilities"`
				Next     *string   `json:"nextCursor"`
			}
			op := call{method: http.MethodGet, path: []string{"project", projectID, "results", analysis}, query: query,
				out: &out}
			if err := c.do(ctx, op); err != nil {
				yield(Finding{}, err)
				return
			}
			for _, finding := range out.Findings {
				if !yield(finding, nil) {
					return
				}
			}
			if out.Next == nil {
				return
			}
			query.Set("cursor", *out.Next)
		}
	}
}
