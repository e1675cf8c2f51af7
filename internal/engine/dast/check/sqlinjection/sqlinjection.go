// Package sqlinjection finds parameters that become part of a SQL statement. Quick
// checks first: a value that breaks the statement and one that does not, though they
// differ in a keyword only; then pairs that are true and false, and arithmetic; last,
// statements that take time.
//
// Every proof rests on something that only SQL does: an upper-case AND, CAST, LENGTH,
// functions of a database. Quotes alone prove nothing: shells and scripts have them too.
package sqlinjection

import (
	"fmt"
	"strconv"
	"strings"

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
	first  *message.Response // answer without an attack
	base   *attack.Baseline  // nil: not asked for yet
	broken *message.Response // answer to a value that breaks any statement
	value  string
	// control is the page of a value that names nothing; nil: not asked.
	control *attack.Page
	dbms    string // whose error broken shows; empty: unknown
}

func point(p *attack.Probe) error {
	if p.Found(Mark) {
		return nil
	}
	first, err := p.First()
	if err != nil {
		return err
	}
	s := &prober{Probe: p, first: first, value: p.Value()}
	if s.broken, err = p.Ask(p.Breaking()); err != nil {
		return err
	}
	if s.dbms = signature(s.broken.Text(), first.Text()); s.dbms != "" {
		p.Note("dbms:" + s.dbms)
	}
	changed, differs, err := s.breaks()
	if err != nil {
		return err
	}
	if changed {
		p.Read()
		if done, err := s.repair(); done || err != nil {
			return err
		}
	}
	if err := s.baseline(); err != nil || !s.base.Stable || p.At.Names() {
		return err
	}
	if differs {
		if found, err := s.narrow(); found || err != nil {
			return err
		}
	}
	return s.widen(changed)
}

// baseline asks for what is needed to compare pages. Errors of databases are known
// without.
func (s *prober) baseline() (err error) {
	if s.base == nil {
		s.base, err = s.Baseline()
	}
	return err
}

// breaks reports whether the answer to the breaking value is another page than the
// usual one, and whether it is also more than that to any value that names nothing.
func (s *prober) breaks() (changed, differs bool, err error) {
	if s.dbms != "" || s.failed(s.broken) && !s.At.Names() {
		return true, true, nil
	}
	if err := s.baseline(); err != nil {
		return false, false, err
	}
	broken := s.Page(s.broken, s.Breaking())
	if broken.Equal(s.base.Page()) {
		return false, false, nil
	}
	if err := s.ask(); err != nil {
		return false, true, err
	}
	if s.control.Equal(broken) {
		if s.At.Names() { // as a parameter that is not there: it is read by its name
			s.Read()
		}
		return false, true, nil
	}
	return true, true, nil
}

// ask asks for the page of a value that names nothing.
func (s *prober) ask() error {
	if s.control != nil {
		return nil
	}
	control := s.Other()
	resp, err := s.Ask(control)
	if err == nil {
		s.control = s.Page(resp, control)
	}
	return err
}

// failed reports whether the application broke at an answer, and not at the first.
func (s *prober) failed(resp *message.Response) bool {
	return resp.Status >= 500 && s.first.Status < 500
}

// refused reports whether the answer is that to the breaking value also for one that
// every statement takes, in whatever place: it is a comment behind a number and a name,
// and in strings of all databases a text. Something in front refuses such values then,
// and there is nothing to see.
func (s *prober) refused() (bool, error) {
	payload := s.value + "/*''*/"
	resp, err := s.Try(payload)
	if err != nil {
		return false, err
	}
	same := func() bool { return s.Page(resp, payload).Equal(s.Page(s.broken, s.Breaking())) }
	refused := same()
	if !refused && s.base == nil && s.isBroken(resp, payload) { // what changes by itself may make the difference
		if err := s.baseline(); err != nil {
			return false, err
		}
		refused = same()
	}
	if refused {
		s.Mark(refusal)
	}
	return refused, nil
}

// filter names what refuses values of the operation.
func (s *prober) filter() string {
	return "refuses " + s.Request.Method + " " + s.Request.Base() + s.Request.Path
}

// refusal is what is said of points whose values are refused for their quotes.
const refusal = "no-sql"

// isBroken reports whether the statement failed.
func (s *prober) isBroken(resp *message.Response, payload string) bool {
	switch {
	case signature(resp.Text(), s.first.Text()) != "":
		return true
	case s.dbms != "":
		return false
	case s.failed(s.broken):
		return s.failed(resp)
	}
	return s.Page(resp, payload).Equal(s.Page(s.broken, s.Breaking()))
}

