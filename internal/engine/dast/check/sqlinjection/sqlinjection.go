// Package sqlinjection finds parameters that become part of a SQL statement. Quick
// checks first: a value that breaks the statement and one that does not, though they
// differ in a keyword only; then pairs that are true and false, and arithmetic; then rows
// that are added to the result; last, statements that take time.
//
// Every proof rests on something that only SQL does: an upper-case AND, CAST, LENGTH,
// functions of a database. Quotes alone prove nothing: shells and scripts have them too.
package sqlinjection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

var (
	byError   = texts.Get("error")
	byBoolean = texts.Get("boolean")
	byTime    = texts.Get("time")
)

// Rule is the check by errors and conditions.
var Rule = &activescan.Rule{ID: "sqlinjection", FindingRules: []*finding.Rule{byError, byBoolean, byUnion},
	Profile:      scan.Safe,
	AcceptsPoint: acceptsPoint, ExtraPoints: missingHeaders, ProbePoint: probePoint}

// Mark is what is said of points that SQL is found at.
const Mark = "sql"

// acceptsPoint chooses values wherever they are, and names of parameters.
func acceptsPoint(p message.Point) bool {
	switch p.In {
	case message.InFileName, message.InHeaderName, message.InCookieName:
		return false
	}
	return !p.HoldsJSON() || p.Type != "boolean" && p.Type != "null"
}

// A prober is the examination of one point.
type prober struct {
	*activescan.Probe
	// The response without an attack.
	first *message.Response
	// The baseline; nil: not requested yet.
	base *activescan.Baseline
	// The response to a value that breaks any statement.
	broken *message.Response
	// The point's original value.
	value string
	// The response to a value that names nothing; nil: not requested yet.
	control *message.Response
	// The database whose error broken shows; empty: unknown.
	dbms string
	// The positions in a statement that the value may have: those that the responses suggest, and
	// the rest.
	likely, others []*place
	// How many positions were tried.
	looked  int
	doubted bool // doubtful was said once, whatever was thought of since
	// Responses did not follow the values of a form.
	doubtful bool
	// A request was repeated, because the page may have changed by now.
	anew bool
	// Another error of a database than the first one was seen.
	parsed bool
	// lost tells by words whether the statement failed, where the page changes by itself;
	// nil: it is not known to.
	lost func(resp *message.Response, payload string) bool
	// The breaking value leads to another page than one that names nothing.
	changed bool
	// What breaks statements in place of Probe.BreakingValue; empty: that does.
	wide string
}

// Breaking is the value that breaks any statement that it is a part of.
func (s *prober) Breaking() string { return cmp.Or(s.wide, s.Probe.BreakingValue()) }

// probePoint examines a point, headers that the request does not have in a shorter way.
func probePoint(p *activescan.Probe) error {
	switch {
	case p.AlreadyFound(Mark):
		return nil
	case p.Point.In == message.InHeader && p.Point.Index < 0:
		return probeHeader(p)
	}
	return probeAll(p)
}

// probeAll asks what there is to ask of a point.
func probeAll(p *activescan.Probe) error {
	first, err := p.FirstResponse()
	if err != nil {
		return err
	}
	s := &prober{Probe: p, first: first, value: p.OriginalValue(), base: p.CachedBaseline()}
	if s.broken, err = p.SendCached(p.BreakingValue()); err != nil {
		return err
	}
	if s.dbms = errorSignature(s.broken.Text(), first.Text()); s.dbms != "" {
		p.RecordFact("dbms:" + s.dbms)
	}
	s.likely, s.others = s.injectionContexts()
	if err := s.comparePages(); err != nil {
		return err
	}
	if err := s.probeUNION(); err != nil || s.AlreadyFound(Mark) {
		return err
	}
	return s.probeHalfEscaped()
}

// comparePages compares pages: those of statements that break, and of conditions.
func (s *prober) comparePages() error {
	changed, differs, done, err := s.breaksPage()
	s.changed = changed
	if done || err != nil {
		return err
	}
	if changed {
		s.MarkRead()
	}
	if changed && (s.base == nil || s.base.Stable || s.dbms != "" || s.isFailure(s.broken)) {
		if done, err := s.findRepair(); done || err != nil {
			return err
		}
	}
	if s.Point.Names() {
		return nil
	}
	if differs {
		if err := s.fetchBaseline(); err != nil || !s.base.Stable {
			return err
		}
		if found, err := s.probeAND(); found || err != nil {
			return err
		}
	}
	return s.probeOR(changed)
}

