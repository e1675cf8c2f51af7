package findings

import (
	"cmp"
	"context"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// listGroupsInput selects and orders groups of findings.
type listGroupsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	ResultPaging
	ResultFilter
	Sort  string `query:"sort" doc:"Sort key: occurrenceCount (default), highestSeverity, lastSeen, currentSeverity, currentPriority, createdAt, highestCvss or currentCVSS."`
	Order string `query:"order" doc:"DESC (default) or ASC."`
}

// defaultGroups is the size of a page of groups when none is named. It is smaller than that
// of lists, because each group has up to 100 findings.
const defaultGroups = 10

// occurrenceBody is a finding as groups list it.
type occurrenceBody struct {
	ID                  triage.ID        `json:"id" format:"uuid"`
	Path                string           `json:"path"`
	VulnerableStartLine int              `json:"vulnerableStartLine"`
	VulnerableEndLine   int              `json:"vulnerableEndLine"`
	PackageVersion      string           `json:"packageVersion,omitempty"`
	CurrentState        triage.Status    `json:"currentState"`
	CurrentSeverity     finding.Severity `json:"currentSeverity"`
	CurrentPriority     triage.Priority  `json:"currentPriority"`
	CurrentCVSS         *float64         `json:"currentCvss,omitempty" doc:"Omitted if none."`
	CreatedAt           time.Time        `json:"createdAt"`
	IsDev               bool             `json:"isDev"`
	IsTransitive        bool             `json:"isTransitive"`
}

// viewOccurrence returns the finding as groups list it.
func viewOccurrence(o triage.Occurrence) occurrenceBody {
	return occurrenceBody{
		ID: o.ID, Path: o.Path, VulnerableStartLine: o.StartLine, VulnerableEndLine: o.EndLine,
		PackageVersion: o.Version,
		CurrentState:   o.Status, CurrentSeverity: o.Severity, CurrentPriority: o.Priority,
		CurrentCVSS: scoreOrNull(o.CVSS),
		CreatedAt:   o.CreatedAt,
		IsDev:       o.Dev, IsTransitive: o.Transit,
	}
}

// scoreOrNull returns a score, or nil for none.
func scoreOrNull(cvss float64) *float64 {
	if cvss == 0 {
		return nil
	}
	return &cvss
}

// occurrenceOf returns a finding as groups list it.
func occurrenceOf(f *triage.Finding) triage.Occurrence {
	r := &f.Report
	o := triage.Occurrence{
		ID: f.ID, RuleID: f.RuleID, Path: r.Location.Path, StartLine: r.Location.StartLine, EndLine: r.Location.EndLine,
		Status: f.Status, Severity: r.Severity, Priority: f.Priority, CVSS: f.CVSS, CreatedAt: f.CreatedAt,
	}
	if r.Package != nil {
		p := r.Package.Package
		o.Package, o.Version, o.Dev, o.Transit = p.Name, p.Version, p.Dev, p.Scope == finding.Transitive
	}
	return o
}

// GroupBody is what both kinds of groups have.
type GroupBody struct {
	Vulnerability     any              `json:"vulnerability" doc:"Rule ID; for a vulnerable package the advisory ID."`
	Language          string           `json:"language" doc:"Severity of the rule, or the highest of its findings; unknown if neither is rated."`
	OccurrenceCount   int              `json:"occurrenceCount"`
	SeverityBreakdown SeverityCounts   `json:"severityBreakdown"`
	HighestSeverity   finding.Severity `json:"highestSeverity"`
	Occurrences       []occurrenceBody `json:"occurrences" doc:"Findings by severity, descending, at most 100."`
	FirstSeen         time.Time        `json:"firstSeen"`
	LastSeen          time.Time        `json:"lastSeen"`
}

// SeverityCounts are numbers of findings by severity.
type SeverityCounts struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
}

// countsOf returns the counts by severity, zeros included.
func countsOf(n map[finding.Severity]int) SeverityCounts {
	return SeverityCounts{n[finding.Critical], n[finding.High], n[finding.Medium], n[finding.Low]}
}

// ruleGroupBody is the findings of one rule.
type ruleGroupBody struct {
	GroupBody
	RuleID     string `json:"ruleId" format:"uuid"`
	HasAutofix bool   `json:"hasAutofix"`
}

