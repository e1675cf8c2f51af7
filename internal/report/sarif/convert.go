package sarif

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file turns the scan's terms into SARIF's.

// base stands for the scanned folder.
const base = "%SRCROOT%"

// describeRule returns the rule as SARIF describes it.
func describeRule(r *finding.Rule) reportingDescriptor {
	help := strings.TrimSpace(r.Description)
	if r.HowToPrevent != "" {
		help += "\n\n## How to fix\n\n" + strings.TrimSpace(r.HowToPrevent)
	}
	d := reportingDescriptor{
		ID:               r.ID,
		Name:             r.Name,
		ShortDescription: &text{Text: cmp.Or(r.ShortDescription, r.Name, r.ID)},
		FullDescription:  &text{Text: cmp.Or(strings.TrimSpace(r.Description), r.ShortDescription, r.Name, r.ID)},
		Help:             &text{Text: cmp.Or(help, r.Name, r.ID), Markdown: help},
		HelpURI:          helpURI(r),
		Configuration:    configuration{Level: levelOf(r.Severity)},
		Properties: map[string]any{
			"tags":              ruleTags(r),
			"security-severity": formatScore(securitySeverity(r.Severity, r.Advisory)),
			"precision":         precisionOf(r.Confidence),
		},
	}
	if a := r.Advisory; a != nil && a.EPSS != nil {
		d.Properties["epss"] = a.EPSS
	}
	if a := r.Advisory; a != nil && a.KEV != nil {
		d.Properties["kev"] = a.KEV
	}
	return d
}

// ruleTags returns the words by which code hosts filter.
func ruleTags(r *finding.Rule) []string {
	tags := []string{"security", string(r.Analysis)}
	for _, cwe := range r.CWE {
		tags = append(tags, "external/cwe/"+strings.ToLower(cwe))
	}
	for _, owasp := range r.OWASP {
		tags = append(tags, "external/owasp/"+strings.ToLower(strings.ReplaceAll(owasp, ":", "-")))
	}
	return tags
}

// helpURI returns the page about a rule: its own, that of its first CWE, or the record of its
// advisory.
func helpURI(r *finding.Rule) string {
	if link := absoluteURL(r.Link); link != "" {
		return link
	}
	for _, cwe := range r.CWE {
		if number, ok := strings.CutPrefix(cwe, "CWE-"); ok {
			return "https://cwe.mitre.org/data/definitions/" + url.PathEscape(number) + ".html"
		}
	}
	if a := r.Advisory; a != nil && a.ID != "" {
		return "https://osv.dev/vulnerability/" + url.PathEscape(a.ID) // all records of OSV, by any of their names
	}
	return ""
}

// automationID returns the category of the run: its analyses. The slash at the end leaves out the
// name of a single run (section 3.17.3).
func automationID(s *scan.Summary) string {
	names := make([]string, 0, len(s.Setup.Analyses))
	for _, a := range s.Setup.Analyses {
		names = append(names, string(a))
	}
	return s.Setup.Tool + "/" + strings.Join(names, "+") + "/"
}

// securitySeverity returns the score of a finding as code hosts read it: a number in the band of
// its severity (critical from 9.0, high from 7.0, medium from 4.0). Inside the band it is the CVSS
// score of the advisory, or its nearest end: the context of a finding may weigh more than the
// score, which knows no context.
func securitySeverity(severity finding.Severity, a *finding.Advisory) float64 {
	band := severityBands[severity]
	if band == [3]float64{} {
		band = severityBands[finding.Low]
	}
	if a == nil || a.CVSS <= 0 {
		return band[1]
	}
	return min(max(a.CVSS, band[0]), band[2])
}

// severityBands are the lowest score, the score without CVSS, and the highest score of severities
// (CVSS 4.0, section 6).
var severityBands = map[finding.Severity][3]float64{
	finding.Critical: {9, 9.5, 10}, finding.High: {7, 8, 8.9}, finding.Medium: {4, 5.5, 6.9},
	finding.Low: {0.1, 3, 3.9},
}

// formatScore writes a score with one decimal.
func formatScore(score float64) string { return strconv.FormatFloat(score, 'f', 1, 64) }

// precisionOf maps a confidence to the property "precision" that GitHub code scanning uses to
// rank alerts.
func precisionOf(c finding.Confidence) string {
	switch c {
	case finding.HighConfidence:
		return "high"
	case finding.LowConfidence:
		return "low"
	}
	return "medium"
}

// levelOf maps a severity to a SARIF level (section 3.27.10).
func levelOf(s finding.Severity) string {
	switch s {
	case finding.Critical, finding.High:
		return "error"
	case finding.Medium:
		return "warning"
	}
	return "note"
}

