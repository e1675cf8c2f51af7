// Package sqlinjection finds parameters that become part of a SQL statement. Quick
// checks first: a value that breaks the statement and one that does not, though they
// differ in a keyword only; then pairs that are true and false, and arithmetic; last,
// one by one, statements that take time.
//
// Every proof rests on something that only SQL does: an upper-case AND, CAST, LENGTH,
// functions of a database. Quotes alone prove nothing: shells and scripts have them too.
package sqlinjection

import (
	"fmt"
	"strconv"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

const (
	description = "The application puts a value of the request into a SQL statement as part of its text. Whoever sends the request decides what the statement says: " +
		"he reads and changes data that he must not see, passes the sign-in, and with some databases runs programs on the server."
	prevent = "Pass values as parameters of prepared statements, or use an object-relational mapper that does. What cannot be a parameter, such as the name of a column or the direction of a sort, " +
		"has to be chosen from a fixed list. Give the application's database user no more rights than it needs."
)

func newRule(id, name, short string) *finding.Rule {
	return &finding.Rule{ID: "dast/sqlinjection/" + id, Analysis: finding.DAST, Name: name, ShortDescription: short, Description: description, HowToPrevent: prevent,
		CWE: []string{"CWE-89"}, OWASP: []string{"A03:2021"}, Severity: finding.Critical, Confidence: finding.Certain}
}

var (
	byError   = newRule("error", "SQL injection (errors)", "A parameter is part of a SQL statement: it can break and repair the statement.")
	byBoolean = newRule("boolean", "SQL injection (conditions)", "A parameter is part of a SQL statement: conditions in it are evaluated.")
	byTime    = newRule("time", "SQL injection (time)", "A parameter is part of a SQL statement: it decides how long the statement takes.")
)

// Check is the check by errors and conditions.
var Check = &attack.Check{ID: "sqlinjection", Rules: []*finding.Rule{byError, byBoolean}, Profile: scan.Safe, Wants: wants, Point: point}

// Mark is what is said of points that SQL is found at.
const Mark = "sql"

// wants chooses values wherever they are, and names of parameters.
func wants(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName:
		return false
	case message.InJSON:
		return p.Type != "boolean" && p.Type != "null"
	}
	return true
}

// A prober holds what is known of the point.
type prober struct {
	*attack.Probe
	base   *attack.Baseline
	broken *message.Response // answer to a value that breaks any statement
	value  string
	// control is the page of a value that names nothing; nil: not asked.
	control *attack.Page
	dbms    string // whose error broken shows; empty: unknown
}

func point(p *attack.Probe) error {
	base, err := p.Baseline()
	if err != nil || p.Found(Mark) {
		return err
	}
	s := &prober{Probe: p, base: base, value: p.Value()}
	if s.broken, err = p.Ask(p.Breaking()); err != nil {
		return err
	}
	s.dbms = signature(s.broken.Text(), base.First.Text())
	changed := !p.Page(s.broken, p.Breaking()).Equal(base.Page())
	differs := changed
	if s.dbms != "" {
		p.Note("dbms:" + s.dbms)
	}
	if changed {
		if changed, err = s.breaks(); err != nil {
			return err
		}
	}
	if changed {
		if found, err := s.repair(); found || err != nil {
			return err
		}
	}
	if !base.Stable || p.At.Names() {
		return nil
	}
	if differs {
		if found, err := s.narrow(); found || err != nil {
			return err
		}
	}
	return s.widen(changed)
}

// breaks reports whether the answer to the breaking value is more than that to any
// value that names nothing.
func (s *prober) breaks() (bool, error) {
	if s.dbms != "" || s.broken.Status >= 500 && s.base.First.Status < 500 && !s.At.Names() {
		return true, nil
	}
	control := s.Other()
	resp, err := s.Ask(control)
	if err != nil {
		return false, err
	}
	s.control = s.Page(resp, control)
	return !s.control.Equal(s.Page(s.broken, s.Breaking())), nil
}

// isBroken reports whether the statement failed.
func (s *prober) isBroken(resp *message.Response, payload string) bool {
	switch {
	case signature(resp.Text(), s.base.First.Text()) != "":
		return true
	case s.dbms != "":
		return false
	case s.broken.Status >= 500 && s.base.First.Status < 500:
		return resp.Status >= 500
	}
	return s.Page(resp, payload).Equal(s.Page(s.broken, s.Breaking()))
}

// A form is a value that a statement takes, and one that breaks it, though it differs
// only in a word of SQL.
type form struct{ good, bad string }

