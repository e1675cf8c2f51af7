package ssrf

import (
	"path"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file looks for headers that make the server, or a proxy before it, ask for what
// they name.

// Headers is the check of headers. It asks nothing where nobody listens.
var Headers = &activescan.Rule{ID: "ssrf", FindingRules: []*finding.Rule{rule}, Profile: scan.Standard,
	ScanOperation: probeHeaders,
	ScanSite:      probeRouting}

// addressed are headers that hold addresses or hosts, in requests of their own where one
// of them may keep the others from being read.
var addressed = [][]string{
	{"Referer", "Origin", "X-Wap-Profile", "X-Forwarded-For", "X-Real-Ip", "True-Client-Ip", "Client-Ip", "X-Client-Ip",
		"Cf-Connecting-Ip"},
	{"X-Forwarded-Host", "X-Host", "X-Forwarded-Server"},
	{"X-Original-Url", "X-Rewrite-Url", "X-Proxy-Url", "Destination"},
}

// maxFolders bounds the folders whose headers are tried.
const maxFolders = 20

// probeHeaders puts addresses of the listener into headers that proxies and
// applications follow, once in each folder.
func probeHeaders(t *activescan.OperationScan) error {
	if t.OAST == nil || !t.FirstTime("ssrf headers "+path.Dir(t.Request.Path)) ||
		t.IncrementCount("ssrf headers") > maxFolders {
		return nil
	}
	for _, group := range addressed {
		points := make([]message.Point, len(group))
		for i, name := range group {
			points[i] = message.HeaderPoint(name)
		}
		if _, err := t.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request,
			[]activescan.ExpectedInteraction) {
			r := t.Request.Clone()
			var hooks []activescan.ExpectedInteraction
			for i, name := range group {
				b := bait()
				value := b.URL
				if strings.HasPrefix(name, "X-Forwarded") || strings.HasSuffix(name, "-Ip") || name == "X-Host" {
					_, value, _ = strings.Cut(b.URL, "://")
				}
				r = r.SetHeader(name, value)
				hooks = append(hooks, activescan.ExpectedInteraction{OASTPayload: b, Rule: rule, Point: &points[i],
					Payload: value, RequiresHTTP: true,
					Proof: "The header " + name + " contains a URL of the OAST listener; the server requested it."})
			}
			return r, hooks
		}); err != nil {
			return err
		}
	}
	return nil
}

// probeRouting asks whether what stands before the server sends requests to whichever host they
// name.
func probeRouting(t *activescan.OperationScan) error {
	if t.OAST == nil {
		return nil
	}
	at := message.HeaderPoint("Host")
	_, err := t.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request, []activescan.ExpectedInteraction) {
		b := bait()
		_, place, _ := strings.Cut(b.URL, "://")
		host, rest, _ := strings.Cut(place, "/")
		r := t.Request.Clone()
		r.Path = "/" + rest
		return r.SetHeader("Host", host),
			[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: rule, Point: &at, Payload: host, Location: "/",
				RequiresHTTP: true,
				Proof:        "The header Host names a listener; the request was sent on to it."}}
	})
	return err
}
