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

var script = texts.Get("script")

var fetched = texts.Get("fetched")

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
					{OASTPayload: run, Control: &link, Rule: script, RequiresHTTP: true, Proof: "The value contains " +
						"the URL of a script at the OAST listener; the program that rendered it requested it."},
					{OASTPayload: shown, Control: &link, Synchronous: true, Rule: fetched, RequiresHTTP: true,
						Proof: "The value contains an image at a URL of the OAST listener; the server requested it " +
							"before it responded."},
				}
		})
}