// forms are the repairs for the places of a statement. The argument makes payloads
// different from each other.
func (s *prober) forms() []func(n int, r string) form {
	v := s.value
	quoted := func(q string) func(int, string) form {
		return func(_ int, r string) form {
			return form{v + q + " AND " + q + r + q + "=" + q + r, v + q + " ANX " + q + r + q + "=" + q + r}
		}
	}
	number := func(n int, _ string) form {
		return form{fmt.Sprintf("%s AND %d=%d", v, n, n), fmt.Sprintf("%s ANX %d=%d", v, n, n)}
	}
	cast := func(before, after, kind string) func(int, string) form {
		return func(n int, _ string) form {
			return form{fmt.Sprintf("%s%sCAST(%d AS %s)%s", v, before, n, kind, after), fmt.Sprintf("%s%sCAST(%d AZ %s)%s", v, before, n, kind, after)}
		}
	}
	list := func(n int, _ string) form {
		return form{fmt.Sprintf("%s,(CASE WHEN %d=%d THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%s,(CASE WHEM %d=%d THEN 1 ELSE 2 END)", v, n, n)}
	}
	table := func(n int, _ string) form {
		return form{fmt.Sprintf("%s WHERE %d=%d -- ", v, n, n), fmt.Sprintf("%s WHERX %d=%d -- ", v, n, n)}
	}
	beside := func(_ int, r string) form { return form{v + "' '" + r, v + "' AZ '" + r} } // MySQL joins strings that stand beside each other
	text := []func(int, string) form{quoted("'"), cast("'||", "||'", "CHAR(4)")}
	if s.dbms == "mysql" || s.dbms == "orm" || s.dbms == "" {
		text = append(text, beside)
	}
	other := []func(int, string) form{quoted(`"`), list, table, cast("'+", "+'", "CHAR(4)")}
	if s.dbms != "" { // other languages have comments too
		other = append(other, func(_ int, r string) form { return form{v + "/* " + r + " */", v + "/* " + r + " *"} })
	}
	if _, err := strconv.ParseFloat(v, 64); err == nil {
		return append(append([]func(int, string) form{number}, append(text, cast("-", "", "DECIMAL"))...), other...)
	}
	return append(append(text, number), other...)
}

// repair looks for a form whose good value the statement takes and whose bad one breaks
// it, twice with other constants. Where the good one leaves the page as it is, any
// other page is a broken statement: a filter may have answered the first probe.
func (s *prober) repair() (found bool, err error) {
	for _, make := range s.forms() {
		var answers []*message.Response
		var notes []string
		var f form
		var good *attack.Page
		ok := true
		for range 2 {
			f = make(s.Number(1000, 9999), s.Random(4))
			for i, payload := range []string{f.good, f.bad} {
				resp, err := s.Try(payload)
				if err != nil {
					return false, err
				}
				answers, notes = append(answers, resp), append(notes, []string{"a correct statement", "the same with a word that SQL does not know"}[i])
				if i == 0 {
					good = s.Page(resp, payload)
					ok = !s.isBroken(resp, payload)
				} else {
					ok = s.isBroken(resp, payload) || good.Equal(s.base.Page()) && s.base.Stable && !s.Page(resp, payload).Equal(good)
				}
				if !ok {
					break
				}
			}
			if !ok {
				break
			}
		}
		if !ok {
			continue
		}
		what := "an error of the application"
		if s.dbms != "" {
			what = "an error of " + names[s.dbms]
		}
		s.Mark(Mark)
		s.Flaw(attack.Flaw{Rule: byError, Request: s.Request.With(s.At, f.bad), Payload: f.bad, Answers: append([]*message.Response{s.broken}, answers...),
			Notes: append([]string{"quotes and a parenthesis"}, notes...),
			Proof: []string{"The value " + s.Breaking() + " is answered with " + what + ".", "The value " + f.good + ", which completes the statement, is not.",
				"The value " + f.bad + ", which differs in one word of SQL, is again.", "Repeated with other constants."}})
		return true, nil
	}
	return false, nil
}