// fetchBaseline asks for what is needed to compare pages. Errors of databases are known
// without, and pages that are just as they were found.
func (s *prober) fetchBaseline() (err error) {
	if s.base == nil {
		s.base, err = s.Baseline()
	}
	return err
}

// usualPage is the page without an attack, as far as it is known.
func (s *prober) usualPage() *activescan.Page {
	if s.base != nil {
		return s.base.Page()
	}
	return s.PageOf(s.first, s.Point.Value)
}

// isUsual reports whether an answer is the usual page. It asks for what changes by itself
// when that may make the difference.
func (s *prober) isUsual(resp *message.Response, payload string) (bool, error) {
	if s.base == nil {
		if s.PageOf(resp, payload).Equal(s.usualPage()) {
			return true, nil
		}
		if err := s.fetchBaseline(); err != nil {
			return false, err
		}
	}
	return s.base.Stable && s.PageOf(resp, payload).Equal(s.usualPage()), nil
}

// breaksPage reports whether the answer to the breaking value is another page than the
// usual one, and whether it is also more than that to any value that names nothing. It is
// done when the most likely place proves to be the right one, which needs nothing else.
func (s *prober) breaksPage() (changed, differs, done bool, err error) {
	if s.dbms != "" || s.isFailure(s.broken) && !s.Point.Names() {
		return true, true, false, nil
	}
	if s.PageOf(s.broken, s.Breaking()).Equal(s.usualPage()) {
		return false, false, false, nil
	}
	if !s.Point.Names() && !s.HasFact(s.filterName()) {
		place := s.likely[0]
		if err := place.sendGoodValue(s); err != nil {
			return false, false, false, err
		}
		if s.PageOf(place.answer, place.form.good).Equal(s.usualPage()) {
			found, err := s.isRepaired(place)
			if found || s.doubtful || err != nil {
				return false, false, true, err
			}
		}
	}
	if s.control, err = s.SendCached(s.UnknownValue()); err != nil {
		return false, true, false, err
	}
	same := func() bool { return s.missingPage().Equal(s.PageOf(s.broken, s.Breaking())) }
	if !same() { // what changes by itself may make the difference
		if usual, err := s.isUsual(s.broken, s.Breaking()); err != nil || usual {
			return false, false, false, err
		}
	}
	if !same() {
		return true, true, false, nil
	}
	if s.Point.Names() { // as a parameter that is not there: it is read by its name
		s.MarkRead()
	}
	return false, true, false, nil
}

// missingPage is the page of a value that names nothing.
func (s *prober) missingPage() *activescan.Page { return s.PageOf(s.control, s.UnknownValue()) }

// isFailure reports whether the application broke at an answer, and not at the first.
func (s *prober) isFailure(resp *message.Response) bool {
	return resp.Status >= 500 && s.first.Status < 500
}

// isRefused reports whether the answer is that to the breaking value also for one that
// every statement takes, in whatever place: it is a comment behind a number and a name,
// and in strings of all databases a text. Something in front refuses such values then,
// and there is nothing to see. As a text it may also find nothing: where that is not known to
// be seldom, a value that names nothing tells whether it fails all the same.
func (s *prober) isRefused(seldom bool) (bool, error) {
	payload := s.value + "/*''*/"
	resp, err := s.SendValue(payload)
	if err != nil {
		return false, err
	}
	same := func() bool { return s.PageOf(resp, payload).Equal(s.PageOf(s.broken, s.Breaking())) }
	refused := same()
	if !refused && s.base == nil && s.isBroken(resp, payload) { // what changes by itself may make the difference
		if err := s.fetchBaseline(); err != nil {
			return false, err
		}
		refused = same()
	}
	if refused && !seldom && !s.Point.Names() {
		if s.control, err = s.SendCached(s.UnknownValue()); err != nil {
			return false, err
		}
		refused = !s.isBroken(s.control, s.UnknownValue())
	}
	if refused {
		s.MarkFound(refusal)
	}
	return refused, nil
}

// filterName names what refuses values of the operation.
func (s *prober) filterName() string {
	return "refuses " + s.Request.Method + " " + s.Request.Base() + s.Request.Path
}

