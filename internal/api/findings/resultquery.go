package findings

import (
	"slices"
	"strings"

	"merlon/internal/api/endpoint"
	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// This file reads the parameters of the result lists. Clients spell them in many
// ways; all are taken on every list.

// ResultPaging are the parameters that choose a page. What is out of range is
// moved into it.
type ResultPaging struct {
	Page           int `query:"page" maximum:"2147483647"`
	PageNumber     int `query:"pageNumber" maximum:"2147483647" doc:"Alias of page."`
	Limit          int `query:"limit" doc:"Page size, at most 500. Default: 100."`
	PageSize       int `query:"pageSize" doc:"Alias of limit."`
	PageSizeNumber int `query:"pageSizeNumber" doc:"Alias of limit."`
	PerPage        int `query:"perPage" doc:"Alias of limit."`
}

// Sizes of a page of results. A client's severity gate reads one page without
// naming a size, so that is not small.
const (
	defaultResults = 100
	maxResults     = 500
)

// pageAndSize returns the page, from 1, and its size.
func (p ResultPaging) pageAndSize() (page, size int) {
	// A missing number is 0, so the larger of the two is the one that was sent.
	page = max(p.Page, p.PageNumber, 1)
	for _, n := range []int{p.Limit, p.PageSize, p.PageSizeNumber, p.PerPage} {
		if n != 0 {
			return page, min(max(n, 1), maxResults)
		}
	}
	return page, defaultResults
}

// ResultFilter are the parameters that choose findings.
type ResultFilter struct {
	Severity       string `query:"severity" doc:"Severities: critical, high, medium, low."`
	SeverityFilter string `query:"severityFilter" doc:"Alias of severity."`
	Status         string `query:"status" doc:"Statuses: to_verify, confirmed, resolved, ignored."`
	StatusFilter   string `query:"statusFilter" doc:"Alias of status."`
	Priority       string `query:"priority" doc:"Priorities: critical_urgent, urgent, normal, low, very_low."`
	PriorityFilter string `query:"priorityFilter" doc:"Alias of priority."`
	Language       string `query:"language"`
	SearchQuery    string `query:"searchQuery" maxLength:"200" doc:"Substring of the message, path, package, rule or advisory."`
	Query          string `query:"query" maxLength:"200" doc:"Alias of searchQuery."`
	Branch         string `query:"branch"`
	HasAutofix     string `query:"hasAutofix" doc:"true: only findings that an upgrade or an edit fixes."`
	PackageType    string `query:"packageType" doc:"Dependency types: direct, dev, transitive."`
	PackageFilter  string `query:"packageManagerFilter" doc:"Alias of packageType."`
	ImageID        string `query:"imageId" doc:"Only findings of this container image."`
	ClassType      string `query:"classType" doc:"Finding classes of images: os-pkgs, lang-pkgs, secret, config."`
}

// oldStatuses are statuses that clients still offer and that no finding has. They are
// accepted, because clients send their complete list of statuses; alone they select nothing.
var oldStatuses = []triage.Status{"not_exploitable", "proposed_not_exploitable", "in_review"}

// parseFilter reads the parameters. shown is what the project's settings show of the
// analysis.
func (p *queryParser) parseFilter(in *ResultFilter, a finding.Analysis, settings project.Settings) triage.Filter {
	f := triage.Filter{
		Analysis: a, Branch: in.Branch, Language: in.Language,
		Search:     strings.TrimSpace(firstNonEmpty(in.SearchQuery, in.Query)),
		Severities: endpoint.Enum(&p.Parser, "severity", finding.Severities, in.Severity, in.SeverityFilter),
		Priorities: endpoint.Enum(&p.Parser, "priority", triage.Priorities, in.Priority, in.PriorityFilter),
		Origins:    endpoint.Enum(&p.Parser, "packageType", triage.Origins, in.PackageType, in.PackageFilter),
		Fixable:    p.Boolean("hasAutofix", in.HasAutofix),
	}
	// Known and old statuses are parsed as one enumeration, then the old ones are dropped.
	statuses := endpoint.Enum(&p.Parser, "status", slices.Concat(triage.Statuses, oldStatuses), in.Status,
		in.StatusFilter)
	for _, s := range statuses {
		if !slices.Contains(oldStatuses, s) {
			f.Statuses = append(f.Statuses, s)
		}
	}
	// Only old statuses were requested. Without this flag the empty list would select all.
	f.MatchNone = len(statuses) > 0 && len(f.Statuses) == 0
	if in.ImageID != "" {
		if _, err := tenant.ParseID("imageId", in.ImageID); err != nil {
			p.Wrong("imageId", "must be a UUID")
		}
	}
	f.Image, f.Classes = strings.ToLower(in.ImageID), endpoint.Enum(&p.Parser, "classType", triage.Classes,
		in.ClassType)
	// no other analysis looks at images
	f.MatchNone = f.MatchNone || (in.ImageID != "" || len(f.Classes) > 0) && a != finding.Container
	// The query was checked for NUL as a whole; PostgreSQL refuses it in any text parameter.
	for _, text := range []string{f.Branch, f.Language, f.Search} {
		if strings.IndexByte(text, 0) >= 0 {
			p.Wrong("searchQuery", "must not contain NUL characters")
		}
	}
	hideSeverities(&f, settings)
	return f
}

// hideSeverities narrows the filter to the severities that the project's settings show.
func hideSeverities(f *triage.Filter, settings project.Settings) {
	var shown []finding.Severity
	for _, s := range finding.Severities {
		if settings.Shown(f.Analysis, s) {
			shown = append(shown, s)
		}
	}
	// Nothing is hidden: the filter stays as the request has it.
	if len(shown) == len(finding.Severities) {
		return
	}
	if len(f.Severities) == 0 {
		f.Severities = shown
	} else {
		f.Severities = slices.DeleteFunc(slices.Clone(f.Severities), func(s finding.Severity) bool {
			return !slices.Contains(shown, s)
		})
	}
	f.MatchNone = f.MatchNone || len(f.Severities) == 0
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// sortKeys are the keys that lists take; updatedAt and currentCvss are other
// spellings.
var sortKeys = map[string]triage.SortKey{
	"": triage.ByDefault, "currentstate": triage.ByStatus, "currentseverity": triage.BySeverity,
	"currentpriority": triage.ByPriority,
	"language":        triage.ByLanguage, "createdat": triage.ByCreated, "updateat": triage.ByUpdated,
	"updatedat":   triage.ByUpdated,
	"currentcvss": triage.ByCVSS,
}

// parseOrder reads sort and order. An unknown sort is ignored, with a warning. Without an order, enumerations go from
// their
// first
// value, critical, to their last, and times and scores from the highest.
func (p *queryParser) parseOrder(sort, order string) (key triage.SortKey, descending bool) {
	// An unknown key gives the zero SortKey, which is the default order.
	key, ok := sortKeys[strings.ToLower(sort)]
	if !ok { // clients send one key to every list
		p.Ignore("sort", sort, "currentState, currentSeverity, currentPriority, language, createdAt, updateAt, "+
			"currentCVSS")
	}
	switch strings.ToLower(order) {
	case "asc":
	case "desc":
		descending = true
	case "":
		descending = key == triage.ByCreated || key == triage.ByUpdated || key == triage.ByCVSS
	default:
		p.Wrong("order", "must be asc or desc")
	}
	return key, descending && key != triage.ByDefault
}
