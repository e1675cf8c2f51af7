package findings

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/api/scancoverage"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// Results reads and decides about the findings and packages of a scope's project.
type Results interface {
	Licenses
	ImageRecords
	// Operations returns a page of a scan's operations and the number of each outcome.
	Operations(ctx context.Context, sc tenant.Scope,
		q run.OperationQuery) ([]finding.Operation, map[finding.Outcome]int, error)
	Project(ctx context.Context, sc tenant.Scope) (project.Project, error)
	// Findings returns a page of findings. With Uncounted it skips the total, which costs more
	// than the page.
	Findings(ctx context.Context, sc tenant.Scope, q triage.Query) (triage.Page, error)
	Finding(ctx context.Context, sc tenant.Scope, id triage.ID) (triage.Finding, error)
	// Similar lists other findings of the same rule and branch, and counts them all.
	Similar(ctx context.Context, sc tenant.Scope, f triage.Finding, path string,
		limit int) ([]triage.Finding, int, error)
	Groups(ctx context.Context, sc tenant.Scope, q triage.GroupQuery) (triage.GroupPage, error)
	// Decide stores a decision with its history and audit record, and returns the finding as it
	// is afterwards.
	Decide(ctx context.Context, sc tenant.Scope, d triage.Decision) (triage.Finding, error)
	Packages(ctx context.Context, sc tenant.Scope, q triage.PackageQuery) ([]triage.ListedPackage, int, error)
}

// Numbers are what overviews and envelopes show.
type Numbers interface {
	// ProjectCells counts all findings of the project by branch, analysis, severity and status.
	ProjectCells(ctx context.Context, sc tenant.Scope) ([]triage.BranchBucket, error)
	FindingBranches(ctx context.Context, sc tenant.Scope) ([]string, error)
	// LastScan returns the latest scan of a branch, or of all branches; nil without one.
	LastScan(ctx context.Context, sc tenant.Scope, branch string) (*triage.LastScan, error)
	// LastStatuses returns how each analyzer ended in its last scan of the branch, and the time
	// of the latest of these scans.
	LastStatuses(ctx context.Context, sc tenant.Scope, branch string) ([]scan.Status, time.Time, error)
	DayCounts(ctx context.Context, sc tenant.Scope, ids []tenant.ProjectID, f triage.OverviewFilter,
		days triage.DateRange) ([]triage.DayCount, error)
}

// listResultsInput selects, orders and pages findings.
type listResultsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ResultPaging
	ResultFilter
	Sort   string `query:"sort" doc:"Sort key: currentState, currentSeverity, currentPriority, language, createdAt, updateAt or currentCVSS. Default: active findings first, by severity."`
	Order  string `query:"order" doc:"asc or desc. Severities and priorities ascend from critical to low."`
	View   string `query:"view" doc:"Detail level. Default: all members, with shortened texts and without code, data flows and history; row: a compact table row of about 400 bytes; full: all members as in the single finding, except long evidence of dynamic scans."`
	Cursor string `query:"cursor" maxLength:"2048" doc:"nextCursor of the previous page, with the same filters and order. Stable while findings are added or removed."`
}

// listResultsOutput is a page of findings.
type listResultsOutput struct {
	Warning string `header:"Warning" doc:"Query parameters that were ignored."`
	Body    ResultsBody
}

// ResultsBody is the envelope of a list.
type ResultsBody struct {
	ProjectID   tenant.ProjectID `json:"projectId" format:"uuid"`
	ProjectName string           `json:"projectName"`
	Page        int              `json:"page"`
	Limit       int              `json:"limit"`
	Total       int              `json:"total"`
	TotalPages  int              `json:"totalPages"`
	Sort        string           `json:"sort,omitempty"`
	Order       string           `json:"order,omitempty"`
	// The filters as they were applied, including what the project's settings hide.
	Severity        []finding.Severity `json:"severity"`
	Status          []triage.Status    `json:"status"`
	Priority        []triage.Priority  `json:"priority"`
	Language        string             `json:"language,omitempty"`
	Vulnerabilities []listedResult     `json:"vulnerabilities"`
	NextCursor      *string            `json:"nextCursor" doc:"Cursor of the next page; null on the last page."`
	ScanEnvelope
}

