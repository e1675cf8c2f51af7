package findings

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file makes the shorter forms of a finding that lists show.

// A view is how much of each finding a list shows, by its name on the wire.
type view string

const (
	listView view = ""     // what clients read of a list: no code, flows or history, and the first words of texts
	rowView  view = "row"  // a line of a table
	fullView view = "full" // everything but the long evidence of live scans, as exports have it
)

// rowBody is a finding as a line of a table.
type rowBody struct {
	ID       triage.ID        `json:"id" format:"uuid"`
	Name     string           `json:"name" doc:"Rule title; for a vulnerable package the package and the advisory."`
	State    triage.Status    `json:"currentState"`
	Severity finding.Severity `json:"currentSeverity"`
	Priority triage.Priority  `json:"currentPriority"`
	Path     string           `json:"path"`
	Line     int              `json:"vulnerableStartLine"`
	Branch   string           `json:"branch"`
	UpdateAt time.Time        `json:"updateAt"`
}

// listedResult is an element of a list, in one of the views. Exactly one member is not nil.
type listedResult struct {
	listed *listBody
	whole  *resultBody
	row    *rowBody
}

// MarshalJSON writes the view that was asked for.
func (l listedResult) MarshalJSON() ([]byte, error) {
	switch {
	case l.row != nil:
		return json.Marshal(l.row)
	case l.whole != nil:
		return json.Marshal(l.whole)
	}
	return json.Marshal(l.listed)
}

// Schema describes the views. Without it the library would describe an empty object, since
// no member is exported.
func (listedResult) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[listBody](), true, "ListBody"), r.Schema(reflect.TypeFor[resultBody](), true,
			"ResultBody"), r.Schema(reflect.TypeFor[rowBody](), true, "RowBody"),
	}}
}

// viewListed returns the finding as the list shows it.
func viewListed(f *triage.Finding, v view) listedResult {
	switch v {
	case rowView:
		return listedResult{row: viewRow(f)}
	case fullView:
		whole := viewResult(f)
		return listedResult{whole: &whole}
	}
	return listedResult{listed: viewList(f)}
}

// maxRowName bounds the name in a row, in bytes.
const maxRowName = 80

// viewRow returns the finding as a line of a table. A package is named with its version, which the
// table has no column for.
func viewRow(f *triage.Finding) *rowBody {
	name := f.Rule.Name
	if m := f.Report.Package; m != nil {
		name = m.Package.Name + "@" + m.Package.Version + ": " + name
	}
	return &rowBody{
		ID: f.ID, Name: clipText(name, maxRowName), State: f.Status, Severity: f.Report.Severity, Priority: f.Priority,
		Path: f.Report.Location.Path, Line: f.Report.Location.StartLine, Branch: f.Branch, UpdateAt: f.UpdatedAt,
	}
}

// maxListed bounds each text of a rule or an advisory in a list, in bytes. The finding by
// itself has all of it.
const maxListed = 40

// listBody is an element of a list: the members that clients read, each text once where
// they allow it. The finding by itself has the code, flows, history and whole texts.
type listBody struct {
	ListFields
	PriorityScore      int            `json:"priorityScore" doc:"Confidence, from 0 to 100."`
	PriorityManual     bool           `json:"priorityManualOverride,omitempty" doc:"The priority was set manually."`
	Message            string         `json:"message" doc:"Shortened message."`
	CVSSScore          *float64       `json:"cvssScore,omitempty" doc:"Omitted if none."`
	DataFlowItems      []flowBody     `json:"dataFlowItems" doc:"Always empty in lists."`
	HistoryItems       []historyBody  `json:"historyItems" doc:"Always empty in lists."`
	Vulnerability      listRule       `json:"vulnerability"`
	Base               listBase       `json:"base"`
	ScaDetectedPackage *listLibrary   `json:"scaDetectedPackage,omitempty"`
	Library            *listLibrary   `json:"library,omitempty"`
	Metadata           *listAdvisory  `json:"metadata,omitempty"`
	AutofixRecords     *[]autofixBody `json:"autofixRecords,omitempty"`
	Secret             *listSecret    `json:"secret,omitempty"`
	Live               *listLive      `json:"live,omitempty" doc:"Location in the running application."`
	ClassType          triage.Class   `json:"classType,omitempty"`
	Layer              *layerBody     `json:"layer,omitempty"`
}

