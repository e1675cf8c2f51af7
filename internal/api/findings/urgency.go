package findings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file shows what to do first, and why.

// topVulnerabilitiesInput selects the project and the size of the list.
type topVulnerabilitiesInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Limit     int    `query:"limit" minimum:"1" maximum:"100" default:"5"`
	Branch    string `query:"branch" maxLength:"255" doc:"Branch. Default: the reference branch."`
}

// topVulnerabilitiesOutput is the list with the coverage behind it: a short list may mean
// few findings or a failed analysis.
type topVulnerabilitiesOutput struct {
	Body struct {
		Items    []topBody                   `json:"items" doc:"Findings by priority, descending."`
		Coverage []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis behind the list."`
	}
}

// topBody is a finding of the list.
type topBody struct {
	ID                        triage.ID             `json:"id" format:"uuid"`
	VulnerabilityType         finding.Analysis      `json:"vulnerabilityType"`
	Name                      string                `json:"name"`
	Description               string                `json:"description"`
	Severity                  finding.Severity      `json:"severity"`
	Priority                  triage.Priority       `json:"priority"`
	CompositeScore            float64               `json:"compositeScore" doc:"Composite score, from 0 to 1."`
	CVSS4EnvironmentalScore   float64               `json:"cvss4EnvironmentalScore" doc:"CVSS score that the priority is based on: that of the advisory, or a typical score of the severity. No environmental metrics are applied."`
	ExploitabilityVerdict     triage.Exploitability `json:"exploitabilityVerdict" enum:"not_exploitable,theoretical,proven,actively_exploited"`
	ExploitabilityReason      string                `json:"exploitabilityReason"`
	ExploitabilityScoreReason string                `json:"exploitabilityScoreReason"`
	ExploitabilitySource      string                `json:"exploitabilitySource" enum:"agent,manual,static" doc:"Source of the verdict: vulnerability data and the scan."`
	FilePath                  *string               `json:"filePath"`
	Line                      *int                  `json:"line"`
	// null unless the finding is of an advisory with a CVE ID.
	CVEID       *string  `json:"cveId"`
	CWE         []string `json:"cwe"`
	PackageName *string  `json:"packageName"`
}

// ListTop lists the active findings with the highest scores. Of each analysis the
// best by the score of the last scan are read, and weighed with what is known now.
func (a *Handlers) ListTop(ctx context.Context, sc tenant.Scope,
	in *topVulnerabilitiesInput) (*topVulnerabilitiesOutput, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return nil, err
	}
	branch := in.Branch
	if branch == "" {
		if branch, err = a.Results.ReferenceBranch(ctx, sc); err != nil {
			return nil, err
		}
	}
	out := &topVulnerabilitiesOutput{}
	out.Body.Items = []topBody{}
	if out.Body.Coverage, err = a.CoverageOf(ctx, sc, p, branch); err != nil {
		return nil, err
	}
	if branch == "" {
		return out, nil // nothing was scanned
	}
	for _, analysis := range finding.Analyses {
		// The next query reads more than the list shows, since the stored score is of the last
		// scan: KEV and EPSS data that arrived since may move a finding up.
		filter := triage.Filter{Analysis: analysis, Branch: branch,
			Statuses: []triage.Status{triage.ToVerify, triage.Confirmed}}
		filter.Severities = shownSeverities(p.Settings.Shown, analysis)
		if len(filter.Severities) == 0 {
			continue
		}
		page, err := a.Results.Findings(ctx, sc, triage.Query{Filter: filter, Sort: triage.ByScore, Descending: true,
			Limit: max(4*in.Limit, 20), Uncounted: true})
		if err != nil {
			return nil, err
		}
		for i := range page.Findings {
			out.Body.Items = append(out.Body.Items, viewTop(&page.Findings[i]))
		}
	}
	slices.SortFunc(out.Body.Items, func(x, y topBody) int {
		// The ID at the end makes the order total, so that equal findings do not swap between
		// requests.
		return cmp.Or(cmp.Compare(y.CompositeScore, x.CompositeScore),
			cmp.Compare(y.Severity.Rank(), x.Severity.Rank()), cmp.Compare(x.ID, y.ID))
	})
	out.Body.Items = out.Body.Items[:min(len(out.Body.Items), in.Limit)]
	return out, nil
}

// shownSeverities lists the severities of an analysis that the project shows.
func shownSeverities(shown func(finding.Analysis, finding.Severity) bool, a finding.Analysis) []finding.Severity {
	var out []finding.Severity
	for _, s := range finding.Severities {
		if shown(a, s) {
			out = append(out, s)
		}
	}
	return out
}