// ScanEnvelope is what every list says of the project as a whole.
type ScanEnvelope struct {
	ScanProjectInfo *scanInfoBody               `json:"scanProjectInfo,omitempty"`
	VulnCountByType map[string]int              `json:"vulnCountByType" doc:"Number of findings per analysis on the branch, or on all branches."`
	Coverage        []scancoverage.CoverageBody `json:"coverage" doc:"Coverage of each analysis on the branch, or on the reference branch."`
}

// scanInfoBody is the last scan of the project, which the findings are from.
type scanInfoBody struct {
	ScanID   string    `json:"scanId" format:"uuid"`
	State    run.State `json:"state"`
	CreateAt time.Time `json:"createAt"`
	ScanType string    `json:"scanType,omitempty"`
}

// ListResults returns the handler of the list of an analysis.
func (a *Handlers) ListResults(analysis finding.Analysis) func(context.Context, tenant.Scope,
	*listResultsInput) (*listResultsOutput, error) {
	return func(ctx context.Context, sc tenant.Scope, in *listResultsInput) (*listResultsOutput, error) {
		p, err := a.Results.Project(ctx, sc)
		if err != nil {
			return nil, err
		}
		q, warning, err := in.parseQuery(analysis, p.Settings)
		if err != nil {
			return nil, err
		}
		shown, err := in.parseView()
		if err != nil {
			return nil, err
		}
		page, err := a.Results.Findings(ctx, sc, q)
		if err != nil {
			return nil, err
		}
		envelope, err := a.scanEnvelope(ctx, sc, p, in.Branch)
		if err != nil {
			return nil, err
		}
		number, size := in.pageAndSize()
		body := ResultsBody{
			ProjectID: p.ID, ProjectName: p.Name, Page: number, Limit: size, Total: page.Total,
			TotalPages: endpoint.Pages(page.Total, size),
			Sort:       in.Sort, Order: in.Order, Severity: endpoint.OrEmpty(q.Severities),
			Status:   endpoint.OrEmpty(q.Statuses),
			Priority: endpoint.OrEmpty(q.Priorities),
			Language: in.Language, Vulnerabilities: make([]listedResult, len(page.Findings)), ScanEnvelope: envelope,
		}
		// An unknown sort key was ignored: to repeat it would claim that the list has that order.
		if warning != "" {
			body.Sort = ""
		}
		for i := range page.Findings {
			body.Vulnerabilities[i] = viewListed(&page.Findings[i], shown)
		}
		if page.Next != nil {
			next := page.Next.String()
			body.NextCursor = &next
		}
		return &listResultsOutput{Warning: warning, Body: body}, nil
	}
}

// parseView reads how much of each finding is shown.
func (in *listResultsInput) parseView() (view, error) {
	var p queryParser
	if views := endpoint.Enum(&p.Parser, "view", []view{rowView, fullView}, in.View); len(views) > 0 {
		return views[0], nil
	}
	return listView, p.Err()
}

// parseQuery reads the parameters of a list.
func (in *listResultsInput) parseQuery(analysis finding.Analysis,
	settings project.Settings) (triage.Query, string, error) {
	var p queryParser
	q := triage.Query{Filter: p.parseFilter(&in.ResultFilter, analysis, settings)}
	q.Sort, q.Descending = p.parseOrder(in.Sort, in.Order)
	number, size := in.pageAndSize()
	q.Offset, q.Limit = (number-1)*size, size
	if in.Cursor != "" {
		c, err := triage.ParseCursor(in.Cursor)
		if err != nil {
			p.Wrong("cursor", err.Error())
		}
		q.After = &c
	}
	return q, p.Warning(), p.Err()
}

// scanEnvelope returns what every list says of the project.
func (a *Handlers) scanEnvelope(ctx context.Context, sc tenant.Scope, p project.Project,
	branch string) (ScanEnvelope, error) {
	e := ScanEnvelope{VulnCountByType: map[string]int{}}
	// Every analysis is a member, so that clients need not know a missing one from 0.
	for _, analysis := range finding.Analyses {
		e.VulnCountByType[string(analysis)] = 0
	}
	cells, err := a.Numbers.ProjectCells(ctx, sc)
	if err != nil {
		return e, err
	}
	for _, c := range cells {
		if (branch == "" || branch == c.Branch) && p.Settings.Shown(c.Bucket.Analysis, c.Bucket.Severity) {
			e.VulnCountByType[string(c.Bucket.Analysis)] += c.Count.N
		}
	}
	if e.Coverage, err = a.Coverage(ctx, sc, p, scancoverage.BranchList(branch), cells); err != nil {
		return e, err
	}
	last, err := a.Numbers.LastScan(ctx, sc, branch)
	if err != nil || last == nil {
		return e, err
	}
	e.ScanProjectInfo = &scanInfoBody{ScanID: string(last.ID), State: last.State, CreateAt: last.CreatedAt,
		ScanType: string(last.Source)}
	return e, nil
}

