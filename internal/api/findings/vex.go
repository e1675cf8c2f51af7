package findings

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
	"merlon/internal/vex"
)

// This file imports and exports VEX documents. A statement is
// a decision: it is in the history of each finding, with its words, and in the audit
// log; nothing disappears.

// VexType is the content type of OpenVEX, as its tools name it; IANA has none.
const VexType = "application/vnd.openvex+json"

// Limits of an upload: its bytes, and the flaws that it may decide about.
const (
	maxStatements = 10 << 20
	maxDecisions  = 5000
)

// packageAnalyses are the analyses whose findings are of packages.
var packageAnalyses = []finding.Analysis{finding.SCA, finding.Container}

// statusOfStatement is what a statement makes of a finding.
var statusOfStatement = map[finding.VEXStatus]triage.Status{
	// The four statuses are those of OpenVEX 0.2.0; "ignored" keeps a finding out of the counts,
	// "resolved" says that it is gone.
	finding.VEXNotAffected: triage.Ignored, finding.VEXFixed: triage.Resolved, finding.VEXAffected: triage.Confirmed,
	finding.VEXUnderInvestigation: triage.ToVerify,
}

// statementOfStatus is what a finding's status says.
var statementOfStatus = map[triage.Status]finding.VEXStatus{
	triage.Ignored: finding.VEXNotAffected, triage.Resolved: finding.VEXFixed, triage.Confirmed: finding.VEXAffected,
	triage.ToVerify: finding.VEXUnderInvestigation,
}

// putStatementsInput is a VEX document, OpenVEX or CycloneDX. The body is read as a stream, within its
// own limit.
type putStatementsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Branch    string `query:"branch" maxLength:"255" doc:"Only match findings of this branch. Status changes apply to the same vulnerability on all branches."`
	endpoint.Stream
}

type putStatementsOutput struct {
	Body struct {
		ProjectID  tenant.ProjectID `json:"projectId" format:"uuid"`
		Statements int              `json:"statements" doc:"Number of VEX statements, counted per product and vulnerability ID."`
		Matched    int              `json:"matched" doc:"Number of vulnerabilities of the project that a statement matches."`
		Changed    int              `json:"changed" doc:"Number of matched vulnerabilities whose status or comment changed."`
		Message    string           `json:"message"`
		Items      []statementBody  `json:"items" doc:"Changes, at most 500."`
	}
}

// statementBody is one decision that an import made.
type statementBody struct {
	VulnerabilityID triage.ID         `json:"vulnerabilityId" format:"uuid"`
	Said            finding.VEXStatus `json:"said" enum:"not_affected,affected,fixed,under_investigation"`
	Status          triage.Status     `json:"status" enum:"to_verify,confirmed,resolved,ignored"`
	Comment         string            `json:"comment"`
}

// PutStatements imports a VEX document: each statement becomes a decision about the matching
// findings.
func (a *Handlers) PutStatements(ctx context.Context, sc tenant.Scope,
	in *putStatementsInput) (*putStatementsOutput, error) {
	// One byte more than allowed tells a document of exactly the limit from a longer one.
	text, err := io.ReadAll(io.LimitReader(in.Content, maxStatements+1))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "incomplete request body")
	}
	if len(text) > maxStatements {
		return nil, errs.E(errs.TooLarge, "the VEX document is larger than %d bytes", maxStatements)
	}
	var book vex.Document
	if err := book.Read(bytes.NewReader(text), "the document"); err != nil {
		return nil, err
	}
	out := &putStatementsOutput{}
	out.Body.ProjectID, out.Body.Statements, out.Body.Items = sc.Project, book.Len(), []statementBody{}
	decisions, err := a.matchStatements(ctx, sc, &book, in.Branch, &out.Body.Matched)
	if err != nil {
		return nil, err
	}
	// Each decision is stored by itself: if one fails, those before it stay, and an import that
	// is repeated skips them as unchanged.
	for _, d := range decisions {
		if _, err := a.Results.Decide(ctx, sc, triage.Decision{Finding: d.VulnerabilityID, Status: d.Status,
			Comment: d.Comment}); err != nil {
			if errs.Is(err, errs.NotFound) {
				continue // a scan has removed it meanwhile
			}
			return nil, err
		}
		if out.Body.Changed++; len(out.Body.Items) < 500 {
			out.Body.Items = append(out.Body.Items, d)
		}
	}
	out.Body.Message = fmt.Sprintf("%d vulnerabilities matched, %d changed",
		out.Body.Matched, out.Body.Changed)
	return out, nil
}

