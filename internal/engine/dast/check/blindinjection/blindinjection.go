// Package blindinjection finds values that are evaluated as a program or a template, and of
// which no answer shows anything: not what was computed, and not that it failed. What is
// sent asks for an address of a listener of ours, and does nothing else.
//
// Points that show a harmless word are left to the checks that read answers. The others of
// an operation are tried together, a request for each language that the target may be
// written in.
package blindinjection

import (
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var program = texts.Get("program")

var template = texts.Get("template")

// Rule looks which points show nothing, while others ask the same, and Slow tries them.
var (
	Rule = &activescan.Rule{ID: "evaluation", Profile: scan.Standard, AcceptsPoint: acceptsPoint,
		ProbePoint:      recordSilentPoint,
		InspectResponse: recordLanguages}
	Slow = &activescan.Rule{ID: "evaluation", FindingRules: []*finding.Rule{program, template},
		OASTRules: []*finding.Rule{program, template}, Profile: scan.Standard, Slow: true, ScanOperation: scanOperation}
)

// acceptsPoint reports whether a program can stand at a point and be run later, where
// no answer shows it.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InJSON, message.InXML:
		return p.Type != "boolean" && p.Type != "null" && p.Type != "file"
	}
	return false
}

// recordSilentPoint notes whether the point shows a harmless word.
func recordSilentPoint(p *activescan.Probe) error {
	if p.OAST == nil {
		return nil
	}
	_, err := hidesValue(p)
	return err
}

// hidesValue reports whether the answer does not show the value, and remembers it.
func hidesValue(p *activescan.Probe) (bool, error) {
	key := "evaluation " + p.Request.Method + " " + p.Request.Address() + " " + p.Point.Key()
	if p.HasFact(key) {
		return p.HasFact(key + " silent"), nil
	}
	canary, err := p.ProbeCanary()
	if err != nil {
		return false, err
	}
	p.RecordFact(key)
	if strings.Contains(canary.Response.Head()+canary.Response.Text(), canary.Word) {
		return false, nil
	}
	p.RecordFact(key + " silent")
	return true, nil
}

// scanOperation tries the silent points of an operation.
func scanOperation(t *activescan.OperationScan) error {
	if t.OAST == nil {
		return nil
	}
	// What is wrong in a number may keep everything else from being looked at.
	var words, numbers []*activescan.Probe
	for _, at := range t.Request.Points() {
		if !acceptsPoint(at) {
			continue
		}
		p := &activescan.Probe{OperationScan: *t, Point: at}
		quiet, err := hidesValue(p)
		if err != nil {
			return err
		}
		switch {
		case !quiet || isReported(p):
		case at.Type == "number" || at.Value != "" && strings.Trim(at.Value, "0123456789.") == "":
			numbers = append(numbers, p)
		default:
			words = append(words, p)
		}
	}
	spoken := targetLanguages(t)
	for _, group := range [][]*activescan.Probe{words, numbers} {
		for _, pay := range payloads {
			if !pay.suitsLanguages(spoken) {
				continue
			}
			if err := sendPayloads(t, group, pay); err != nil {
				return err
			}
		}
	}
	return nil
}

// isReported reports whether the point is told already.
func isReported(p *activescan.Probe) bool {
	return p.AlreadyFound("code") || p.AlreadyFound("template") || p.AlreadyFound("sql") || p.AlreadyFound("command")
}

// sendPayloads sends one request with a payload at each point that is not told yet.
func sendPayloads(t *activescan.OperationScan, group []*activescan.Probe, pay payload) error {
	var left []message.Point
	for _, p := range group {
		if !isReported(p) {
			left = append(left, p.Point)
		}
	}
	return t.SendOASTAtPoints(left,
		func(at message.Point, bait func() activescan.OASTPayload) (string, []activescan.ExpectedInteraction) {
			p := &activescan.Probe{OperationScan: *t, Point: at}
			text, parts := pay.write(p.OriginalValue(), bait)
			var hooks []activescan.ExpectedInteraction
			for _, part := range parts {
				hook := activescan.ExpectedInteraction{OASTPayload: part.bait, Rule: program, FoundMark: "code",
					Proof: "The value contains a program that requests a URL of the OAST listener, " + part.place + "."}
				if pay.template {
					hook.Rule, hook.FoundMark = template, "template"
				}
				hooks = append(hooks, hook)
			}
			return text, hooks
		})
}