// resultInput names a finding.
type resultInput struct {
	ProjectID       string `path:"projectId" format:"uuid"`
	VulnerabilityID string `path:"vulnerabilityId"`
	Language        string `query:"language" doc:"Accepted for compatibility; texts are always in English."`
}

// resultOutput is one finding with all of its evidence.
type resultOutput struct {
	Body resultDetail
}

// resultDetail is one finding under both names that clients read, under each in the form
// that the clients of that name read.
type resultDetail struct {
	ProjectID       tenant.ProjectID `json:"projectId" format:"uuid"`
	VulnerabilityID triage.ID        `json:"vulnerabilityId" format:"uuid"`
	Vulnerability   FlatResult       `json:"vulnerability"`
	Images          []heldBody       `json:"images,omitempty" doc:"Container images that contain the finding."`
	TypedResult
}

// TypedResult is a finding under the name of its analysis.
type TypedResult struct {
	SAST      *WrappedResult `json:"sast,omitempty"`
	IaC       *WrappedResult `json:"iac,omitempty"`
	SCA       *WrappedResult `json:"sca,omitempty"`
	CICD      *WrappedResult `json:"cicd,omitempty"`
	Secret    *WrappedResult `json:"secret,omitempty"`
	Container *WrappedResult `json:"container,omitempty"`
	DAST      *WrappedResult `json:"dast,omitempty"`
	API       *WrappedResult `json:"api,omitempty"`
}

// typedResult returns the finding under the name of its analysis.
func typedResult(a finding.Analysis, b *WrappedResult) (t TypedResult) {
	*t.memberOf(a) = b
	return t
}

// memberOf returns the member of the response for findings of an analysis.
func (t *TypedResult) memberOf(a finding.Analysis) **WrappedResult {
	switch a {
	case finding.SAST:
		return &t.SAST
	case finding.IaC:
		return &t.IaC
	case finding.SCA:
		return &t.SCA
	case finding.CICD:
		return &t.CICD
	case finding.Secret:
		return &t.Secret
	case finding.Container:
		return &t.Container
	case finding.DAST:
		return &t.DAST
	}
	return &t.API
}

// viewDetail returns one finding with all of its evidence.
func viewDetail(f *triage.Finding) resultDetail {
	b := viewResult(f)
	b.Live = viewLive(f.Report.Live, true)
	return resultDetail{ProjectID: f.ProjectID, VulnerabilityID: f.ID, Vulnerability: b.FlatResult,
		TypedResult: typedResult(f.Report.Analysis, &b.WrappedResult)}
}

// findingID reads the identifier of a finding.
func findingID(text string) (triage.ID, error) {
	id, err := tenant.ParseID("vulnerabilityId", text)
	return triage.ID(id), err
}

// GetResult returns the handler of one finding of an analysis.
func (a *Handlers) GetResult(analysis finding.Analysis) func(context.Context, tenant.Scope,
	*resultInput) (*resultOutput, error) {
	return func(ctx context.Context, sc tenant.Scope, in *resultInput) (*resultOutput, error) {
		id, err := findingID(in.VulnerabilityID)
		if err != nil {
			return nil, err
		}
		f, err := a.Results.Finding(ctx, sc, id)
		if err != nil {
			return nil, err
		}
		// The address names the analysis: a SAST finding below /sca does not exist there.
		if f.Report.Analysis != analysis {
			return nil, errs.E(errs.NotFound, "vulnerability not found")
		}
		out := &resultOutput{Body: viewDetail(&f)}
		if err := a.addLinkedFindings(ctx, sc, &f, &out.Body); err != nil {
			return nil, err
		}
		if analysis == finding.Container {
			out.Body.Images, err = a.listHolders(ctx, sc, id)
		}
		return out, err
	}
}

// maxSides bounds the findings of live scans that are shown with one of the source. A flaw
// in a shared function may be confirmed by a request of each operation that calls it.
const maxSides = 100

