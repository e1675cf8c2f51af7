package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"merlon/internal/errs"
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

// get returns the page, from 1, and its size.
func (p ResultPaging) get() (page, size int) {
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
	HasAutofix     string `query:"hasAutofix" doc:"true: only findings that an upgrade fixes."`
	PackageType    string `query:"packageType" doc:"Dependency types: direct, dev, transitive."`
	PackageFilter  string `query:"packageManagerFilter" doc:"Alias of packageType."`
	ImageID        string `query:"imageId" doc:"Only findings of this container image."`
	ClassType      string `query:"classType" doc:"Finding classes of images: os-pkgs, lang-pkgs, secret, config."`
}

// parser collects what is wrong with a query, and what of it was ignored.
type parser struct {
	details []errs.Detail
	ignored []string
}

// ignore records that a parameter had a value that means nothing to this list.
func (p *parser) ignore(name, value, known string) {
	p.ignored = append(p.ignored, fmt.Sprintf("unknown value ignored: %s=%s; "+
		"supported: %s", name, headerText(value), known))
}

// warning returns what was ignored, as the value of the header Warning; "" for
// nothing. 299 is the code of a warning that lasts.
func (p *parser) warning() string {
	if len(p.ignored) == 0 {
		return ""
	}
	return `299 merlon "` + strings.Join(p.ignored, "; ") + `"`
}

// headerText returns a short text in which everything but letters, digits and a few
// signs is replaced, so that it may stand in a header.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r)) {
			return r
		}
		return '?'
	}, s[:min(len(s), 64)])
}

func (p *parser) wrong(name, message string) {
	p.details = append(p.details, errs.Detail{Location: "query." + name, Message: message})
}

// err returns an Invalid error that lists what was wrong, or nil.
func (p *parser) err() error {
	if p.details == nil {
		return nil
	}
	return &errs.Error{Kind: errs.Invalid, Message: p.details[0].Location + ": " + p.details[0].Message,
		Details: p.details}
}

// words splits a list parameter.
func words(texts ...string) []string {
	var out []string
	for _, text := range texts {
		for w := range strings.SplitSeq(text, ",") {
			if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// enum reads a list of values of an enumeration, in any case.
func enum[T ~string](p *parser, name string, allowed []T, texts ...string) []T {
	var out []T
	for _, w := range words(texts...) {
		i := slices.IndexFunc(allowed, func(v T) bool { return strings.EqualFold(string(v), w) })
		if i < 0 {
			p.wrong(name, "must be any of "+joined(allowed))
			return nil
		}
		if !slices.Contains(out, allowed[i]) {
			out = append(out, allowed[i])
		}
	}
	return out
}

func joined[T ~string](list []T) string {
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}

// oldStatuses are statuses that clients still offer and that no finding has.
var oldStatuses = []triage.Status{"not_exploitable", "proposed_not_exploitable", "in_review"}

// boolean reads a parameter that may be missing.
func (p *parser) boolean(name, text string) *bool {
	var v bool
	switch strings.ToLower(text) {
	case "":
		return nil
	case "true", "1":
		v = true
	case "false", "0":
	default:
		p.wrong(name, "must be true or false")
	}
	return &v
}

// filter reads the parameters. shown is what the project's settings show of the
// analysis.
func (p *parser) filter(in *ResultFilter, a finding.Analysis, settings project.Settings) triage.Filter {
	f := triage.Filter{
		Analysis: a, Branch: in.Branch, Language: in.Language,
		Search:     strings.TrimSpace(first(in.SearchQuery, in.Query)),
		Severities: enum(p, "severity", finding.Severities, in.Severity, in.SeverityFilter),
		Priorities: enum(p, "priority", triage.Priorities, in.Priority, in.PriorityFilter),
		Origins:    enum(p, "packageType", triage.Origins, in.PackageType, in.PackageFilter),
		Fixable:    p.boolean("hasAutofix", in.HasAutofix),
	}
	statuses := enum(p, "status", slices.Concat(triage.Statuses, oldStatuses), in.Status, in.StatusFilter)
	for _, s := range statuses {
		if !slices.Contains(oldStatuses, s) {
			f.Statuses = append(f.Statuses, s)
		}
	}
	f.MatchNone = len(statuses) > 0 && len(f.Statuses) == 0
	if in.ImageID != "" {
		if _, err := tenant.ParseID("imageId", in.ImageID); err != nil {
			p.wrong("imageId", "must be a UUID")
		}
	}
	f.Image, f.Classes = strings.ToLower(in.ImageID), enum(p, "classType", triage.Classes, in.ClassType)
	// no other analysis looks at images
	f.MatchNone = f.MatchNone || (in.ImageID != "" || len(f.Classes) > 0) && a != finding.Container
	for _, text := range []string{f.Branch, f.Language, f.Search} {
		if strings.IndexByte(text, 0) >= 0 {
			p.wrong("searchQuery", "must not contain NUL characters")
		}
	}
	hide(&f, settings)
	return f
}

// hide narrows the filter to the severities that the project's settings show.
func hide(f *triage.Filter, settings project.Settings) {
	var shown []finding.Severity
	for _, s := range finding.Severities {
		if settings.Shown(f.Analysis, s) {
			shown = append(shown, s)
		}
	}
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

// first returns the first text that is not empty.
func first(texts ...string) string {
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

// order reads sort and order. An unknown sort is ignored, with a warning. Without an order, enumerations go from their
// first
// value, critical, to their last, and times and scores from the highest.
func (p *parser) order(sort, order string) (key triage.SortKey, descending bool) {
	key, ok := sortKeys[strings.ToLower(sort)]
	if !ok { // clients send one key to every list
		p.ignore("sort", sort, "currentState, currentSeverity, currentPriority, language, createdAt, updateAt, "+
			"currentCVSS")
	}
	switch strings.ToLower(order) {
	case "asc":
	case "desc":
		descending = true
	case "":
		descending = key == triage.ByCreated || key == triage.ByUpdated || key == triage.ByCVSS
	default:
		p.wrong("order", "must be asc or desc")
	}
	return key, descending && key != triage.ByDefault
}