// refusal is what is said of points whose values are refused for their quotes.
const refusal = "no-sql"

// isBroken reports whether the statement failed.
func (s *prober) isBroken(resp *message.Response, payload string) bool {
	switch {
	case s.lost != nil:
		return s.lost(resp, payload)
	case errorSignature(resp.Text(), s.first.Text()) != "":
		return true
	case s.dbms != "":
		return false
	case s.isFailure(s.broken):
		return s.isFailure(resp)
	}
	return s.PageOf(resp, payload).Equal(s.PageOf(s.broken, s.Breaking()))
}

// findRepair looks for a form whose good value the statement takes and whose bad one breaks
// it. It is done when there is one, and when nothing can be seen.
func (s *prober) findRepair() (done bool, err error) {
	filtered := s.HasFact(s.filterName()) // most likely for the other values of the operation too
	if filtered {
		if refused, err := s.isRefused(true); refused || err != nil {
			return refused, err
		}
	}
	for _, place := range s.likely {
		if found, err := s.isRepaired(place); found || s.doubtful || err != nil {
			return true, err
		}
	}
	if !filtered && !s.parsed {
		refused, err := s.isRefused(false)
		if refused {
			s.RecordFact(s.filterName())
		}
		if refused || err != nil {
			return refused, err
		}
	}
	for _, place := range s.others {
		if found, err := s.isRepaired(place); found || s.doubtful || err != nil {
			return true, err
		}
	}
	return false, nil
}

// isRepaired asks both values of a form. That is enough where the error of the database names
// the wrong word; else the answers have to follow. Where the good value leaves the page as
// it is, any other page is a broken statement: a filter may have answered the first probe.
func (s *prober) isRepaired(pl *place) (found bool, err error) {
	if pl.done {
		return false, nil
	}
	pl.done = true
	if err := pl.sendGoodValue(s); err != nil {
		return false, err
	}
	f := pl.form
	if s.isBroken(pl.answer, f.good) {
		s.parsed = s.parsed || errorSignature(pl.answer.Text(), s.first.Text()) != "" &&
			!s.PageOf(pl.answer, f.good).Equal(s.PageOf(s.broken, s.Breaking()))
		return false, nil
	}
	bad, err := s.SendValue(f.bad)
	if err != nil {
		return false, err
	}
	r := &rounds{prober: s, place: pl, same: s.isBroken(bad, f.bad), wrong: s.PageOf(bad, f.bad), last: f,
		answers: []*message.Response{s.broken, pl.answer, bad},
		notes:   []string{"quotes and a parenthesis", "a correct statement", wrongWord}}
	proof := "The error names the word " + f.wrong + "."
	if r.same && s.namesWrongWord(bad, f) {
		s.dbms = errorSignature(bad.Text(), s.first.Text())
	} else if sure, err := r.confirmInRandomOrder(bad); err != nil || !sure {
		return false, err
	} else {
		proof = fmt.Sprintf("So it was in %d more requests with other constants, in random order.", len(r.answers)-3)
	}
	what := "an error of the application"
	switch {
	case s.lost != nil:
		what = "a page without words that it has each time, or with others"
	case s.dbms != "":
		what = "an error of " + names[s.dbms]
	}
	s.reportInjection(s.dbms)
	s.RaiseAlert(activescan.Alert{Rule: byError, Request: s.Request.With(s.Point, r.last.bad), Payload: r.last.bad,
		Responses: r.answers, ResponseNotes: r.notes,
		Proof: []string{"The value " + s.Breaking() + " is answered with " + what + ".", "The value " + r.last.good +
			", which completes the statement, is not.",
			"The value " + r.last.bad + ", which differs in one word of SQL, is again.", proof}})
	return true, nil
}

// reportInjection says that SQL is found at the point, and of which database.
func (s *prober) reportInjection(dbms string) {
	s.MarkFound(Mark)
	s.RecordFact(injectedKey(s.Request))
	if dbms != "" {
		s.RecordFact("proven:" + dbms)
	}
}

// namesWrongWord reports whether an error of a database names the wrong word, beside where the
// answer only repeats the whole value.
func (s *prober) namesWrongWord(resp *message.Response, f form) bool {
	text := resp.Text()
	if f.wrong == "" || errorSignature(text, s.first.Text()) == "" {
		return false
	}
	for _, encoded := range activescan.Encodings(f.bad) {
		text = strings.ReplaceAll(text, encoded, "")
	}
	return strings.Contains(text, f.wrong) && !strings.Contains(s.broken.Text(), f.wrong)
}