// addLinkedFindings adds to the detail of a finding those of the same flaw on the other side, on its
// branch: of the source those of live scans that show it, of a live scan that of the
// source. What is gone is left out.
func (a *Handlers) addLinkedFindings(ctx context.Context, sc tenant.Scope, f *triage.Finding, to *resultDetail) error {
	b := *to.memberOf(f.Report.Analysis)
	switch live := f.Report.Live; {
	case f.Report.Analysis == finding.SAST:
		b.Proven = []sideBody{}
		for _, analysis := range []finding.Analysis{finding.DAST, finding.API} {
			found, err := a.linkedFindings(ctx, sc, triage.Filter{Analysis: analysis, Branch: f.Branch,
				ConfirmsPlace: f.Report.Fingerprint.Place})
			if err != nil {
				return err
			}
			b.Proven = append(b.Proven, found...)
		}
	case live != nil && live.Code != nil && live.Code.Flaw != nil:
		found, err := a.linkedFindings(ctx, sc, triage.Filter{Analysis: finding.SAST, Branch: f.Branch,
			Place: live.Code.Flaw.Fingerprint.Place})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			b.Source = &found[0]
		}
	}
	return nil
}

// linkedFindings lists findings as the other side of their flaw is shown.
func (a *Handlers) linkedFindings(ctx context.Context, sc tenant.Scope, filter triage.Filter) ([]sideBody, error) {
	page, err := a.Results.Findings(ctx, sc, triage.Query{Filter: filter, Sort: triage.ByDefault, Limit: maxSides,
		Uncounted: true})
	if err != nil {
		return nil, err
	}
	var out []sideBody
	for i := range page.Findings {
		f := &page.Findings[i]
		if f.Gone {
			continue
		}
		s := sideBody{ID: f.ID, Type: f.Report.Analysis, CurrentState: f.Status, CurrentPriority: f.Priority,
			Message: f.Report.Message, UpdatedAt: f.UpdatedAt}
		// The history is in the order of time: the last status change is the current reason.
		for _, c := range f.History {
			if c.Kind == triage.StatusChange {
				s.Reason = c.Reason
			}
		}
		if l := f.Report.Live; l != nil {
			s.Method, s.URL, s.Parameter, s.In = l.Method, l.URL, l.Parameter, l.In
		} else {
			s.Path, s.Line = f.Report.Location.Path, f.Report.Location.StartLine
		}
		out = append(out, s)
	}
	return out, nil
}

// similarInput names a finding; others of its rule are similar.
type similarInput struct {
	ProjectID       string `path:"projectId" format:"uuid"`
	VulnerabilityID string `path:"vulnerabilityId"`
	PathFilter      string `query:"pathFilter" maxLength:"500" doc:"Substring of the file path of similar findings."`
}

// similarOutput is a finding and the others of its rule.
type similarOutput struct {
	Body struct {
		ProjectID       tenant.ProjectID `json:"projectId" format:"uuid"`
		VulnerabilityID triage.ID        `json:"vulnerabilityId" format:"uuid"`
		TypedResult
		SimilarOccurrences []occurrenceBody `json:"similarOccurrences" doc:"Findings by severity, descending, at most 100."`
		TotalSimilar       int              `json:"totalSimilar"`
	}
}

// maxOccurrences bounds the findings that are listed inside of another element.
const maxOccurrences = 100

// ListSimilar lists the findings of the same rule on the same branch.
func (a *Handlers) ListSimilar(ctx context.Context, sc tenant.Scope, in *similarInput) (*similarOutput, error) {
	id, err := findingID(in.VulnerabilityID)
	if err != nil {
		return nil, err
	}
	f, err := a.Results.Finding(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	similar, total, err := a.Results.Similar(ctx, sc, f, in.PathFilter, maxOccurrences)
	if err != nil {
		return nil, err
	}
	b := viewResult(&f)
	out := &similarOutput{}
	out.Body.ProjectID, out.Body.VulnerabilityID, out.Body.TypedResult = f.ProjectID, f.ID,
		typedResult(f.Report.Analysis,
			&b.WrappedResult)
	out.Body.SimilarOccurrences, out.Body.TotalSimilar = []occurrenceBody{}, total
	for i := range similar {
		out.Body.SimilarOccurrences = append(out.Body.SimilarOccurrences, viewOccurrence(occurrenceOf(&similar[i])))
	}
	return out, nil
}