// ListFields are the members that both parts of an element of a list have.
type ListFields struct {
	ID                  triage.ID        `json:"id" format:"uuid"`
	ProjectID           tenant.ProjectID `json:"projectId" format:"uuid"`
	CreatedAt           time.Time        `json:"createdAt"`
	UpdateAt            time.Time        `json:"updateAt"`
	CurrentState        triage.Status    `json:"currentState"`
	CurrentSeverity     finding.Severity `json:"currentSeverity"`
	CurrentPriority     triage.Priority  `json:"currentPriority"`
	Language            string           `json:"language"`
	Path                string           `json:"path"`
	VulnerableStartLine int              `json:"vulnerableStartLine"`
	VulnerableEndLine   int              `json:"vulnerableEndLine"`
	Branch              string           `json:"branch"`
	VulnerabilityType   finding.Analysis `json:"vulnerabilityType"`
	CodeSnippets        []snippetBody    `json:"codeSnippets" doc:"Always empty in lists."`
}

// listBase is the nested copy of the members that older clients read.
type listBase struct {
	ListFields
	HistoryItems  historyList `json:"historyItems"`
	Vulnerability any         `json:"vulnerability" doc:"Rule ID; null for a vulnerable package."`
}

// listRule is a rule, or the advisory of a vulnerable package, in its first words.
type listRule struct {
	ID           string   `json:"id" format:"uuid"`
	CWE          []string `json:"cwe"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	HowToPrevent string   `json:"howToPrevent,omitempty"`
	Severity     string   `json:"severity" enum:"CRITICAL,HIGH,MEDIUM,LOW" doc:"Severity of the finding."`
	OWASPTop10   []string `json:"owaspTop10,omitempty"`
	GHSAID       string   `json:"ghsaId,omitempty"`
	CVE          string   `json:"cve,omitempty"`

	// Of an advisory, and empty: clients walk over them.
	Aliases    *[]struct{} `json:"aliases,omitempty"`
	References *[]struct{} `json:"references,omitempty"`
	Severities *[]struct{} `json:"severities,omitempty"`
	Packages   *[]struct{} `json:"packages,omitempty"`
}

// ListLists are the lists of an advisory, which are empty in lists of findings: clients
// walk over them.
type ListLists struct {
	Aliases    []struct{} `json:"aliases"`
	References []struct{} `json:"references"`
	Severities []struct{} `json:"severities"`
	Packages   []struct{} `json:"packages"`
}

// noLists has empty lists instead of nil ones, which JSON would encode as null.
var noLists = ListLists{Aliases: []struct{}{}, References: []struct{}{}, Severities: []struct{}{},
	Packages: []struct{}{}}

// listLibrary is a vulnerable package in a list.
type listLibrary struct {
	PackageName    string   `json:"packageName"`
	PackageVersion string   `json:"packageVersion"`
	FileName       string   `json:"fileName"`
	Ecosystem      string   `json:"ecosystem"`
	Path           []string `json:"path"`
	IsDev          bool     `json:"isDev,omitempty"`
	IsTransitive   bool     `json:"isTransitive,omitempty"`
}

// listAdvisory is an advisory with its first words.
type listAdvisory struct {
	GHSAID     string        `json:"ghsaId"`
	CVE        string        `json:"cve"`
	InternalID string        `json:"internalId"`
	Summary    string        `json:"summary"`
	Details    string        `json:"details"`
	SeverityGH string        `json:"severityGh"`
	CWEs       []advisoryCWE `json:"cwes"`
	ListLists
}

// listSecret is a secret without the commits that hold it.
type listSecret struct {
	Kind     string           `json:"kind,omitempty" doc:"Left out when it is the name of the rule."`
	Redacted string           `json:"redacted"`
	Validity finding.Validity `json:"validity,omitempty"`
}

// listLive is the request of a finding of a dynamic scan, without its evidence.
type listLive struct {
	Method    string `json:"method"`
	URL       string `json:"url"`
	Parameter string `json:"parameter,omitempty"`
	In        string `json:"in,omitempty"`
}

// viewList returns the element of a list.
func viewList(f *triage.Finding) *listBody {
	r := &f.Report
	fields := ListFields{
		ID: f.ID, ProjectID: f.ProjectID, CreatedAt: f.CreatedAt, UpdateAt: f.UpdatedAt, CurrentState: f.Status,
		CurrentSeverity: r.Severity,
		CurrentPriority: f.Priority, Language: r.Language, Path: r.Location.Path,
		VulnerableStartLine: r.Location.StartLine,
		VulnerableEndLine:   r.Location.EndLine, Branch: f.Branch, VulnerabilityType: r.Analysis,
		CodeSnippets: []snippetBody{},
	}
	rule := listRule{
		ID: f.RuleID, CWE: endpoint.OrEmpty(f.Rule.CWE), Name: f.Rule.Name, OWASPTop10: f.Rule.OWASP,
		Severity: strings.ToUpper(string(r.Severity)),
		Description: clipText(cmp.Or(ruletext.ForLanguage(f.Rule.Description, f.Report.Language),
			f.Rule.ShortDescription, f.Rule.Name), maxListed),
		HowToPrevent: clipText(ruletext.ForLanguage(f.Rule.HowToPrevent, f.Report.Language), maxListed),
	}
	flat := rule
	flat.OWASPTop10, flat.HowToPrevent = nil, "" // the readers of the flat part ask for the finding by itself
	out := &listBody{
		ListFields: fields, PriorityScore: (f.Score + 5) / 10, PriorityManual: f.Pinned,
		Message: clipText(viewMessage(r), maxListed), CVSSScore: scoreOrNull(f.CVSS),
		DataFlowItems: []flowBody{}, HistoryItems: []historyBody{}, Vulnerability: flat,
		Base:      listBase{ListFields: fields, HistoryItems: historyList{[]historyBody{}}, Vulnerability: &rule},
		ClassType: triage.ClassOf(r), Layer: viewLayer(r.Layer),
	}
	if m := r.Secret; m != nil {
		out.Secret = &listSecret{Kind: m.Kind, Redacted: m.Redacted, Validity: m.Validity}
		// The name is in the element already; lists of thousands of secrets get shorter.
		if m.Kind == f.Rule.Name {
			out.Secret.Kind = ""
		}
	}
	if l := r.Live; l != nil {
		out.Live = &listLive{Method: l.Method, URL: l.URL, Parameter: l.Parameter, In: l.In}
	}
	if r.Package != nil {
		out.addPackage(f)
	}
	return out
}

// addPackage adds what is known of a vulnerable package.
func (b *listBody) addPackage(f *triage.Finding) {
	m := f.Report.Package
	b.Library = &listLibrary{PackageName: m.Package.Name, PackageVersion: m.Package.Version, FileName: m.Package.Path,
		Ecosystem: m.Package.Ecosystem,
		Path:      endpoint.OrEmpty(m.Package.Via), IsDev: m.Package.Dev,
		IsTransitive: m.Package.Scope == finding.Transitive}
	b.ScaDetectedPackage = b.Library
	fixes := viewFixes(f)
	b.AutofixRecords = &fixes
	a := f.Rule.Advisory
	if a == nil {
		return
	}
	b.Metadata = &listAdvisory{GHSAID: a.GHSA, CVE: a.CVE, InternalID: a.ID, Summary: clipText(a.Summary, maxListed),
		Details:    clipText(a.Details, maxListed),
		SeverityGH: strings.ToUpper(string(f.Rule.Severity)), CWEs: []advisoryCWE{}, ListLists: noLists}
	for i, c := range a.CWE {
		b.Metadata.CWEs = append(b.Metadata.CWEs, advisoryCWE{ID: strconv.Itoa(i), CWEID: c})
	}
	rule := &b.Vulnerability
	rule.CWE, rule.CVE, rule.GHSAID = endpoint.OrEmpty(a.CWE), a.CVE, a.GHSA
	// Clients iterate over these without a check for null.
	rule.Aliases, rule.References, rule.Severities, rule.Packages = &[]struct{}{}, &[]struct{}{}, &[]struct{}{},
		&[]struct{}{}
	rule.Name, rule.Description = clipText(cmp.Or(a.Summary, a.ID), maxListed), ""
	rule.Description, rule.HowToPrevent = rule.Name, clipText(howToUpgrade(m), 2*maxListed)
	// In the wrapped form a vulnerable package has its advisory in metadata.
	b.Base.Vulnerability = nil
}

// clipText returns the first words of a text: at most n bytes and an ellipsis.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	// Do not cut a character in two: the JSON encoder would replace the rest by U+FFFD.
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	s = s[:n]
	// Cut at a word, unless that would lose more than half, as in a long path.
	if i := strings.LastIndexByte(s, ' '); i > n/2 {
		s = s[:i]
	}
	return s + "…"
}