// A form is a value that a statement takes, and one that breaks it, though it differs
// only in a word of SQL. Wrong is what an error names then: that word, or what follows it.
type form struct{ good, bad, wrong string }

// forms are the repairs for the places of a statement, those that fit most first. The
// arguments make payloads different from each other.
func (s *prober) forms() (first, others []func(n int, r string) form) {
	v := s.value
	quoted := func(q string) func(int, string) form {
		return func(_ int, r string) form {
			return form{v + q + " AND " + q + r + q + "=" + q + r, v + q + " ANX " + q + r + q + "=" + q + r, "ANX"}
		}
	}
	number := func(n int, _ string) form {
		return form{fmt.Sprintf("%s AND %d=%d", v, n, n), fmt.Sprintf("%s ANX %d=%d", v, n, n), "ANX"}
	}
	cast := func(before, after, kind string) func(int, string) form {
		return func(n int, _ string) form {
			return form{fmt.Sprintf("%s%sCAST(%d AS %s)%s", v, before, n, kind, after), fmt.Sprintf("%s%sCAST(%d AZ %s)%s", v, before, n, kind, after), "AZ"}
		}
	}
	list := func(n int, _ string) form {
		return form{fmt.Sprintf("%s,(CASE WHEN %d=%d THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%s,(CASE WHEM %d=%d THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%d=%d THEN", n, n)}
	}
	table := func(n int, _ string) form {
		return form{fmt.Sprintf("%s WHERE %d=%d -- ", v, n, n), fmt.Sprintf("%s WHERX %d=%d -- ", v, n, n), "WHERX"}
	}
	beside := func(_ int, r string) form { return form{v + "' '" + r, v + "' AZ '" + r, "AZ"} } // MySQL joins strings that stand beside each other
	first = []func(int, string) form{quoted("'")}
	others = []func(int, string) form{cast("'||", "||'", "CHAR(4)")}
	switch {
	case s.dbms == "mysql" || s.Noted("proven:mysql"):
		others = append([]func(int, string) form{beside}, others...)
	case s.dbms == "orm" || s.dbms == "":
		others = append(others, beside)
	}
	if s.number() {
		first = append([]func(int, string) form{number}, first...)
		others = append(others, cast("-", "", "DECIMAL"))
	} else {
		others = append(others, number)
	}
	switch {
	case !column.MatchString(v):
	case orders.MatchString(s.At.Name):
		first = append([]func(int, string) form{list}, first...)
	default:
		others = append(others, list)
	}
	others = append(others, quoted(`"`), table, cast("'+", "+'", "CHAR(4)"))
	if s.dbms != "" { // other languages have comments too
		others = append(others, func(_ int, r string) form { return form{v + "/* " + r + " */", v + "/* " + r + " *", ""} })
	}
	return first, others
}

// orders are names of parameters that say how a list is ordered.
var orders = lazyregexp.New(`(?i)order|sort|column|group|dir$|^by|by$`)

// column is what a list can be ordered by: a name, or the number of a column.
var column = lazyregexp.New(`(?i)^(?:[a-z_][\w.]*|\d+)(?: (?:asc|desc))?$`)

// number reports whether the value is a number.
func (s *prober) number() bool {
	_, err := strconv.ParseFloat(s.value, 64)
	return err == nil
}