// matchStatements lists what statements change, one for each flaw.
func (a *Handlers) matchStatements(ctx context.Context, sc tenant.Scope, book *vex.Document, branch string,
	matched *int) ([]statementBody, error) {
	var out []statementBody
	// A decision applies to the flaw on all branches, so the findings of other branches are
	// skipped.
	seen := map[triage.Digest]bool{}
	err := a.eachVulnerability(ctx, sc, branch, func(f *triage.Finding) error {
		told := book.Apply(f.Report.Package, f.Rule.Advisory)
		if told == nil || seen[f.Flaw] {
			return nil
		}
		seen[f.Flaw] = true
		*matched++
		d := statementBody{VulnerabilityID: f.ID, Said: told.Status, Status: statusOfStatement[told.Status],
			Comment: "VEX: " +
				vex.Explain(told)}
		if d.Status == f.Status && d.Comment == lastComment(f) {
			return nil // it was taken over before
		}
		if out = append(out, d); len(out) > maxDecisions {
			return errs.E(errs.TooLarge, "the VEX document changes more than %d vulnerabilities of the project: "+
				"split it", maxDecisions)
		}
		return nil
	})
	return out, err
}

// eachVulnerability calls each for the findings of vulnerable packages that the last
// scans saw; of all branches when the name is empty.
func (a *Handlers) eachVulnerability(ctx context.Context, sc tenant.Scope, branch string,
	each func(*triage.Finding) error) error {
	for _, analysis := range packageAnalyses {
		q := triage.Query{Filter: triage.Filter{Analysis: analysis, Branch: branch}, Sort: triage.ByCreated,
			Limit: batchSize, Uncounted: true}
		for {
			page, err := a.Results.Findings(ctx, sc, q)
			if err != nil {
				return err
			}
			for i := range page.Findings {
				f := &page.Findings[i]
				if f.Gone || f.Rule.Advisory == nil || f.Report.Package == nil {
					continue
				}
				if err := each(f); err != nil {
					return err
				}
			}
			if page.Next == nil {
				break
			}
			q.After = page.Next
		}
	}
	return nil
}

// getStatementsInput selects the branch of an export.
type getStatementsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Branch    string `query:"branch" maxLength:"255" doc:"Branch. Default: the reference branch."`
}

// GetStatements exports the decisions about the vulnerabilities of a branch as OpenVEX.
func (a *Handlers) GetStatements(ctx context.Context, sc tenant.Scope,
	in *getStatementsInput) (*huma.StreamResponse, error) {
	branch := in.Branch
	if branch == "" {
		var err error
		if branch, err = a.Results.ReferenceBranch(ctx, sc); err != nil {
			return nil, err
		}
	}
	if branch == "" {
		return nil, errs.E(errs.NotFound, "no scan yet")
	}
	coverage, err := a.CoverageFor(ctx, sc, branch)
	if err != nil {
		return nil, err
	}
	// An empty document would assert that nothing is affected. It is only produced when at least
	// one of the two analyses of packages ran.
	if slices.ContainsFunc(coverage, func(c triage.Coverage) bool {
		return c.Analysis == finding.SCA && c.At.IsZero()
	}) &&
		slices.ContainsFunc(coverage, func(c triage.Coverage) bool {
			return c.Analysis == finding.Container && c.At.IsZero()
		}) {
		return nil, errs.E(errs.NotFound, "no VEX: no scan of the branch ran SCA")
	}
	var document bytes.Buffer
	report, latest := vex.NewReport(&document), time.Time{}
	if err := report.Config(&scan.Config{Tool: "merlon", Version: a.Version}); err != nil {
		return nil, err
	}
	err = a.eachVulnerability(ctx, sc, branch, func(f *triage.Finding) error {
		if f.UpdatedAt.After(latest) {
			latest = f.UpdatedAt
		}
		if err := report.Rule(&f.Rule); err != nil {
			return err
		}
		// Copies, because the statement is written into the finding only for this export.
		told, match := f.Report, *f.Report.Package
		match.VEX, told.Package = statementOf(f), &match
		return report.Finding(&told)
	})
	if err != nil {
		return nil, err
	}
	if latest.IsZero() {
		latest = a.Now()
	}
	// The document is as old as the latest change, so that the same state is the same text.
	report.Setup.Started = latest
	if err := report.Close(); err != nil {
		return nil, err
	}
	return scancoverage.AddCoverageHeader(coverage, []finding.Analysis{finding.SCA, finding.Container},
		a.Download("vex-"+string(sc.Project)+".json", VexType, func(w io.Writer) error {
			_, err := w.Write(document.Bytes())
			return err
		})), nil
}

// statementOf says what was decided about a finding.
func statementOf(f *triage.Finding) *finding.VEXStatement {
	s := &finding.VEXStatement{Status: statementOfStatus[f.Status], Text: lastComment(f)}
	for _, c := range f.History {
		if c.Kind == triage.StatusChange {
			s.Time = c.At.UTC().Format(time.RFC3339)
		}
	}
	// OpenVEX demands a justification or an impact statement for this status.
	if s.Status == finding.VEXNotAffected {
		s.Justification = vex.Justification(s.Text)
	}
	s.Time = cmp.Or(s.Time, f.CreatedAt.UTC().Format(time.RFC3339))
	return s
}
