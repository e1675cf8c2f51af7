package sqlinjection

import (
	"fmt"
	"strings"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file finds statements that show nothing but how long they take.

// Slow is the check by time.
var Slow = &activescan.Rule{ID: "sqlinjection", FindingRules: []*finding.Rule{byTime}, Profile: scan.Standard,
	Slow:       true,
	Concurrent: true, AcceptsPoint: acceptsPoint, ProbePoint: probeDelay}

// A delay is a value that keeps a database busy for some time.
type delay struct {
	dbms string
	how  activescan.DelayKind
	// make returns the whole value for a number of seconds. One value fits numbers and
	// strings in either quotes: for a number the part between the comment signs is a
	// comment, for a string it is what counts.
	make func(v string, seconds float64) string
}

// inBothContexts puts an expression behind a number and, with an operator, between two strings.
func inBothContexts(v, operator, expression string) string {
	part := operator + expression + operator
	return v + "-" + expression + "/*'" + part + "'\"" + part + "\"*/"
}

// withoutQuotes puts an expression behind a number, for filters that take no quotes; empty
// where the value is no number and no date.
func withoutQuotes(v, expression string) string {
	if v[0] < '0' || v[0] > '9' {
		return ""
	}
	return v + "-" + expression
}

// delays make the database compute the expression once for the statement, not once for
// each row: it is a table of its own that depends on nothing.
var delays = []delay{
	{"mysql", activescan.PreciseSleep, func(v string, n float64) string {
		return inBothContexts(v, "-", fmt.Sprintf("(SELECT 0 FROM (SELECT SLEEP(%g))a)", n))
	}},
	{"mysql", activescan.PreciseSleep, func(v string, n float64) string {
		return withoutQuotes(v, fmt.Sprintf("(SELECT 0 FROM (SELECT SLEEP(%g))a)", n))
	}},
	{"postgres", activescan.PreciseSleep, func(v string, n float64) string {
		return inBothContexts(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM (SELECT pg_sleep(%g))a)", n))
	}},
	{"mssql", activescan.PreciseSleep, func(v string, n float64) string {
		wait := fmt.Sprintf(" WAITFOR DELAY '0:0:%g' -- ", n)
		return v + wait + "';" + wait
	}},
	{"oracle", activescan.WholeSeconds, func(v string, n float64) string {
		return inBothContexts(v, "||", fmt.Sprintf("(SELECT DBMS_PIPE.RECEIVE_MESSAGE(CHR(97)||CHR(98),%g) "+
			"FROM DUAL)", n))
	}},
	{"sqlite", activescan.Computation, func(v string, n float64) string {
		return inBothContexts(v, "||", fmt.Sprintf("(SELECT LENGTH(LIKE('ABCDEFG',UPPER(HEX(RANDOMBLOB(%.0f))))))",
			n*75_000_000))
	}},
	{"hsqldb", activescan.Computation, func(v string, n float64) string {
		return inBothContexts(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM (VALUES(0)) WHERE "+
			"REGEXP_SUBSTRING(REPEAT(LEFT(CRYPT_KEY(CHAR(65)||CHAR(69)||CHAR(83),NULL),0),%.0f),NULL) IS NOT NULL)",
			n*400_000_000))
	}},
	{"h2", activescan.Computation, func(v string, n float64) string {
		return inBothContexts(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM SYSTEM_RANGE(1,%.0f) WHERE "+
			"MOD(X,3)=5)", n*20_000_000))
	}},
}

// probeDelay asks values; names of parameters only under the full profile, because nothing else
// may be asked meanwhile, and few applications put them into statements.
func probeDelay(p *activescan.Probe) error {
	if p.AlreadyFound(Mark) || p.Point.Names() && !p.Target.Profile.Allows(scan.Full) {
		return nil
	}
	for _, d := range knownDelays(p) {
		if p.AlreadyFound(refusal) && strings.Contains(d.make(p.OriginalValue(), 1), "'") {
			continue
		}
		found, err := p.MeasureDelay(d.how, func(lasting time.Duration) string {
			return d.make(p.OriginalValue(), lasting.Seconds())
		})
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		p.MarkFound(Mark)
		p.RecordFact("proven:" + d.dbms)
		p.RaiseAlert(activescan.Alert{Rule: byTime, Payload: found.Payload,
			Request:   p.Request.With(p.Point, found.Payload),
			Responses: found.Responses, ResponseNotes: found.ResponseNotes,
			Proof: append(found.Proof, "The delay is written for "+names[d.dbms]+".")})
		return nil
	}
	return nil
}

// knownDelays are the delays of the databases that statements of the target were found to be
// for; without any, those of the databases that were seen in errors; else all.
func knownDelays(p *activescan.Probe) []delay {
	for _, how := range []string{"proven:", "dbms:"} {
		var out []delay
		for _, d := range delays {
			if p.HasFact(how + d.dbms) {
				out = append(out, d)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return delays
}