// packageGroupBody is the findings of one advisory in one package, over all versions and
// files of the package.
type packageGroupBody struct {
	GroupBody
	// ID of the advisory, whatever its source; the name is that of the contract.
	CVEID           string   `json:"cveId"`
	PackageName     string   `json:"packageName"`
	HighestCVSS     *float64 `json:"highestCvss,omitempty" doc:"Highest CVSS score; omitted if no finding has one."`
	DevCount        int      `json:"devCount"`
	DirectCount     int      `json:"directCount"`
	TransitiveCount int      `json:"transitiveCount"`
	HasFix          bool     `json:"hasFix"`
}

// GroupsBody is the envelope of a list of groups.
type GroupsBody struct {
	ProjectID        tenant.ProjectID   `json:"projectId" format:"uuid"`
	ProjectName      string             `json:"projectName"`
	Page             int                `json:"page"`
	Limit            int                `json:"limit"`
	TotalPages       int                `json:"totalPages"`
	Sort             string             `json:"sort"`
	Order            string             `json:"order"`
	Severity         []finding.Severity `json:"severity"`
	Status           []triage.Status    `json:"status"`
	Priority         []triage.Priority  `json:"priority"`
	Total            int                `json:"total" doc:"Number of groups."`
	TotalOccurrences int                `json:"totalOccurrences" doc:"Number of findings in all groups."`
	IsProjectParsed  bool               `json:"isProjectParsed" doc:"A scan of the project has completed."`
	ScanEnvelope
}

// ruleGroupsOutput is a page of groups by rule.
type ruleGroupsOutput struct {
	Warning string `header:"Warning"`
	Body    struct {
		GroupsBody
		Groups []ruleGroupBody `json:"groupedVulnerabilities"`
	}
}

// packageGroupsOutput is a page of groups by advisory and package.
type packageGroupsOutput struct {
	Warning string `header:"Warning"`
	Body    struct {
		GroupsBody
		Groups []packageGroupBody `json:"groupedVulnerabilities"`
	}
}

// ListRuleGroups returns the handler of an analysis's findings by rule.
func (a *Handlers) ListRuleGroups(analysis finding.Analysis) func(context.Context, tenant.Scope,
	*listGroupsInput) (*ruleGroupsOutput, error) {
	return func(ctx context.Context, sc tenant.Scope, in *listGroupsInput) (*ruleGroupsOutput, error) {
		out := &ruleGroupsOutput{}
		page, err := a.listGroups(ctx, sc, in, groupsOf{analysis, false, &out.Warning}, &out.Body.GroupsBody)
		if err != nil {
			return nil, err
		}
		out.Body.Groups = make([]ruleGroupBody, len(page.Groups))
		for i := range page.Groups {
			g := &page.Groups[i]
			out.Body.Groups[i] = ruleGroupBody{GroupBody: viewGroup(g), RuleID: g.RuleID, HasAutofix: g.Fixable}
		}
		return out, nil
	}
}

// ListPackageGroups lists vulnerable packages by advisory and package.
func (a *Handlers) ListPackageGroups(ctx context.Context, sc tenant.Scope,
	in *listGroupsInput) (*packageGroupsOutput, error) {
	out := &packageGroupsOutput{}
	page, err := a.listGroups(ctx, sc, in, groupsOf{finding.SCA, true, &out.Warning}, &out.Body.GroupsBody)
	if err != nil {
		return nil, err
	}
	out.Body.Groups = make([]packageGroupBody, len(page.Groups))
	for i := range page.Groups {
		g := &page.Groups[i]
		id := g.Rule.ID
		if g.Rule.Advisory != nil {
			id = g.Rule.Advisory.ID
		}
		out.Body.Groups[i] = packageGroupBody{
			GroupBody: viewGroup(g), CVEID: id, PackageName: g.Package, HighestCVSS: scoreOrNull(g.CVSS),
			DevCount: g.Dev, DirectCount: g.Direct, TransitiveCount: g.Transit, HasFix: g.Fixable,
		}
	}
	return out, nil
}

// groupsOf says which groups are asked for.
type groupsOf struct {
	analysis  finding.Analysis
	byPackage bool
	warning   *string // to fill
}