// matchesDatabase reports whether the statement is one of the database, as far as the point or what was
// found before tells.
func (s *prober) matchesDatabase(dbms string) bool {
	return s.dbms == dbms || s.dbms == "" && s.HasFact("proven:"+dbms)
}

// probeAND asks conditions that are added to the value with AND: true ones leave the page
// as it is. They tell something only where another value leads to another page.
func (s *prober) probeAND() (found bool, err error) {
	if s.control, err = s.SendCached(s.UnknownValue()); err != nil || s.missingPage().Equal(s.base.Page()) {
		return false, err
	}
	v, within := s.value, map[string]bool{}
	for _, q := range s.conditionQuestions() {
		if s.isRefuted(q.kind) || within[q.closingQuote()] {
			continue
		}
		c, same, err := s.contrastQuestion(q.ask, s.base.Page())
		if err != nil || s.doubtful {
			return false, err
		}
		if same { // what is added to the value changes nothing, true or false, with such quotes
			within[q.closingQuote()] = true
		}
		if c == nil {
			continue
		}
		page := "that of the value " + v
		if !c.True.Equal(s.base.Page()) {
			page = "one"
		}
		s.reportQuestion(c, "The page is "+page+" while the condition is true, and another one while it is false.")
		return true, nil
	}
	return false, nil
}

// isRefuted reports whether a true condition at the place leads to the page of a statement that
// fails or finds nothing, as far as it was asked. Any other may be the usual one of then.
func (s *prober) isRefuted(kind string) bool {
	for _, pl := range slices.Concat(s.likely, s.others) {
		if pl.kind == kind && pl.answer != nil {
			page := s.PageOf(pl.answer, pl.form.good)
			return page.Equal(s.missingPage()) || page.Equal(s.PageOf(s.broken, s.Breaking()))
		}
	}
	return false
}

// A question is one of a kind of place.
type question struct {
	kind string
	ask  activescan.ConditionPayloads
}

// closingQuote is what leaves the string that the value stands in; empty: nothing does.
func (q *question) closingQuote() string {
	switch {
	case strings.Contains(q.kind, `"`):
		return `"`
	case q.kind == "number" || q.kind == "list":
		return ""
	}
	return "'"
}

// conditionQuestions are conditions added with AND, and arithmetic for numbers.
func (s *prober) conditionQuestions() []question {
	v := s.value
	of := map[string]question{}
	for _, pl := range slices.Concat(s.likely, s.others) {
		of[pl.kind] = question{pl.kind, func() (yes, no string) {
			f := s.newForm(pl)
			return f.good, cmp.Or(f.no, f.bad)
		}}
	}
	of["like"] = question{"like", func() (yes, no string) {
		a, b := s.RandomLetters(4), s.RandomLetters(4)
		return v + "%' AND '" + a + "' LIKE '" + a, v + "%' AND '" + a + "' LIKE '" + b
	}}
	of["call"] = question{"call", func() (yes, no string) { // of a function, or a list
		a, b := s.RandomLetters(4), s.RandomLetters(4)
		return v + "')AND('" + a + "'='" + a, v + "')AND('" + a + "'='" + b
	}}
	kinds := []string{"'", "like", `"`, "list", "number", "call"}
	ordered := orders.MatchString(s.Point.Name)
	if n, err := strconv.Atoi(v); err == nil && n <= 1e12 && !ordered {
		of["length"] = question{"length", func() (yes, no string) {
			k := s.RandomNumber(3, 6)
			return fmt.Sprintf("%d-LENGTH('%s')", n+k, s.RandomLetters(k)),
				fmt.Sprintf("%d-LENGTH('%s')", n+k, s.RandomLetters(k+1))
		}}
		kinds = []string{"number", "length", "'", "like", `"`, "list", "call"}
	}
	if ordered {
		kinds = []string{"list", "'", "like", `"`, "number"}
	}
	if s.matchesDatabase("mysql") { // whose other word for AND no filter of words takes out
		for kind, between := range map[string][2]string{"&": {"'", "'"}, "call &": {"')", "('"}, `"&`: {`"`, `"`}} {
			quote := between[0][:1]
			of[kind] = question{kind, func() (yes, no string) {
				a, b := s.RandomLetters(4), s.RandomLetters(4)
				return v + between[0] + "&&" + between[1] + a + quote + "=" + quote + a, v + between[0] + "&&" +
					between[1] + a + quote + "=" + quote + b
			}}
		}
		kinds = append(kinds, "&", "call &", `"&`)
	}
	var all []question
	for _, kind := range kinds {
		if q, ok := of[kind]; ok {
			all = append(all, q)
		}
	}
	return all
}

