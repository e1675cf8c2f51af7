// Package blindxss finds values whose markup is shown where the scan does not see it: by the
// browser of another user, who looks at what was sent (blind stored scripting), or by a
// program on the server that makes a document or a picture of it. The proof is a call to
// a listener of ours, which answers scripts with a text that no browser runs.
package blindxss

import (
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var script = &finding.Rule{
	ID: "dast/markup/script", Analysis: finding.DAST, Name: "Blind stored cross-site scripting (XSS)",
	ShortDescription: "A script of a parameter is loaded where others, or a program of the server, open it.",
	Description: "The application keeps a value of the request and shows it as a part of a page that the scan does " +
		"not see, such as one of an administrator, or gives it to a program that makes a document of it. " +
		"Whoever sends the request runs script there, in the name of who looks at it.",
	HowToPrevent: "Encode values for the place where they are written, in pages for administrators, mails and " +
		"documents as well, and forbid script by a Content-Security-Policy. Programs that make documents should run " +
		"no script and reach no network.",
	CWE: []string{"CWE-79"}, OWASP: []string{"A03:2021"}, Severity: finding.High, Confidence: finding.Certain,
}

var fetched = &finding.Rule{
	ID: "dast/markup/fetched", Analysis: finding.DAST, Name: "Server-side request forgery (SSRF) through HTML " +
		"rendering",
	ShortDescription: "A parameter's markup is rendered on the server, which asks for what it names.",
	Description: "The application gives a value of the request to a program that renders it, such as one that makes " +
		"a PDF, and the program asks for the pictures and pages that it names. " +
		"Whoever sends the request reaches, through the server, what only the server reaches, and often its files.",
	HowToPrevent: "Encode values before they become a part of what is rendered, and let the program that renders " +
		"reach neither the network nor files.",
	CWE: []string{"CWE-918", "CWE-79"}, OWASP: []string{"A10:2021"}, Severity: finding.High,
	Confidence: finding.Certain,
}

// Rule is the check. It asks nothing where nobody listens.
var Rule = &activescan.Rule{ID: "markup", FindingRules: []*finding.Rule{script, fetched},
	OASTRules: []*finding.Rule{script, fetched}, Profile: scan.Standard, ScanOperation: scanOperation}

// scanOperation sends markup in all texts of an operation at once.
func scanOperation(t *activescan.OperationScan) error {
	if t.OAST == nil {
		return nil
	}
	var points []message.Point
	for _, p := range t.Request.Points() {
		switch p.In {
		case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML:
			if p.Type != "file" && p.Type != "number" && p.Type != "boolean" && p.Type != "null" &&
				(p.Value == "" || strings.Trim(p.Value, "0123456789.,-:") != "") {
				points = append(points, p)
			}
		}
	}
	if len(points) > 0 {
		t.RecordPersistedPayload()
	}
	return t.SendOASTAtPoints(points,
		func(at message.Point, bait func() activescan.OASTPayload) (string, []activescan.ExpectedInteraction) {
			run, shown, link := bait(), bait(), bait()
			// The last address is only text: what asks for every link that it sees asks for it too.
			return at.Value + `'"></textarea><script src=` + run.URL + `></script><img src=` + shown.URL +
					` width=1 height=1> ` + link.URL, []activescan.ExpectedInteraction{
					{OASTPayload: run, Control: &link, Rule: script, RequiresHTTP: true, Proof: "The value holds the " +
						"address of a " +
						"script " +
						"at a listener; whoever showed it asked for it."},
					{OASTPayload: shown, Control: &link, Synchronous: true, Rule: fetched, RequiresHTTP: true,
						Proof: "The value holds a picture at an address of a listener; the server asked for it " +
							"before it " +
							"answered."},
				}
		})
}