// rankOf returns the priority of a result from 0 to 100 (section 3.27.25), by which viewers sort:
// severity first, then confidence. A vulnerable function that the program calls comes before
// other packages of the same severity, and one that it does not import after them.
func rankOf(f *finding.Finding) float64 {
	rank := map[finding.Severity]float64{finding.Critical: 90, finding.High: 70, finding.Medium: 45}[f.Severity]
	if rank == 0 {
		rank = 20
	}
	switch f.Confidence {
	case finding.HighConfidence:
		rank += 4
	case finding.LowConfidence:
		rank -= 10
	}
	if f.Package != nil && f.Package.Reach != nil {
		switch f.Package.Reach.Verdict {
		case finding.Reachable:
			rank += 6
		case finding.NotFound:
			rank -= 10
		}
	}
	return rank
}

// absoluteURL returns the link if it is an absolute web address.
func absoluteURL(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

// newResult returns the finding of the rule at the index, with its score.
func newResult(f *finding.Finding, index int, score float64) resultObject {
	r := resultObject{
		RuleID:    f.RuleID,
		RuleIndex: index,
		Level:     levelOf(f.Severity),
		Rank:      rankOf(f),
		Message:   text{Text: f.Message},
		Locations: []location{{Physical: newPhysicalLocation(f.Location, f.Snippet)}},
		Properties: map[string]any{
			"severity": f.Severity, "analyzer": f.Analyzer, "analysis": f.Analysis, "language": f.Language,
			"security-severity": formatScore(score), // of this result; the rule has the highest of its results
		},
	}
	if f.Confidence != "" {
		r.Properties["confidence"] = f.Confidence
	}
	if len(f.Terms) > 0 {
		r.Properties["impact"], r.Properties["severityTerms"] = f.Impact, f.Terms
	}
	if f.Fix != nil {
		r.Fixes = []fix{newFix(f.Fix)}
	}
	if f.Fingerprint != (finding.Fingerprint{}) {
		r.Fingerprints = map[string]string{"merlonPlace/v1": f.Fingerprint.Place, "merlonFlaw/v1": f.Fingerprint.Flaw}
	}
	for _, at := range f.Also {
		r.Related = append(r.Related, location{Physical: newPhysicalLocation(at, nil),
			Message: &text{Text: "the same flaw"}})
	}
	if f.Package != nil {
		r.Properties["package"] = f.Package
		if v := f.Package.VEX; v.Clears() {
			r.Suppressions = []suppression{{Kind: "external",
				Justification: strings.TrimSpace(strings.Join([]string{string(v.Status), v.Justification, v.Text},
					" "))}}
		}
	}
	if f.Secret != nil {
		r.Properties["secret"] = f.Secret
	}
	if f.Layer != nil {
		r.Properties["layer"] = f.Layer
	}
	if len(f.Entry) > 0 {
		r.Properties["entry"] = f.Entry
	}
	if f.Live != nil {
		r.addLiveEvidence(f)
	}
	if len(f.EquivalentRules) > 0 {
		r.Properties["same"] = f.EquivalentRules // other rules that say it
	}
	r.addCodeFlow(f.Steps)
	if f.Package != nil && f.Package.Reach != nil {
		r.addCodeFlow(f.Package.Reach.Steps) // the calls that lead to the vulnerable function
	}
	return r
}

// newFix returns a fix. Its edits replace whole lines.
func newFix(f *finding.Fix) fix {
	change := artifactChange{Artifact: artifactURI(f.Path)}
	for _, e := range f.Edits {
		change.Replacements = append(change.Replacements, newReplacement(e))
	}
	out := fix{Changes: []artifactChange{change}}
	if f.Description != "" {
		out.Description = &text{Text: f.Description}
	}
	return out
}

// newReplacement returns an edit as a replacement. A region without columns ends before the line
// end (section 3.30.8), which so stays as it is in the file.
func newReplacement(e finding.Edit) replacement {
	content := strings.Join(e.Lines, "\n")
	switch {
	case e.EndLine < e.StartLine: // an empty region at the beginning of the line
		return replacement{region{StartLine: e.StartLine, StartColumn: 1, EndLine: e.StartLine, EndColumn: 1},
			&text{Text: content + "\n"}}
	case len(e.Lines) == 0: // the lines with their ends
		return replacement{Deleted: region{StartLine: e.StartLine, StartColumn: 1, EndLine: e.EndLine + 1,
			EndColumn: 1}}
	}
	return replacement{region{StartLine: e.StartLine, EndLine: e.EndLine}, &text{Text: content}}
}

// addCodeFlow adds a path through the code.
func (r *resultObject) addCodeFlow(steps []finding.Step) {
	if len(steps) == 0 {
		return
	}
	flow := threadFlow{}
	for _, s := range steps {
		at := location{Physical: newPhysicalLocation(s.Location, s.Snippet)}
		if s.Message != "" {
			at.Message = &text{Text: s.Message}
		}
		flow.Locations = append(flow.Locations, threadFlowLocation{Location: at, Kinds: []string{string(s.Kind)}})
	}
	r.CodeFlows = append(r.CodeFlows, codeFlow{ThreadFlows: []threadFlow{flow}})
}

// addStanding adds what a service knows of the finding.
func (r *resultObject) addStanding(s Standing) {
	if s.ID == "" {
		return
	}
	r.Provenance = &provenance{First: s.Found.UTC()}
	r.Properties["id"] = s.ID // not the result's guid, which cannot be a UUID that holds the time
	r.Properties["status"], r.Properties["priority"], r.Properties["branch"] = s.Status, s.Priority, s.Branch
	if s.Gone {
		r.Baseline = "absent"
	}
	if s.Ignored {
		r.Suppressions = append(r.Suppressions, suppression{Kind: "external", Justification: s.Comment})
	}
}

// newPhysicalLocation returns the place with its code and the lines around it.
func newPhysicalLocation(at finding.Location, s *finding.Snippet) physicalLocation {
	p := physicalLocation{Artifact: artifactURI(at.Path)}
	if at.StartLine <= 0 {
		return p
	}
	p.Region = &region{StartLine: at.StartLine, EndLine: max(at.EndLine, at.StartLine)}
	if at.StartColumn > 0 {
		p.Region.StartColumn = at.StartColumn
		p.Region.EndColumn = max(at.EndColumn, 0)
	}
	if s == nil || len(s.Lines) == 0 {
		return p
	}
	p.Context = &region{StartLine: s.StartLine, EndLine: s.StartLine + len(s.Lines) - 1, Snippet: joinLines(s.Lines)}
	// The snippet of a region is its text exactly; of a region that begins inside
	// a line only the lines around it are at hand.
	first, last := at.StartLine-s.StartLine, min(p.Region.EndLine-s.StartLine+1, len(s.Lines))
	if p.Region.StartColumn == 0 && first >= 0 && first < last {
		p.Region.Snippet = joinLines(s.Lines[first:last])
	}
	return p
}

// joinLines returns lines as the text of a region's snippet.
func joinLines(lines []string) *text { return &text{Text: strings.Join(lines, "\n")} }

// artifactURI returns the address of a file below the scanned folder.
func artifactURI(path string) artifactAddress {
	return artifactAddress{URI: (&url.URL{Path: path}).String(), Base: base}
}

// newInvocation tells how the scan went.
func newInvocation(s *scan.Summary) invocation {
	inv := invocation{Successful: s.Complete(), Start: s.Setup.Started.UTC(), Notifications: []notification{}}
	for _, warning := range s.Setup.Sandbox {
		inv.Notifications = append(inv.Notifications, notification{Level: "warning", Message: text{Text: warning},
			Descriptor: &reference{"sandbox"}})
	}
	for _, st := range s.Incomplete() {
		level := "warning"
		if st.State == scan.Failed {
			level = "error"
		}
		for _, r := range st.Reasons {
			if r.Skipped {
				continue
			}
			n := notification{Level: level, Descriptor: &reference{r.Code},
				Message:    text{Text: fmt.Sprintf("%s %s: %s", st.Analyzer, st.State, r.Message)},
				Properties: map[string]any{"analyzer": st.Analyzer, "state": st.State}}
			if r.Path != "" {
				n.Locations = []location{{Physical: newPhysicalLocation(finding.Location{Path: r.Path,
					StartLine: r.Line}, nil)}}
			}
			inv.Notifications = append(inv.Notifications, n)
		}
		if st.Omitted > 0 {
			inv.Notifications = append(inv.Notifications, notification{Level: level, Descriptor: &reference{"omitted"},
				Message: text{Text: fmt.Sprintf("%s %s: %d further reasons are "+
					"left out", st.Analyzer, st.State, st.Omitted)}})
		}
	}
	for _, r := range s.Skipped() {
		inv.Notifications = append(inv.Notifications, notification{Level: "note", Descriptor: &reference{r.Code},
			Message:   text{Text: "skipped: " + r.Message},
			Locations: []location{{Physical: newPhysicalLocation(finding.Location{Path: r.Path}, nil)}}})
	}
	for _, r := range s.Unchecked() {
		inv.Notifications = append(inv.Notifications, notification{Level: "note", Descriptor: &reference{r.Code},
			Message: text{Text: "not checked: " + r.Message}})
	}
	return inv
}

// runProperties tells what was looked at, by what, and how old the vulnerability
// data was.
func runProperties(s *scan.Summary) map[string]any {
	p := map[string]any{"analyses": s.Setup.Analyses, "analyzers": s.Statuses}
	if s.Setup.Files > 0 { // a scan of a tree
		p["files"], p["packages"] = s.Setup.Files, s.Packages
	}
	if s.Setup.Image != nil {
		p["image"] = s.Setup.Image
	}
	if a := s.Setup.Advisories; a != nil {
		p["advisories"] = a
		p["advisoriesAges"] = a.Freshness(s.Setup.Started)
		if !a.Newest.IsZero() {
			p["advisoriesAgeDays"] = int(s.Setup.Started.Sub(a.Newest).Hours() / 24)
		}
	}
	if len(s.Created) > 0 {
		p["created"] = createdObjects(s.Created)
	}
	return p
}

// createdObjects are the objects that the scan has created in the application, by request.
func createdObjects(operations []finding.Operation) []map[string]any {
	var out []map[string]any
	for _, o := range operations {
		out = append(out, map[string]any{"request": o.Method + " " + o.URL, "objects": o.Created})
	}
	return out
}
