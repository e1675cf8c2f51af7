// Package table writes a scan for people at a terminal: findings by severity and
// rule, then what could not be looked at, then the counts. The advisories of a package are one
// row, because one upgrade is one decision; all other formats have a finding for each.
package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/severity"
	"merlon/internal/upgrade"
)

// New returns a handler that writes a line to w when the scan begins, and the
// rest at Close.
// The header line is written at once, since a scan may take minutes; findings are sorted, so they
// wait for the end.
func New(w io.Writer) *Report {
	return &Report{out: w, rules: map[string]string{}, advisories: map[string]*finding.Rule{},
		vulnerable: map[finding.Analysis][]upgrade.VulnerablePackage{}}
}

// A Report is a scan.Handler.
// Summary counts findings, statuses and operations as they arrive.
type Report struct {
	scan.Summary
	out io.Writer
	// page is the text that is not yet written; flushPage empties it.
	page strings.Builder
	// A rule arrives before its first finding.
	rules map[string]string // names, by id
	rows  []row
	// What is known of vulnerable packages becomes rows at Close, when all of a package is known.
	advisories map[string]*finding.Rule // rules of an advisory, by id
	vulnerable map[finding.Analysis][]upgrade.VulnerablePackage
}

// row is what is shown of a finding.
// severity is the finding's own, which may differ from its rule's; line is 0 for a finding about a
// whole file.
type row struct {
	severity finding.Severity
	rule     string
	path     string
	line     int
	text     string
}

// Config tells what is about to be looked at.
func (r *Report) Config(m *scan.Config) error {
	if err := r.Summary.Config(m); err != nil {
		return err
	}
	what := countNoun(m.Files, "file")
	if i := m.Image; i != nil {
		// A local image has no digest of a registry: then its id names it.
		what = fmt.Sprintf("%s %s, %s", stripControls(i.Platform), stripControls(cmp.Or(i.Digest, i.ID)),
			countNoun(i.Layers, "layer"))
		if i.Base != "" {
			what += ", built from " + stripControls(i.Base)
		}
	}
	// The number of files means nothing for a running application.
	if m.Target != "" {
		what = "running application"
	}
	fmt.Fprintf(&r.page, "%s: %s\n", stripControls(m.Root), what)
	return r.flushPage()
}