// writes are words in addresses and names of what changes data: a condition that is true
// for every row is not sent there.
var writes = lazyregexp.New(`(?i)delete|remove|update|edit|save|destroy|reset|change|insert|clear|purge|cancel|transfer|pay`)

// allowsAlwaysTrue reports whether a condition that is true for every row may be sent.
func (s *prober) allowsAlwaysTrue() bool {
	return !writes.MatchString(s.Request.Path) && (s.Request.Method == "GET" || s.Request.Method == "POST" &&
		s.Target.Profile.Allows(scan.Standard))
}

// probeOR asks conditions that are added with OR, for statements that find nothing for the
// value. One value that fits several places tells first whether there is a difference.
func (s *prober) probeOR(changed bool) (found error) {
	if !s.allowsAlwaysTrue() {
		return nil
	}
	for _, closing := range []string{"", ")"} {
		n := s.RandomNumber(1000, 9999)
		payload := polyglotValue(s.value, closing, fmt.Sprintf(" OR %d=%d", n, n))
		resp, err := s.SendValue(payload)
		if err != nil {
			return err
		}
		same, err := s.isUsual(resp, payload)
		if err != nil || s.base != nil && !s.base.Stable {
			return err
		}
		failed := s.isBroken(resp, payload) || !changed && closing != "" &&
			(s.isFailure(resp) || errorSignature(resp.Text(), s.first.Text()) != "")
		if !same && !failed {
			if found, err := s.findORContext(closing, s.PageOf(resp, payload)); found || err != nil {
				return err
			}
		}
		if !changed && !s.signsIn() {
			break
		}
	}
	return nil
}

// signsIn reports whether the request asks for a password: who is not known, and a
// statement that fails, are told in the same words then.
func (s *prober) signsIn() bool {
	return slices.ContainsFunc(s.Request.Points(), func(p message.Point) bool {
		return p.Type == "password" || passwords.MatchString(p.Name)
	})
}

// passwords are names of fields that take one.
var passwords = lazyregexp.New(`(?i)pass|pwd|secret`)

// findORContext looks for the place of the statement that the value with OR fits.
func (s *prober) findORContext(closing string, all *activescan.Page) (found bool, err error) {
	quotes := []string{"'", "", `"`}
	if s.isNumber() {
		quotes = []string{"", "'", `"`}
	}
	for _, quote := range quotes {
		for _, more := range []string{"", ")", "))"} {
			if more != "" && closing == "" {
				break
			}
			if found, err := s.probeORBehind(s.value+quote+closing+more, all); found || s.doubtful || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// probeORBehind asks conditions with OR behind a value that ends what it stands in. All is the
// page of true ones; nil: it is not known.
func (s *prober) probeORBehind(lead string, all *activescan.Page) (found bool, err error) {
	ask := func() (yes, no string) {
		n, form := s.RandomNumber(1000, 4999), lead+" OR %d=%d -- "
		return fmt.Sprintf(form, n, n), fmt.Sprintf(form, n, n+s.RandomNumber(1, 4000))
	}
	c, _, err := s.contrastQuestion(ask, all)
	if err != nil || c == nil {
		return false, err
	}
	s.reportQuestion(c, "The page is one while the condition is true, and another one while it is false.")
	return true, nil
}

func (s *prober) reportQuestion(c *activescan.ConditionResult, proof string) {
	s.reportInjection(s.dbms)
	s.RaiseAlert(activescan.Alert{Rule: byBoolean, Request: s.Request.With(s.Point, c.Yes), Payload: c.Yes,
		Responses:     c.Responses,
		ResponseNotes: c.ResponseNotes,
		Proof: []string{"The value " + c.Yes + " contains a condition that is true " +
			"for SQL, " + c.No + " one that is false.", proof, fmt.Sprintf("So it was in %d requests with other "+
			"constants.", len(c.Responses))}})
}