// viewTop returns the finding as the list of the most urgent ones shows it.
func viewTop(f *triage.Finding) topBody {
	d := triage.ExplainPriority(f)
	out := topBody{
		ID: f.ID, VulnerabilityType: f.Report.Analysis, Name: f.Rule.Name, Description: viewMessage(&f.Report),
		Severity: f.Report.Severity,
		Priority: f.Priority, CompositeScore: fromThousandths(d.Score), CVSS4EnvironmentalScore: d.Factors.CVSS,
		ExploitabilityVerdict: d.Verdict,
		ExploitabilityReason:  d.Reason, ExploitabilityScoreReason: fmt.Sprintf("%.2f of 1 for %s",
			d.Factors.Exploitability, d.Verdict),
		ExploitabilitySource: "static", CWE: endpoint.OrEmpty(f.Rule.CWE),
	}
	if at := f.Report.Location; at.Path != "" {
		out.FilePath = &at.Path
		if at.StartLine > 0 {
			out.Line = &at.StartLine
		}
	}
	if a := f.Rule.Advisory; a != nil {
		out.Name = cmp.Or(a.Summary, a.ID)
		if len(out.CWE) == 0 {
			out.CWE = endpoint.OrEmpty(a.CWE)
		}
		if a.CVE != "" {
			out.CVEID = &a.CVE
		}
	}
	if m := f.Report.Package; m != nil {
		out.PackageName = &m.Package.Name
	}
	return out
}

// fromThousandths is a whole number of them as a fraction.
func fromThousandths(n int) float64 { return float64(n) / 1000 }

// decompositionInput names a finding and its analysis, which must agree.
type decompositionInput struct {
	ProjectID       string `path:"projectId" format:"uuid"`
	Type            string `path:"type" doc:"Analysis type of the finding."`
	VulnerabilityID string `path:"vulnerabilityId"`
}

// decompositionOutput explains one priority.
type decompositionOutput struct {
	Body struct {
		Decomposition decompositionBody `json:"decomposition"`
	}
}

// decompositionBody is the composite score and what each factor contributes.
type decompositionBody struct {
	Priority            triage.Priority `json:"priority"`
	CompositeScore      float64         `json:"compositeScore" doc:"Sum of the contributions, from 0 to 1."`
	CVSS4Contribution   float64         `json:"cvss4Contribution"`
	EPSSContribution    float64         `json:"epssContribution" doc:"EPSS contribution; 0 if the EPSS score is unknown."`
	ExploitContribution float64         `json:"exploitContribution"`
	ContextContribution float64         `json:"contextContribution"`
	W1                  float64         `json:"w1" doc:"Weight of the CVSS score."`
	W2                  float64         `json:"w2" doc:"Weight of the EPSS score; 0 if it is unknown, and its weight is then distributed among the others."`
	W3                  float64         `json:"w3" doc:"Weight of known exploits."`
	W4                  float64         `json:"w4" doc:"Weight of the project's security context."`
	IsManualOverride    bool            `json:"isManualOverride" doc:"The priority was set manually."`
	Explanation         string          `json:"explanation" doc:"Reason why the priority differs from the score; empty if it does not."`
	Factors             factorsBody     `json:"factors" doc:"Inputs of the score."`
}

// factorsBody has the factors before they are weighted, each from 0 to 1.
type factorsBody struct {
	CVSS           float64  `json:"cvss" doc:"CVSS score, from 0 to 10."`
	EPSSPercentile *float64 `json:"epssPercentile" doc:"EPSS probability, from 0 to 1; null if unknown."`
	Exploitability float64  `json:"exploitability" doc:"Composite score, from 0 to 1."`
	Verdict        string   `json:"exploitabilityVerdict"`
	Reason         string   `json:"exploitabilityReason"`
	Context        float64  `json:"context" doc:"Context factor, from 0 to 1; 0.5 if the security context is unknown."`
}

// GetDecomposition explains the priority of a finding: each factor, its weight and its share.
func (a *Handlers) GetDecomposition(ctx context.Context, sc tenant.Scope,
	in *decompositionInput) (*decompositionOutput, error) {
	if !slices.Contains(finding.Analyses, finding.Analysis(in.Type)) {
		return nil, endpoint.Invalid("path.type", "must be one of "+endpoint.Joined(finding.Analyses))
	}
	id, err := findingID(in.VulnerabilityID)
	if err != nil {
		return nil, err
	}
	f, err := a.Results.Finding(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	if string(f.Report.Analysis) != in.Type {
		return nil, errs.E(errs.NotFound, "vulnerability not found")
	}
	d := triage.ExplainPriority(&f)
	out := &decompositionOutput{}
	out.Body.Decomposition = decompositionBody{
		Priority: f.Priority, CompositeScore: fromThousandths(d.Score), CVSS4Contribution: fromThousandths(d.CVSSPart),
		EPSSContribution:    fromThousandths(d.EPSSPart),
		ExploitContribution: fromThousandths(d.ExploitPart), ContextContribution: fromThousandths(d.ContextPart),
		W1: d.CVSSWeight, W2: d.EPSSWeight, W3: d.ExploitWeight, W4: d.ContextWeight, IsManualOverride: f.Pinned,
		Explanation: d.Adjustment,
		Factors: factorsBody{CVSS: d.Factors.CVSS, Exploitability: d.Factors.Exploitability, Verdict: string(d.Verdict),
			Reason: d.Reason, Context: d.Factors.Context},
	}
	if d.Factors.Scored {
		out.Body.Decomposition.Factors.EPSSPercentile = &d.Factors.EPSS
	}
	return out, nil
}