// narrow asks conditions that are added to the value with AND: true ones leave the page
// as it is. They tell something only where another value leads to another page.
func (s *prober) narrow() (found bool, err error) {
	if s.control == nil {
		control := s.Other()
		resp, err := s.Ask(control)
		if err != nil {
			return false, err
		}
		s.control = s.Page(resp, control)
	}
	if s.control.Equal(s.base.Page()) {
		return false, nil
	}
	v := s.value
	for _, q := range s.questions() {
		c, err := s.Contrast(q, s.base.Page(), nil)
		if err != nil {
			return false, err
		}
		if c != nil {
			s.report(c, "The page is that of the value "+v+" while the condition is true, and another one while it is false.")
			return true, nil
		}
	}
	return false, nil
}

// questions are conditions added with AND, and arithmetic for numbers.
func (s *prober) questions() []attack.Question {
	v := s.value
	quoted := func(q string) attack.Question {
		return func() (yes, no string) {
			a, b := s.Random(4), s.Random(4)
			return v + q + " AND " + q + a + q + "=" + q + a, v + q + " AND " + q + a + q + "=" + q + b
		}
	}
	like := func() (yes, no string) {
		a, b := s.Random(4), s.Random(4)
		return v + "%' AND '" + a + "' LIKE '" + a, v + "%' AND '" + a + "' LIKE '" + b
	}
	number := func() (yes, no string) {
		n := s.Number(1000, 4999)
		return fmt.Sprintf("%s AND %d=%d", v, n, n), fmt.Sprintf("%s AND %d=%d", v, n, n+s.Number(1, 4000))
	}
	list := func() (yes, no string) {
		n := s.Number(1000, 9999)
		return fmt.Sprintf("%s,(CASE WHEN %d=%d THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%s,(CASE WHEM %d=%d THEN 1 ELSE 2 END)", v, n, n)
	}
	all := []attack.Question{quoted("'"), like, quoted(`"`), list}
	n, err := strconv.Atoi(v)
	if err != nil || n > 1e12 {
		return append(all, number)
	}
	return append([]attack.Question{number, func() (yes, no string) {
		k := s.Number(3, 6)
		return fmt.Sprintf("%d-LENGTH('%s')", n+k, s.Random(k)), fmt.Sprintf("%d-LENGTH('%s')", n+k, s.Random(k+1))
	}}, all...)
}

// writes are words in addresses and names of what changes data: a condition that is true
// for every row is not sent there.
var writes = lazyregexp.New(`(?i)delete|remove|update|edit|save|destroy|reset|change|insert|clear|purge|cancel|transfer|pay`)

// widen asks conditions that are added with OR, for statements that find nothing for the
// value. One value that fits several places tells first whether there is a difference.
func (s *prober) widen(changed bool) (found error) {
	if writes.MatchString(s.Request.Path) || s.Request.Method != "GET" && (s.Request.Method != "POST" || !s.Target.Profile.Allows(scan.Standard)) {
		return nil
	}
	for _, closing := range []string{"", ")"} {
		n := s.Number(1000, 9999)
		or := fmt.Sprintf("%s OR %d=%d -- ", closing, n, n)
		payload := s.value + or + "'" + or + `"` + or
		resp, err := s.Try(payload)
		if err != nil {
			return err
		}
		all := s.Page(resp, payload)
		if !all.Equal(s.base.Page()) && !s.isBroken(resp, payload) {
			if found, err := s.either(closing, all); found || err != nil {
				return err
			}
		}
		if !changed {
			break
		}
	}
	return nil
}

// either looks for the place of the statement that the value with OR fits.
func (s *prober) either(closing string, all *attack.Page) (found bool, err error) {
	for _, quote := range []string{"'", "", `"`} {
		for _, more := range []string{"", ")", "))"} {
			if more != "" && closing == "" {
				break
			}
			c, err := s.Contrast(func() (yes, no string) {
				n := s.Number(1000, 4999)
				form := s.value + quote + closing + more + " OR %d=%d -- "
				return fmt.Sprintf(form, n, n), fmt.Sprintf(form, n, n+s.Number(1, 4000))
			}, all, nil)
			if err != nil {
				return false, err
			}
			if c != nil {
				s.report(c, "The page is one while the condition is true, and another one while it is false.")
				return true, nil
			}
		}
	}
	return false, nil
}

func (s *prober) report(c *attack.Contrast, proof string) {
	s.Mark(Mark)
	s.Flaw(attack.Flaw{Rule: byBoolean, Request: s.Request.With(s.At, c.Yes), Payload: c.Yes, Answers: c.Answers, Notes: c.Notes,
		Proof: []string{"The value " + c.Yes + " holds a condition that is true for SQL, " + c.No + " one that is false.", proof, fmt.Sprintf("So it was in %d rounds with other constants.", attack.Rounds)}})
}
