// Package vulnerablejs finds JavaScript libraries that pages load in versions with known
// vulnerabilities (CWE-1395). It sends nothing: a library names itself and its version in a comment
// (recognition.go), and addresses of delivery networks contain both. The advisories for npm of the
// scan say which versions are affected.
package vulnerablejs

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var known = texts.Get("vulnerable")

// Rule is the check.
var Rule = &activescan.Rule{ID: "libraries", FindingRules: []*finding.Rule{known}, InspectResponse: inspectPage}

// A copy is a library as a page loads it.
type copy struct {
	// name is that of the npm package, version as it was read.
	name, version string
	// said says where the version was read, for the report.
	said string
}

// inspectPage reads the scripts of a page, or a script that the scan has requested.
func inspectPage(t *activescan.OperationScan, resp *message.Response) {
	if resp.Status != 200 {
		return
	}
	var seen []copy
	switch {
	case resp.IsHTML():
		for n := range resp.Document().Descendants() {
			if n.Type == html.ElementNode && n.Data == "script" {
				seen = append(seen, inspectScript(n, resp.Request)...)
			}
		}
	case strings.Contains(resp.MediaType(), "javascript") || strings.Contains(resp.MediaType(), "ecmascript"):
		seen = readBanners(resp.Text(), "The script contains")
	}
	for _, c := range seen {
		reportLibrary(t, resp, c)
	}
}

// inspectScript reads a script of a page: its address where that is of another host, whose
// text is not asked for, or its text.
func inspectScript(n *html.Node, page *message.Request) []copy {
	for _, a := range n.Attr {
		if a.Key != "src" {
			continue
		}
		u, err := page.URL().Parse(strings.TrimSpace(a.Val))
		// A script of the target itself is requested by the crawler, and read then.
		if err != nil || u.Host == page.Host {
			return nil
		}
		if name, version := readCDNAddress(u); version != "" {
			return []copy{{name, version, "The page loads " + u.String()}}
		}
		return nil
	}
	if n.FirstChild == nil {
		return nil
	}
	return readBanners(n.FirstChild.Data, "A script in the page contains")
}

// maxAdvisories bounds the advisories that one finding names; old libraries have dozens.
const maxAdvisories = 20

// reportLibrary looks a copy up, once for each place.
func reportLibrary(t *activescan.OperationScan, resp *message.Response, c copy) {
	key := "library " + c.name + " " + c.version + " " + resp.Request.Base() + resp.Request.Path
	if t.HasFact(key) {
		return
	}
	t.RecordFact(key)
	// Without data no version is known to be safe: a gap, once for the scan.
	if t.Advisories == nil || !t.Advisories.Knows("npm") {
		if !t.HasFact("libraries") {
			t.RecordFact("libraries")
			t.ReportGap(scan.Reason{Code: "no-data", Rules: []string{known.ID}, Message: "there is no vulnerability " +
				"data for npm, so versions of libraries that pages load were not checked: merlon advisories import, " +
				"or --advisories"})
		}
		return
	}
	matches, err := t.Advisories.Match(t.Context, "npm", c.name, c.version)
	if err != nil {
		t.ReportGap(scan.Reason{Code: "undecided", Rules: []string{known.ID}, Message: fmt.Sprintf("it could not be "+
			"decided whether %s %.50s is affected: %.300s", c.name, c.version, err.Error())})
		return
	}
	if len(matches) == 0 {
		return
	}
	// The worst first: it gives the finding its severity.
	slices.SortStableFunc(matches, func(a, b scan.AdvisoryMatch) int {
		return b.Advisory.Severity.Rank() - a.Advisory.Severity.Rank()
	})
	f := activescan.Alert{Rule: known, Severity: matches[0].Advisory.Severity, Request: resp.Request, Key: c.name,
		Responses: []*message.Response{resp}, ResponseNotes: []string{"where it was seen"},
		Proof: []string{fmt.Sprintf("%s: %s %s.", c.said, c.name, c.version)}}
	var ids []string
	for _, m := range matches[:min(len(matches), maxAdvisories)] {
		ids = append(ids, m.Advisory.ID)
		f.Proof = append(f.Proof, m.Advisory.Message(c.name+" "+c.version, m.Upgrade)+": "+m.Advisory.Summary)
	}
	if more := len(matches) - len(ids); more > 0 {
		f.Proof = append(f.Proof, fmt.Sprintf("%d more are known.", more))
	}
	f.Message = fmt.Sprintf("%s %s has known flaws: %s", c.name, c.version, strings.Join(ids, ", "))
	if all := matches[0].UpgradeAll; all != "" {
		f.Message += "; " + all + " clears all that are known"
	}
	t.RaiseAlert(f)
}