// repair looks for a form whose good value the statement takes and whose bad one breaks
// it. It is done when there is one, and when nothing can be seen.
func (s *prober) repair() (done bool, err error) {
	first, others := s.forms()
	filtered := s.Noted(s.filter()) // most likely for the other values of the operation too
	if filtered {
		if refused, err := s.refused(); refused || err != nil {
			return refused, err
		}
	}
	for _, make := range first {
		if found, err := s.repairs(make); found || err != nil {
			return found, err
		}
	}
	if !filtered {
		refused, err := s.refused()
		if refused {
			s.Note(s.filter())
		}
		if refused || err != nil {
			return refused, err
		}
	}
	for _, make := range others {
		if found, err := s.repairs(make); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// repairs asks a form twice, with other constants. Once is enough where the error of the
// database names the wrong word. Where the good value leaves the page as it is, any other
// page is a broken statement: a filter may have answered the first probe.
func (s *prober) repairs(make func(n int, r string) form) (found bool, err error) {
	var answers []*message.Response
	var f form
	named, same := false, false // the error names the word; it is that to the first probe
	notes, proof := []string{"quotes and a parenthesis"}, "Repeated with other constants, and the errors twice more."
	for round := range 2 {
		f = make(s.Number(1000, 9999), s.Random(4))
		good, bad, err := s.both(f, round == 1)
		if err != nil || good == nil {
			return false, err
		}
		if same = s.isBroken(bad, f.bad); !same {
			if err := s.baseline(); err != nil {
				return false, err
			}
			usual := s.Page(good, f.good)
			if !s.base.Stable || !usual.Equal(s.base.Page()) || s.Page(bad, f.bad).Equal(usual) {
				return false, nil
			}
		}
		answers, notes = append(answers, good, bad), append(notes, "a correct statement", "the same with a word that SQL does not know")
		if named = s.names(bad, f); named {
			proof, s.dbms = "The error names the word "+f.wrong+".", signature(bad.Text(), s.first.Text())
			break
		}
	}
	if !named && same {
		if sure, err := s.fails(make); err != nil || !sure {
			return false, err
		}
	}
	what := "an error of the application"
	if s.dbms != "" {
		what = "an error of " + names[s.dbms]
	}
	s.proven(s.dbms)
	s.Flaw(attack.Flaw{Rule: byError, Request: s.Request.With(s.At, f.bad), Payload: f.bad, Answers: append([]*message.Response{s.broken}, answers...), Notes: notes,
		Proof: []string{"The value " + s.Breaking() + " is answered with " + what + ".", "The value " + f.good + ", which completes the statement, is not.",
			"The value " + f.bad + ", which differs in one word of SQL, is again.", proof}})
	return true, nil
}

// both asks both values of a form, the bad one first where it is turned: errors that
// come and go by themselves, such as those of another system, do not follow the order.
// Nil answers: the good value breaks the statement too.
func (s *prober) both(f form, turned bool) (good, bad *message.Response, err error) {
	if turned {
		if bad, err = s.Try(f.bad); err != nil {
			return nil, nil, err
		}
	}
	if good, err = s.Try(f.good); err != nil || s.isBroken(good, f.good) {
		return nil, nil, err
	}
	if !turned {
		bad, err = s.Try(f.bad)
	}
	return good, bad, err
}

// fails reports whether broken statements fail each time: an application that fails by
// itself now and then does not.
func (s *prober) fails(make func(n int, r string) form) (bool, error) {
	for _, payload := range []string{make(s.Number(1000, 9999), s.Random(4)).bad, s.Breaking(), make(s.Number(1000, 9999), s.Random(4)).bad} {
		resp, err := s.Try(payload)
		if err != nil || !s.isBroken(resp, payload) {
			return false, err
		}
	}
	return true, nil
}

// proven says that SQL is found at the point, and of which database.
func (s *prober) proven(dbms string) {
	s.Mark(Mark)
	if dbms != "" {
		s.Note("proven:" + dbms)
	}
}

// names reports whether an error of a database names the wrong word, beside where the
// answer only repeats the whole value.
func (s *prober) names(resp *message.Response, f form) bool {
	text := resp.Text()
	if f.wrong == "" || signature(text, s.first.Text()) == "" {
		return false
	}
	for _, encoded := range attack.Encodings(f.bad) {
		text = strings.ReplaceAll(text, encoded, "")
	}
	return strings.Contains(text, f.wrong) && !strings.Contains(s.broken.Text(), f.wrong)
}

// narrow asks conditions that are added to the value with AND: true ones leave the page
// as it is. They tell something only where another value leads to another page.
func (s *prober) narrow() (found bool, err error) {
	if err := s.ask(); err != nil {
		return false, err
	}
	if s.control.Equal(s.base.Page()) {
		return false, nil
	}
	v := s.value
	for _, q := range s.questions() {
		c, same, err := s.Decide(q, s.base.Page(), nil)
		if err != nil || same { // what is added to the value changes nothing, true or false
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
	all := []attack.Question{quoted("'"), like, quoted(`"`)}
	switch {
	case !column.MatchString(v):
	case orders.MatchString(s.At.Name):
		all = append([]attack.Question{list}, all...)
	default:
		all = append(all, list)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n > 1e12 {
		return append(all, number)
	}
	if orders.MatchString(s.At.Name) {
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
	quotes := []string{"'", "", `"`}
	if s.number() {
		quotes = []string{"", "'", `"`}
	}
	for _, quote := range quotes {
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
	s.proven(s.dbms)
	s.Flaw(attack.Flaw{Rule: byBoolean, Request: s.Request.With(s.At, c.Yes), Payload: c.Yes, Answers: c.Answers, Notes: c.Notes,
		Proof: []string{"The value " + c.Yes + " holds a condition that is true for SQL, " + c.No + " one that is false.", proof, fmt.Sprintf("So it was in %d rounds with other constants.", attack.Rounds)}})
}