// listGroups reads a page of groups and fills the envelope.
func (a *Handlers) listGroups(ctx context.Context, sc tenant.Scope, in *listGroupsInput, of groupsOf,
	envelope *GroupsBody) (triage.GroupPage, error) {
	p, err := a.Results.Project(ctx, sc)
	if err != nil {
		return triage.GroupPage{}, err
	}
	var ps queryParser
	q := triage.GroupQuery{Filter: ps.parseFilter(&in.ResultFilter, of.analysis, p.Settings), ByPackage: of.byPackage,
		Occurrences: maxOccurrences}
	q.Sort, q.Ascending = ps.groupOrder(in.Sort, in.Order)
	if err := ps.Err(); err != nil {
		return triage.GroupPage{}, err
	}
	*of.warning = ps.Warning()
	number, size := in.pageAndSize()
	// The parameters name no size, under none of its four aliases.
	if (in.ResultPaging == ResultPaging{Page: in.Page, PageNumber: in.PageNumber}) {
		size = defaultGroups
	}
	size = min(size, maxOccurrences)
	q.Offset, q.Limit = (number-1)*size, size
	page, err := a.Results.Groups(ctx, sc, q)
	if err != nil {
		return page, err
	}
	*envelope = GroupsBody{
		ProjectID: p.ID, ProjectName: p.Name, Page: number, Limit: size, TotalPages: endpoint.Pages(page.Total, size),
		Sort: string(q.Sort), Order: map[bool]string{false: "DESC", true: "ASC"}[q.Ascending],
		Severity: endpoint.OrEmpty(q.Severities), Status: endpoint.OrEmpty(q.Statuses),
		Priority: endpoint.OrEmpty(q.Priorities),
		Total:    page.Total, TotalOccurrences: page.Findings,
	}
	if envelope.ScanEnvelope, err = a.scanEnvelope(ctx, sc, p, in.Branch); err != nil {
		return page, err
	}
	// A project has a standing once a scan of its reference branch was stored.
	standing, err := a.Stats.Standings(ctx, sc, []tenant.ProjectID{p.ID})
	envelope.IsProjectParsed = len(standing) > 0
	return page, err
}

// groupSorts are the sort keys of groups; the first is the default.
var groupSorts = []triage.GroupSort{triage.ByOccurrences, triage.ByHighest, triage.ByLastSeen, triage.ByGroupState,
	triage.ByGroupUrgency,
	triage.ByGroupAge, triage.ByHighestCVSS, triage.ByGroupCVSS}

// groupOrder reads sort and order of a list of groups.
func (p *queryParser) groupOrder(sort, order string) (key triage.GroupSort, ascending bool) {
	key = sortOf(p, groupSorts, sort)
	switch strings.ToLower(order) {
	case "asc":
		ascending = true
	case "", "desc":
	default:
		p.Wrong("order", "must be asc or desc")
	}
	return key, ascending
}

// sortOf returns the sort key with the name, in any case; without a name the first
// one, and for an unknown name as well, with a warning.
func sortOf[T ~string](p *queryParser, keys []T, name string) T {
	if name == "" {
		return keys[0]
	}
	for _, k := range keys {
		if strings.EqualFold(string(k), name) {
			return k
		}
	}
	p.Ignore("sort", name, endpoint.Joined(keys))
	return keys[0]
}

// viewGroup returns what groups by rule and groups by package have in common. The vulnerability of a
// package is shown by its advisory.
func viewGroup(g *triage.Group) GroupBody {
	out := GroupBody{
		Vulnerability: viewRule(g.RuleID, &g.Rule, g.Highest, g.Rule.Language), OccurrenceCount: g.Count,
		SeverityBreakdown: countsOf(g.BySeverity),
		HighestSeverity:   g.Highest, Occurrences: make([]occurrenceBody, len(g.Occurrences)), FirstSeen: g.FirstSeen,
		LastSeen: g.LastSeen,
	}
	out.Language = g.Rule.Language
	for _, o := range g.Occurrences {
		out.Language = cmp.Or(out.Language, o.Language)
	}
	out.Language = cmp.Or(out.Language, "unknown")
	for i, o := range g.Occurrences {
		out.Occurrences[i] = viewOccurrence(o)
	}
	if g.Rule.Advisory != nil {
		advisory := viewAdvisory(g.RuleID, &g.Rule, nil)
		advisory.Severity = strings.ToUpper(string(g.Highest))
		// The findings of a group may be of several versions, each with another upgrade.
		if g.Fixable {
			advisory.HowToPrevent = "Upgrade the package. See the findings of the group for fixed versions."
		}
		out.Vulnerability = advisory
	}
	return out
}
