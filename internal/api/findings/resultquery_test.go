package findings

import (
	"slices"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/project"
	"merlon/internal/triage"
)

func TestPageAndSize(t *testing.T) {
	for name, c := range map[string]struct {
		in         ResultPaging
		page, size int
	}{
		"defaults":         {ResultPaging{}, 1, defaultResults},
		"names of clients": {ResultPaging{PageNumber: 2, PageSizeNumber: 50}, 2, 50},
		"the first counts": {ResultPaging{Page: 3, PageNumber: 2, Limit: 5, PageSize: 9}, 3, 5},
		"out of range":     {ResultPaging{Page: -4, PerPage: 10_000}, 1, maxResults},
		"negative":         {ResultPaging{Limit: -1}, 1, 1},
	} {
		if page, size := c.in.pageAndSize(); page != c.page || size != c.size {
			t.Errorf("%s: page %d of %d, want %d of %d", name, page, size, c.page, c.size)
		}
	}
}

func TestParseOrder(t *testing.T) {
	for name, c := range map[string]struct {
		sort, order string
		key         triage.SortKey
		descending  bool
		warns, bad  bool
	}{
		"default":                       {"", "", triage.ByDefault, false, false, false},
		"default has no direction":      {"", "desc", triage.ByDefault, false, false, false},
		"severity from critical":        {"currentSeverity", "", triage.BySeverity, false, false, false},
		"severity from low":             {"CURRENTSEVERITY", "DESC", triage.BySeverity, true, false, false},
		"times from the newest":         {"createdAt", "", triage.ByCreated, true, false, false},
		"another spelling":              {"updatedAt", "asc", triage.ByUpdated, false, false, false},
		"scores from the highest":       {"currentCVSS", "", triage.ByCVSS, true, false, false},
		"an unknown key is ignored":     {"occurrenceCount", "", triage.ByDefault, false, true, false},
		"an unknown direction is wrong": {"language", "up", triage.ByLanguage, false, false, true},
	} {
		var p queryParser
		key, descending := p.parseOrder(c.sort, c.order)
		if key != c.key || descending != c.descending || (p.Warning() != "") != c.warns || (p.Err() != nil) != c.bad {
			t.Errorf("%s: got %s, descending %v, warning %q, %v", name, key, descending, p.Warning(), p.Err())
		}
	}
}

// TestParseFilter checks what old clients send, and what the settings of a project hide.
func TestParseFilter(t *testing.T) {
	shown := project.DefaultSettings(finding.Analyses)
	hidden := shown
	hidden.SASTSeverities = []finding.Severity{finding.Critical, finding.High}
	for name, c := range map[string]struct {
		in         ResultFilter
		analysis   finding.Analysis
		settings   project.Settings
		severities []finding.Severity
		none, bad  bool
	}{
		"nothing":                  {ResultFilter{}, finding.SAST, shown, nil, false, false},
		"hidden severities":        {ResultFilter{}, finding.SAST, hidden, hidden.SASTSeverities, false, false},
		"some of the shown ones":   {ResultFilter{Severity: "high,low"}, finding.SAST, hidden, []finding.Severity{finding.High}, false, false},
		"hidden ones alone":        {ResultFilter{SeverityFilter: "low"}, finding.SAST, hidden, nil, true, false},
		"a status of old clients":  {ResultFilter{Status: "in_review"}, finding.SAST, shown, nil, true, false},
		"an old and a new status":  {ResultFilter{Status: "in_review,ignored"}, finding.SAST, shown, nil, false, false},
		"an image of source code":  {ResultFilter{ImageID: "0198c0de-0000-8000-8000-000000000001"}, finding.SAST, shown, nil, true, false},
		"an image":                 {ResultFilter{ImageID: "0198C0DE-0000-8000-8000-000000000001"}, finding.Container, shown, nil, false, false},
		"no identifier":            {ResultFilter{ImageID: "web"}, finding.Container, shown, nil, false, true},
		"a NUL character":          {ResultFilter{Branch: "a\x00b"}, finding.SAST, shown, nil, false, true},
		"an unknown severity":      {ResultFilter{Severity: "fatal"}, finding.SAST, shown, nil, false, true},
		"an unknown finding class": {ResultFilter{ClassType: "files"}, finding.Container, shown, nil, false, true},
	} {
		var p queryParser
		f := p.parseFilter(&c.in, c.analysis, c.settings)
		if !slices.Equal(f.Severities, c.severities) && !c.bad || f.MatchNone != c.none || (p.Err() != nil) != c.bad {
			t.Errorf("%s: severities %v, none %v, %v", name, f.Severities, f.MatchNone, p.Err())
		}
	}
}

func TestClipText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 5, ""}, {"short", 5, "short"}, {"one two three", 9, "one two…"}, {"abcdefghij", 4, "abcd…"},
		{"ab cdefghij", 8, "ab cdefg…"}, // a blank in the first half would cut too much
		{"äöü", 3, "ä…"},                // never in the middle of a character
	} {
		if got := clipText(c.text, c.most); got != c.want {
			t.Errorf("%q in %d bytes: got %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