// flushPage writes what is on the page.
// The page is emptied also after an error: a broken pipe must not repeat the text at Close.
func (r *Report) flushPage() error {
	_, err := io.WriteString(r.out, r.page.String())
	r.page.Reset()
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// Rule keeps the name of a rule.
func (r *Report) Rule(m *finding.Rule) error {
	r.rules[m.ID] = cmp.Or(m.Name, m.ID)
	if m.Advisory != nil {
		r.advisories[m.ID] = m
	}
	return nil
}

// Finding keeps a row, or a vulnerability for the row of its package.
func (r *Report) Finding(m *finding.Finding) error {
	if rule := r.advisories[m.RuleID]; rule != nil && m.Package != nil {
		for _, v := range upgrade.VulnerablePackages(m, rule) {
			v.Note = describeContext(m)
			r.vulnerable[m.Analysis] = append(r.vulnerable[m.Analysis], v)
		}
	} else {
		r.rows = append(r.rows, row{m.Severity, m.RuleID, m.Location.Path, m.Location.StartLine,
			describeEvidence(m) + describeContext(m)})
	}
	return r.Summary.Finding(m)
}

// maxAlso bounds the further locations that are listed of a finding.
const maxAlso = 3

// describeContext returns what follows the evidence of a finding: its further locations, and why
// its severity is not the one of its impact.
func describeContext(f *finding.Finding) string {
	text := ""
	if n := len(f.Also); n > 0 {
		places := make([]string, 0, maxAlso)
		for _, at := range f.Also[:min(n, maxAlso)] {
			places = append(places, describeLocation(row{path: at.Path, line: at.StartLine}))
		}
		text = " (also at " + strings.Join(places, ", ")
		if n > maxAlso {
			text += " and " + countNoun(n-maxAlso, "more location")
		}
		text += ")"
	}
	if why := severity.Explain(f); why != "" {
		text += " [" + why + "]"
	}
	return text
}

// describeEvidence returns what tells a finding from others of its rule.
// For an image the layer shows which instruction of the Dockerfile brought it; layers count from 0.
func describeEvidence(f *finding.Finding) string {
	if f.Layer != nil {
		inner := *f
		inner.Layer = nil
		text := fmt.Sprintf("%s, in layer %d", describeEvidence(&inner), f.Layer.Index)
		// The file is in the image all the same: anyone who pulls the image can read it, for
		// example a secret that a later RUN removes.
		if f.Layer.Deleted {
			text += " (a later layer hides the file)"
		}
		return text
	}
	if f.Secret != nil {
		// Never the value: output of a pipeline is stored and read by others.
		return f.Secret.Redacted
	}
	// A live finding names the source only when routes of the code were matched to the URL.
	if l := f.Live; l != nil {
		return f.Message + describeCode(l.Code)
	}
	return f.Message
}

// describeCode tells where the source has what was seen of a running application.
func describeCode(c *finding.Code) string {
	switch {
	case c == nil:
		return ""
	// A static finding for the same flaw is the better hint than the handler of the route.
	case c.Flaw != nil:
		return fmt.Sprintf("; in the code at %s:%d (%s)", c.Flaw.Location.Path, c.Flaw.Location.StartLine,
			c.Flaw.RuleID)
	}
	return fmt.Sprintf("; handled at %s:%d", c.Handler.Path, c.Handler.StartLine)
}

// addUpgrades adds a row for each vulnerable package, and returns how many there are.
func (r *Report) addUpgrades() int {
	n := 0
	for _, analysis := range finding.Analyses {
		rule := string(analysis) + "/packages"
		for i, u := range upgrade.Rows(r.vulnerable[analysis], upgrade.Policy{Level: upgrade.Auto}) {
			r.rules[rule] = "Vulnerable packages"
			// The place is in the text; the number keeps the order, the most urgent first.
			r.rows = append(r.rows, row{severity: u.Severity, rule: rule, line: i, text: u.String()})
			n++
		}
	}
	return n
}

// Close writes the table.
func (r *Report) Close() error {
	packages := r.addUpgrades()
	// The order is total, so that two scans of the same code give the same text and can be
	// compared.
	slices.SortStableFunc(r.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.severity.Rank(), a.severity.Rank()), cmp.Compare(a.rule, b.rule),
			cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	// The first real finding differs from the zero row in its severity, which writes the first
	// heading.
	var before row
	counts := map[finding.Severity]int{}
	for _, f := range r.rows {
		counts[f.severity]++
	}
	for _, f := range r.rows {
		if f.severity != before.severity {
			fmt.Fprintf(&r.page, "\n%s (%d)\n", strings.ToUpper(string(f.severity)), counts[f.severity])
		}
		if f.severity != before.severity || f.rule != before.rule {
			fmt.Fprintf(&r.page, "  %s  [%s]\n", stripControls(cmp.Or(r.rules[f.rule], f.rule)), stripControls(f.rule))
		}
		if f.path == "" { // of packages
			fmt.Fprintf(&r.page, "    %s\n", stripControls(f.text))
		} else {
			fmt.Fprintf(&r.page, "    %s  %s\n", stripControls(describeLocation(f)), stripControls(f.text))
		}
		before = f
	}
	r.writeIncomplete()
	r.writeSkipped()
	r.writeUnchecked()
	r.writeTotals(packages)
	return r.flushPage()
}

// describeLocation formats the location of a finding as path:line, which terminals and editors
// open.
func describeLocation(f row) string {
	// Line 0 is a file as a whole.
	if f.line == 0 {
		return f.path
	}
	return fmt.Sprintf("%s:%d", f.path, f.line)
}

// shown bounds the reasons that are listed for one analyzer.
// More lines push the totals, which are at the end, out of the terminal; JSON has all reasons.
const shown = 20

// writeIncomplete lists what was not looked at.
func (r *Report) writeIncomplete() {
	// A weaker sandbox is not a coverage gap, but the operator has to know about it.
	for _, warning := range r.Setup.Sandbox {
		fmt.Fprintf(&r.page, "\nWARNING: %s\n", stripControls(warning))
	}
	missing := r.Incomplete()
	if len(missing) == 0 {
		return
	}
	fmt.Fprint(&r.page, "\nINCOMPLETE: the code below was not analyzed and may have more findings.\n")
	for _, st := range missing {
		fmt.Fprintf(&r.page, "  %s %s\n", st.Analyzer, st.State)
		// Skipped reasons are listed by writeSkipped: they are decisions, not failures.
		reasons := slices.DeleteFunc(slices.Clone(st.Reasons), func(reason scan.Reason) bool { return reason.Skipped })
		for _, reason := range reasons[:min(shown, len(reasons))] {
			at := ""
			if reason.Path != "" {
				at = stripControls(describeLocation(row{path: reason.Path, line: reason.Line})) + ": "
			}
			fmt.Fprintf(&r.page, "    %s%s (%s)\n", at, stripControls(reason.Message), reason.Code)
		}
		// Omitted are reasons beyond the limit of the report, which are counted and not kept.
		if more := max(len(reasons)-shown, 0) + st.Omitted; more > 0 {
			fmt.Fprintf(&r.page, "    and %d more\n", more)
		}
	}
}

// writeSkipped lists what was passed over by design.
// Examples are vendored packages, minified bundles and generated code.
func (r *Report) writeSkipped() {
	reasons := r.Skipped()
	if len(reasons) == 0 {
		return
	}
	fmt.Fprint(&r.page, "\nSkipped by design, not code of this project:\n")
	for _, reason := range reasons[:min(shown, len(reasons))] {
		fmt.Fprintf(&r.page, "  %s (%s)\n", stripControls(reason.Path), reason.Code)
	}
	if more := len(reasons) - shown; more > 0 {
		fmt.Fprintf(&r.page, "  and %d more\n", more)
	}
}

// writeUnchecked lists what was read and could not be checked.
func (r *Report) writeUnchecked() {
	reasons := r.Unchecked()
	if len(reasons) == 0 {
		return
	}
	fmt.Fprint(&r.page, "\nNot checked, because neither the tree nor the vulnerability data has it:\n")
	for _, reason := range reasons[:min(shown, len(reasons))] {
		at := ""
		if reason.Path != "" {
			at = stripControls(describeLocation(row{path: reason.Path, line: reason.Line})) + ": "
		}
		fmt.Fprintf(&r.page, "  %s%s (%s)\n", at, stripControls(reason.Message), reason.Code)
	}
	if more := len(reasons) - shown; more > 0 {
		fmt.Fprintf(&r.page, "  and %d more\n", more)
	}
}

// writeTotals writes the counts. packages is the number of rows of vulnerable packages.
func (r *Report) writeTotals(packages int) {
	// All severities are listed, also those with no findings, so that the line has the same shape
	// each time.
	parts := make([]string, 0, len(finding.Severities))
	for _, s := range finding.Severities {
		parts = append(parts, fmt.Sprintf("%d %s", r.Findings[s], s))
	}
	fmt.Fprintf(&r.page, "\n%s: %s.", countNoun(r.Total(), "finding"), strings.Join(parts, ", "))
	advisories := 0
	for _, list := range r.vulnerable {
		advisories += len(list)
	}
	if advisories > packages {
		fmt.Fprintf(&r.page, " %s of packages are in %s, one for each upgrade.", countNoun(advisories, "finding"),
			countNoun(packages, "row"))
	}
	outside := 0
	for _, st := range r.Statuses {
		outside += st.OutsideProfile
		if st.Ignored > 0 {
			fmt.Fprintf(&r.page, " %s suppressed %s.", scan.IgnoreFile, countNoun(st.Ignored, "finding"))
		}
		// Analyzers that had nothing to look at are not listed.
		// For a running application files are not counted either.
		if st.State != scan.Failed && st.Files > 0 && r.Setup.Target == "" {
			fmt.Fprintf(&r.page, " %s: %s.", st.Analyzer, countNoun(st.Files, "file"))
		}
	}
	if r.Setup.Target != "" {
		fmt.Fprintf(&r.page, " %s reached, %d refused, %d not "+
			"reached.", countNoun(r.Operations[finding.Reached], "operation"), r.Operations[finding.Refused],
			r.Operations[finding.NotReached])
	}
	r.writeCreated()
	r.writeAuthorization()
	if n := r.Operations[finding.Declared]; n > 0 {
		fmt.Fprintf(&r.page, " %s in the code.", countNoun(n, "route"))
	}
	if r.Packages > 0 {
		fmt.Fprintf(&r.page, " %s.", countNoun(r.Packages, "package"))
	}
	if outside > 0 {
		fmt.Fprintf(&r.page, "\nNot shown: %s of checklists, form and low weight, which the default profile leaves "+
			"out (--profile all).", countNoun(outside, "finding"))
	}
	r.writeAdvisoryAge()
	r.writeNothingAnalyzed()
	fmt.Fprintln(&r.page)
}

// writeAdvisoryAge writes how old the vulnerability data is: with stale data, no finding does not
// mean no vulnerability.
func (r *Report) writeAdvisoryAge() {
	a := r.Setup.Advisories
	if a == nil {
		return
	}
	// Ages are relative to the start of the scan and not to now, so that a stored report does not
	// change.
	ages := a.Freshness(r.Setup.Started)
	fmt.Fprintf(&r.page, "\nVulnerability data: %s %s", countNoun(a.Records, "record"),
		upTo(a.Newest, ages.Records))
	for _, f := range []struct {
		name string
		data *scan.FeedData
		age  *int
	}{{"EPSS", a.EPSS, ages.EPSS}, {"KEV", a.KEV, ages.KEV}} {
		// A missing feed is stated: without it no finding is marked as likely or known to be
		// exploited.
		if f.data == nil {
			fmt.Fprintf(&r.page, "; no %s", f.name)
		} else {
			fmt.Fprintf(&r.page, "; %s %s", f.name, upTo(f.data.Date, f.age))
		}
	}
	fmt.Fprint(&r.page, ".")
}

// writeNothingAnalyzed writes that no file was analyzed, so that an empty report is not taken for
// a clean one.
func (r *Report) writeNothingAnalyzed() {
	// An image without files and a target without code are normal.
	if r.Setup.Image != nil || r.Setup.Target != "" {
		return
	}
	switch {
	case r.Setup.Files == 0:
		fmt.Fprint(&r.page, " There were no files to analyze.")
	// For example a folder with documents only.
	case !slices.ContainsFunc(r.Statuses, func(st scan.Status) bool { return st.Files > 0 || st.State == scan.Failed }):
		fmt.Fprint(&r.page, " No analyzer supports files of these types.")
	}
}

// writeCreated lists the objects that the scan has created in the application.
// The marks let the owner of the application search for what is left.
func (r *Report) writeCreated() {
	for _, o := range r.Created {
		left := 0
		var last finding.CreatedObject
		for _, c := range o.Created {
			if !c.Removed {
				left++
				last = c
			}
		}
		fmt.Fprintf(&r.page, "\nCreated by %s %s: %s with the mark %s, %d removed at the end.", o.Method, o.URL,
			countNoun(len(o.Created), "object"), o.Created[0].Mark, len(o.Created)-left)
		if left > 0 {
			fmt.Fprintf(&r.page, " %d left: %s.", left, last.Reason)
			if last.Where != "" {
				fmt.Fprintf(&r.page, " Seen at %s", last.Where)
			}
		}
	}
}

// maxUntested bounds the reasons that are listed for operations that were not tested.
const maxUntested = 10

// writeAuthorization says for how many operations of an API it was tested that other users are kept
// out, and why not for the others.
// The key "" of Authorization is the number of tested operations; all other keys are reasons.
func (r *Report) writeAuthorization() {
	if len(r.Authorization) == 0 {
		return
	}
	var reasons []string
	untested := 0
	for why, n := range r.Authorization {
		if why != "" {
			reasons = append(reasons, why)
			untested += n
		}
	}
	fmt.Fprintf(&r.page, "\nAccess of other users: %s tested, %d "+
		"not tested", countNoun(r.Authorization[""], "operation"),
		untested)
	// The most frequent reason first, then by text, since the order of a map is random.
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(r.Authorization[b]-r.Authorization[a], strings.Compare(a, b))
	})
	for i, why := range reasons {
		if i == maxUntested {
			fmt.Fprintf(&r.page, "\n  %d other reasons are in the operations of the JSON report", len(reasons)-i)
			break
		}
		fmt.Fprintf(&r.page, "\n  %d because %s", r.Authorization[why], why)
	}
}

// upTo says how old data is.
// age is in days; nil when the date of the data or of the scan is unknown.
func upTo(newest time.Time, age *int) string {
	switch {
	case newest.IsZero():
		return "of unknown age"
	case age == nil:
		return "up to " + newest.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("up to %s (%s old)", newest.UTC().Format(time.DateOnly), countNoun(*age, "day"))
}

// countNoun formats a number with its noun in singular or plural.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// stripControls removes what a terminal would act on: a file's name is somebody else's.
// Escape sequences in a file name could clear the screen, forge lines of the report, or set the
// title of the terminal. The format characters of Unicode (class Cf) include the bidirectional
// overrides with which text can be shown in another order than it has ("Trojan Source",
// CVE-2021-42574).
func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
