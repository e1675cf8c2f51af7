// Package redos finds regular expressions that take exponential time: each
// character more of a text that almost matches doubles what an engine tries that goes
// back. It begins with texts that cost the fastest engines milliseconds, adds one
// character at a time until the time can be told from the usual, and stops there: the
// longest answer that it causes takes seconds. The proof is the growth by two characters
// more, against texts of the same characters that fail at once.
package redos

import (
	"fmt"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var rule = texts.Get("exponential")

// Rule is the check. It takes the target's time.
var Rule = &activescan.Rule{ID: "slowexpression", FindingRules: []*finding.Rule{rule}, Profile: scan.Standard,
	Slow:         true,
	AcceptsPoint: acceptsPoint, ProbePoint: probePoint}

// A pump repeats what a repetition matches.
type pump struct {
	head, unit, tail string
}

// repeatUnit repeats the unit n times.
func (p pump) repeatUnit(n int) string { return p.head + strings.Repeat(p.unit, n) + p.tail }

// harmlessText has the same characters, but fails at once: what cannot match comes first.
func (p pump) harmlessText(n int) string { return p.tail + p.head + strings.Repeat(p.unit, n) }

var (
	// words and numbers are for any text: nearly every class that is repeated holds one of
	// them, and few expressions end with "!".
	words = []pump{{"", "a", "!"}, {"", "0", "!"}}
	// mails and addresses have parts of their own that are repeated.
	mails     = []pump{{"", "a", "!"}, {"a@", "a", "!"}, {"a@a", ".a", "!"}}
	addresses = []pump{{"", "a", "!"}, {"http://", "a", "!"}, {"http://a", ".a", "!"}, {"http://a/", "a", "\n"}}
)

// mail and address are names of parameters.
var (
	mail    = lazyregexp.New(`(?i)mail`)
	address = lazyregexp.New(`(?i)ur[il]|link|href|website|homepage|domain|host|callback|webhook`)
)

// acceptsPoint takes texts that clients send; numbers and flags are not matched.
func acceptsPoint(at message.Point) bool {
	switch at.In {
	case message.InQuery, message.InForm, message.InMultipart, message.InPath:
	case message.InJSON:
		return at.Type == "" || at.Type == "string" || at.Type == "email" || at.Type == "url" || at.Type == "uri" ||
			at.Type == "password"
	default:
		return false
	}
	return at.Type != "integer" && at.Type != "number" && at.Type != "boolean" && at.Type != "file"
}

// pumpsFor are those that fit the point.
func pumpsFor(at message.Point) []pump {
	switch {
	case at.Type == "email" || mail.MatchString(at.Name):
		return mails
	case at.Type == "url" || at.Type == "uri" || address.MatchString(at.Name):
		return addresses
	}
	return words
}

const (
	fewest = 18                     // repetitions: a slow engine does 2^18 steps in 50 ms
	first  = 22                     // a fast engine does 2^22 steps in 40 ms, a slow one in less than a second
	most   = 30                     // a fast engine does 2^30 in seconds
	stride = 4                      // while nothing is to be seen
	some   = 15 * time.Millisecond  // more than usual at first: it may be chance
	seen   = 30 * time.Millisecond  // more than usual, so that every character counts
	clear  = 350 * time.Millisecond // more than usual: enough to measure
)

// probePoint sends values on which backtracking takes exponential time, and measures
// how the time grows with their length. A slow point tells nothing.
func probePoint(p *activescan.Probe) error {
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	usual := min(base.First.Took, base.Second.Took)
	if usual > time.Second {
		return nil // nothing can be told apart
	}
	for _, try := range pumpsFor(p.Point) {
		n, err := growText(p, try, usual)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		return proveGrowth(p, try, n)
	}
	return nil
}

// growText lengthens the text until the answer takes clearly longer; 0: it never does.
func growText(p *activescan.Probe, try pump, usual time.Duration) (int, error) {
	resp, err := p.SendExclusively(p.Request.With(p.Point, try.repeatUnit(first)))
	if err != nil || resp.Took < usual+some {
		return 0, err
	}
	for n := fewest; n <= most; {
		resp, err := p.SendExclusively(p.Request.With(p.Point, try.repeatUnit(n)))
		if err != nil {
			return 0, err
		}
		switch over := resp.Took - usual; {
		case over >= clear:
			return n, nil
		case over >= seen:
			n++
		default:
			n += stride
		}
	}
	return 0, nil
}

// rounds is how often is measured; a target that is busy with something else spoils some.
const rounds = 4

// proveGrowth measures twice that two characters more take much longer, in turns with texts
// that fail at once.
func proveGrowth(p *activescan.Probe, try pump, n int) error {
	var last *activescan.DelayResult
	proven := 0
	for i := 0; i < rounds && proven < 2; i++ {
		d, err := p.MeasureDelay(activescan.Computation, func(d time.Duration) string {
			switch d {
			case 0:
				return try.harmlessText(n + 2)
			case 2 * time.Second:
				return try.repeatUnit(n)
			}
			return try.repeatUnit(n + 2)
		})
		if err != nil {
			return err
		}
		if d != nil {
			last = d
			proven++
		}
	}
	if proven < 2 {
		return nil
	}
	last.ResponseNotes = []string{fmt.Sprintf("%d repetitions", n), "the same characters in another order",
		fmt.Sprintf("%d repetitions", n+2), "the same characters in another order"}
	p.RaiseAlert(activescan.Alert{Rule: rule, Request: p.Request.With(p.Point, try.repeatUnit(n)),
		Payload:   try.repeatUnit(n),
		Responses: last.Responses, ResponseNotes: last.ResponseNotes,
		Proof: append([]string{fmt.Sprintf("The text was lengthened one by one up to %d times %q, where the response "+
			"became slow.", n, try.unit),
			fmt.Sprintf("Below, 2 units are %d repetitions, 4 units are %d, and 0 units the same characters with %q "+
				"in front; measured twice.", n, n+2, try.tail)}, last.Proof...)})
	return nil
}
