package sqlinjection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file finds statements whose rows are shown: it adds a row to them. The row holds
// products that the database has computed, so that a page that repeats the value shows
// none of them. Nothing is compared with the page as it was, which may change by itself.

var byUnion = texts.Get("union")

const (
	maxUnion                = 60    // requests for one point
	maxGuessed              = 12    // columns that are tried where the statement does not tell how many it has
	fewSamples, manySamples = 5, 10 // of a page that changes by itself
	mostColumns             = 60    // that a statement is believed to have
	maxSingle               = 16    // columns of which each is tried alone
	forOrder                = 14    // requests that are left for the proof by the order
	tooMany                 = 97    // columns that no statement is expected to have
)

// errEnough ends the look at a point.
var errEnough = errs.E(errs.Invalid, "requests for one point are spent")

// closings end what the value may stand in; those in which no quote is fit where quotes
// are refused.
var closings = []string{"'", "')", "'))", "%'", "%')", `"`, "", ")", "))"}

// A union holds what is known of the statement while rows are added to it.
type union struct {
	*prober
	left           int                // requests
	pages, lacking []*activescan.Page // without an attack, and with values that break or name nothing
	// lost reports whether an answer is one of a statement that failed.
	lost func(resp *message.Response, payload string) bool
}

// probeUNION looks at a point of which nothing else has decided whether a statement reads it.
// It needs something to see: an error, words that the page loses with the breaking value
// and gets back, or rows that it shows with a condition that is true.
func (s *prober) probeUNION() error {
	if s.Point.Names() || s.doneBy() || !s.Target.Profile.Allows(scan.Standard) {
		return nil
	}
	u := &union{prober: s, left: maxUnion, lost: s.isBroken}
	if s.changed && (s.base == nil || s.base.Stable) && !s.doubtful {
		return u.probeVisible()
	}
	if s.base == nil && !s.doubtful {
		return nil
	}
	if err := s.fetchBaseline(); err != nil || s.base.Stable && !s.doubtful {
		return err
	}
	if done, err := u.findTellingWords(); done || err != nil {
		return err
	}
	return u.probeChangingPage()
}

// findTellingWords looks for words of a page that changes by itself which tell a statement that is
// taken from one that is not. By these the same forms are asked for as by errors, and then
// what closes the place. Words that were there by chance show when answers do not follow
// the forms; then more pages are asked for, once.
func (u *union) findTellingWords() (done bool, err error) {
	for _, samples := range []int{fewSamples, manySamples} {
		if err := u.findSteadyWords(samples); err != nil || u.prober.lost == nil {
			return false, err
		}
		u.doubtful = false
		for _, pl := range slices.Concat(u.likely, u.others) {
			pl.done = false
		}
		if done, err := u.findRepair(); done && !u.doubtful || err != nil {
			return done, err
		}
		if !u.doubtful {
			break
		}
	}
	return u.findClosing(closings)
}

// doneBy reports whether something else has decided about the point, or refuses it.
func (s *prober) doneBy() bool {
	return s.AlreadyFound(Mark) || s.AlreadyFound(refusal) && !s.isNumber()
}

// findSteadyWords looks for words of the page as it was that it shows neither with a value that
// breaks statements nor with one that names nothing, or at least not with the first; or
// else for words that only these show. By them a statement is known to have failed.
func (u *union) findSteadyWords(samples int) error {
	control, err := u.SendCached(u.UnknownValue())
	if err != nil {
		return err
	}
	if len(u.pages) == 0 {
		u.pages = []*activescan.Page{u.readResponse(u.base.First, ""), u.readResponse(u.base.Second, "")}
		u.lacking = []*activescan.Page{u.readResponse(u.broken, u.Breaking()),
			u.readResponse(control, u.UnknownValue())}
	}
	for {
		found, missing := activescan.CommonWords(u.pages, u.lacking), activescan.CommonWords(u.lacking, u.pages)
		if len(found)+len(missing) == 0 { // what names nothing may name something, such as a limit
			found = activescan.CommonWords(u.pages, u.lacking[:1])
		}
		u.prober.lost = nil
		switch {
		case len(found)+len(missing) == 0:
			return nil
		case len(u.pages) < samples:
			resp, err := u.Send(u.Request)
			if err != nil {
				return err
			}
			u.pages = append(u.pages, u.readResponse(resp, ""))
		case len(found) > 0:
			u.prober.lost = func(resp *message.Response, payload string) bool {
				return !u.readResponse(resp, payload).ContainsWords(found)
			}
			return nil
		case len(u.lacking) < samples:
			resp, err := u.SendValue(u.Breaking())
			if err != nil {
				return err
			}
			u.lacking = append(u.lacking, u.readResponse(resp, u.Breaking()))
		default:
			u.prober.lost = func(resp *message.Response, payload string) bool {
				return u.readResponse(resp, payload).ContainsWords(missing)
			}
			return nil
		}
	}
}

// readResponse reads an answer to a payload. The point's own value does not count either, since it
// may be part of what was found.
func (u *union) readResponse(resp *message.Response, payload string) *activescan.Page {
	return activescan.NewPage(resp, payload, u.value)
}

// sendValue sends a value, as long as requests are left for the point.
func (u *union) sendValue(value string) (*message.Response, error) {
	if u.left == 0 {
		return nil, errEnough
	}
	u.left--
	return u.SendValue(value)
}

// polyglotValue makes a value that continues a statement wherever it stands, as a number or
// in either quotes: what follows the first place that fits is a comment.
func polyglotValue(value, closing, more string) string {
	part := closing + more + " -- "
	return value + part + "'" + part + `"` + part
}

// probeVisible is asked where a statement that fails shows. One value for all places tells
// first whether anything could be a statement.
func (u *union) probeVisible() error {
	if u.AlreadyFound(refusal) {
		_, err := u.findClosing([]string{"", ")"})
		return err
	}
	for _, closing := range []string{"", ")"} {
		payload := polyglotValue(u.value, closing, " ORDER BY 1")
		resp, err := u.sendValue(payload)
		if err != nil {
			return err
		}
		if u.lost(resp, payload) {
			continue
		}
		var fitting []string
		for _, c := range closings {
			if strings.Contains(c, ")") == (closing != "") {
				fitting = append(fitting, c)
			}
		}
		if fits, err := u.findClosing(fitting); fits || err != nil {
			return err
		}
		_, err = u.probeGuessedColumns(closing) // the word may be taken out
		return err
	}
	return nil
}

// probeChangingPage is asked where the page changes by itself, and no words of it go with the value.
// A condition that is true for every row may show some.
func (u *union) probeChangingPage() error {
	if !u.allowsAlwaysTrue() {
		return nil
	}
	usual := slices.Concat(u.pages, []*activescan.Page{u.readResponse(u.base.First, ""),
		u.readResponse(u.base.Second, ""),
		u.readResponse(u.broken, u.Breaking())})
	for _, closing := range []string{"", ")"} {
		gains, err := u.gainsWords(closing, usual)
		if err != nil {
			return err
		}
		if gains {
			_, err := u.probeGuessedColumns(closing)
			return err
		}
	}
	return nil
}

// gainsWords reports whether pages with a condition that is true have words that none has
// without an attack, each time.
func (u *union) gainsWords(closing string, usual []*activescan.Page) (bool, error) {
	var gained []*activescan.Page
	for range fewSamples {
		n := u.RandomNumber(1000, 9999)
		payload := polyglotValue(u.value, closing, fmt.Sprintf(" OR %d=%d", n, n))
		resp, err := u.sendValue(payload)
		if err != nil {
			return false, err
		}
		if gained = append(gained, u.readResponse(resp, payload)); len(activescan.CommonWords(gained, usual)) == 0 {
			return false, nil
		}
	}
	return true, nil
}

// findClosing looks for what closes the place that the value stands in: the statement then takes
// an order by its first column, and none by a column that it does not have. It reports
// whether there is such a place.
func (u *union) findClosing(closings []string) (bool, error) {
	if u.isNumber() {
		closings = slices.Concat(closings[max(0, slices.Index(closings, "")):],
			closings[:max(0, slices.Index(closings, ""))])
	}
	for _, closing := range closings {
		n, err := u.countColumns(closing)
		if err != nil {
			return false, err
		}
		if n == 0 {
			continue
		}
		u.left -= forOrder
		for _, head := range []string{u.UnknownValue(), u.value} {
			if found, err := u.probeKnownColumns(head, closing, n); found || err != nil && !errors.Is(err, errEnough) {
				return true, err
			}
		}
		u.left += forOrder
		return true, u.proveOrderBy(closing, n)
	}
	return false, nil
}

// countColumns counts the columns of the result behind a closing; 0: it does not fit.
func (u *union) countColumns(closing string) (int, error) {
	first, payload, err := u.orderByColumn(closing, 1)
	if err != nil || u.lost(first, payload) {
		return 0, err
	}
	taken := u.PageOf(first, payload)
	last, payload, err := u.orderByColumn(closing, tooMany)
	if err != nil {
		return 0, err
	}
	failed := u.PageOf(last, payload)
	if !u.lost(last, payload) && failed.Equal(taken) {
		return 0, nil
	}
	steady := u.base == nil || u.base.Stable && !u.doubtful
	if !steady && !u.lost(last, payload) {
		return 0, nil
	}
	if lost := u.lost; steady {
		u.lost = func(resp *message.Response, payload string) bool {
			return lost(resp, payload) || u.PageOf(resp, payload).Equal(failed)
		}
	}
	low, high := 1, tooMany // taken, and not
	for next := 2; low+1 < high; {
		resp, payload, err := u.orderByColumn(closing, next)
		if err != nil {
			return 0, err
		}
		if u.lost(resp, payload) {
			high = next
		} else {
			low = next
		}
		if next = low * 2; next >= high {
			next = (low + high) / 2
		}
	}
	if low > mostColumns { // answers came by chance
		return 0, nil
	}
	return low, nil
}

// orderByColumn asks for an order by a column. All numbers are as long as each other, since some
// pages answer by how long a value is.
func (u *union) orderByColumn(closing string, n int) (resp *message.Response, payload string, err error) {
	payload = u.value + closing + fmt.Sprintf(" ORDER BY %02d -- ", n)
	resp, err = u.sendValue(payload)
	return resp, payload, err
}

// proveOrderBy proves, where no row is shown, that the statement takes an order by each of its
// columns and by no other one. They are asked in random order (order).
func (u *union) proveOrderBy(closing string, n int) error {
	var answers []*message.Response
	var notes []string
	var good, bad string
	order := u.prober.drawOrder([]int{asUsual, asBroken}, make([]int, outcomes), 1)
	for _, kind := range order {
		fails := kind == asBroken
		k := u.RandomNumber(1, n)
		if fails {
			k = u.RandomNumber(n+1, tooMany)
		}
		resp, payload, err := u.orderByColumn(closing, k)
		if err != nil {
			return err
		}
		if u.lost(resp, payload) != fails {
			u.IncrementCount(byChance)
			return nil
		}
		note := "an order by a column"
		if fails {
			bad, note = payload, "an order by a column that there is not"
		} else {
			good = payload
		}
		answers, notes = append(answers, resp), append(notes, note)
	}
	if len(order) == 0 {
		return nil
	}
	u.recordProof()
	u.reportInjection(u.dbms)
	u.RaiseAlert(activescan.Alert{Rule: byError, Request: u.Request.With(u.Point, bad), Payload: bad,
		Responses:     answers,
		ResponseNotes: notes,
		Proof: []string{fmt.Sprintf("The result has %s: the value %s is taken.", pluralize(n, "column"), good),
			"The value " + bad + ", which orders by a column that there is not, is not.",
			fmt.Sprintf("So it was in %d requests with columns drawn at random.", len(answers))}})
	return nil
}

// A frame puts a query into the statement.
type frame func(query string) string

// appendQueries puts queries behind a value that stands in a known place.
func appendQueries(head, closing string) frame {
	return func(query string) string { return head + closing + " UNION ALL " + query + " -- " }
}

// probeKnownColumns adds rows of a known number of columns: numbers, which many databases take for
// everything, texts, both, and last one text or number alone among nulls.
func (u *union) probeKnownColumns(head, closing string, n int) (bool, error) {
	at := appendQueries(head, closing)
	for _, query := range u.queryForms() {
		for _, kinds := range []string{rowOf(n, numeric, numeric), rowOf(n, numeric, textual),
			rowOf(n, textual, textual)} {
			if found, err := u.confirmRow(at, query, kinds); found || err != nil {
				return found, err
			}
			if n == 1 && kinds[0] == textual {
				break
			}
		}
		for k := range min(n, maxSingle) {
			kinds := []byte(rowOf(n, null, null))
			for _, kind := range []byte{textual, numeric} {
				kinds[k] = kind
				if found, err := u.confirmRow(at, query, string(kinds)); found || err != nil {
					return found, err
				}
			}
			if u.acceptsAnyType() {
				break
			}
		}
		if u.acceptsAnyType() {
			break
		}
	}
	return false, nil
}

// probeGuessedColumns adds rows of 1 to maxGuessed columns, wherever the value stands.
func (u *union) probeGuessedColumns(closing string) (bool, error) {
	at := func(query string) string { return polyglotValue(u.UnknownValue(), closing, " UNION ALL "+query) }
	shapes := []func(n int) string{
		func(n int) string { return rowOf(n, numeric, numeric) },
		func(n int) string { return rowOf(n, numeric, textual) },
		func(n int) string { return rowOf(n, textual, textual) },
	}
	if u.acceptsAnyType() {
		shapes = shapes[:1]
	}
	for i, shape := range shapes {
		for n := 1; n <= maxGuessed; n++ {
			if n == 1 && i == 1 {
				continue // as the first
			}
			if found, err := u.confirmRow(at, u.queryForms()[0], shape(n)); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// acceptsAnyType reports whether the database is known to take values of all types in a column.
func (u *union) acceptsAnyType() bool {
	return u.dbms == "mysql" || u.dbms == "sqlite" || u.dbms == "" &&
		(u.HasFact("proven:mysql") || u.HasFact("proven:sqlite"))
}

// queryForms are the forms of a query that reads no table, those of the database if it is
// known.
func (u *union) queryForms() []string {
	const plain, dual, values = "SELECT %s", "SELECT %s FROM DUAL", "VALUES(%s)"
	switch u.dbms {
	case "oracle":
		return []string{dual}
	case "hsqldb", "derby", "db2":
		return []string{values}
	case "":
		return []string{plain, dual, values}
	}
	return []string{plain}
}

// Kinds of the columns of a row that is added.
const (
	numeric = 'n'
	textual = 't'
	null    = '0'
)

// rowOf is one of n columns: the kind of the first, and that of the rest.
func rowOf(n int, first, rest byte) string {
	return string(first) + strings.Repeat(string(rest), n-1)
}

// fillRow writes a row with products, and tells what the database makes of each column;
// empty: null. A product has another number of digits than a part of it, and fits into
// 31 bits.
func (u *union) fillRow(query, kinds string) (filled string, products []string) {
	var columns []string
	for _, kind := range kinds {
		if kind == null {
			columns, products = append(columns, "NULL"), append(products, "")
			continue
		}
		a, b := u.RandomNumber(32_000, 46_340), u.RandomNumber(32_000, 46_340)
		column := fmt.Sprintf("%d*%d", a, b)
		if kind == textual { // of a length that all databases take; they fill it with spaces or not
			column = "CAST(" + column + " AS CHAR(12))"
		}
		columns, products = append(columns, column), append(products, fmt.Sprint(a*b))
	}
	return fmt.Sprintf(query, strings.Join(columns, ",")), products
}

// shownColumns are the numbers, from 1, of the columns whose products an answer shows.
func shownColumns(resp *message.Response, products []string) (columns []int) {
	text := resp.Text()
	for _, values := range resp.Header {
		text += "\n" + strings.Join(values, "\n")
	}
	for i, product := range products {
		if product != "" && slices.ContainsFunc(writtenNumbers(product), func(form string) bool {
			return strings.Contains(text, form)
		}) {
			columns = append(columns, i+1)
		}
	}
	return columns
}

// writtenNumbers are the ways in which pages write a number: as it is, with signs between
// thousands, and as a fraction with an exponent.
func writtenNumbers(product string) []string {
	forms := []string{product}
	for _, sign := range []string{",", ".", " ", "'", "’", "_", "\u00a0", "\u202f", "&nbsp;", "&#160;", "&#39;"} {
		grouped := product
		for i := len(product) - 3; i > 0; i -= 3 {
			grouped = grouped[:i] + sign + grouped[i:]
		}
		forms = append(forms, grouped)
	}
	digits := product[:1] + "." + strings.TrimRight(product[1:], "0")
	return append(forms, fmt.Sprintf("%se+%02d", digits, len(product)-1), fmt.Sprintf("%sE%d", digits, len(product)-1))
}

// confirmRow adds a row, and where its products are shown another one; then one with a word
// that SQL does not know, which must not be.
func (u *union) confirmRow(at frame, query, kinds string) (bool, error) {
	var columns []int
	var payload string
	var answers []*message.Response
	for range 2 {
		filled, products := u.fillRow(query, kinds)
		payload = at(filled)
		resp, err := u.sendValue(payload)
		if err != nil {
			return false, err
		}
		if columns = shownColumns(resp, products); len(columns) == 0 {
			return false, nil
		}
		u.left = max(u.left, 2) // for the proof
		answers = append(answers, resp)
	}
	filled, products := u.fillRow(query, kinds)
	wrong := at(strings.NewReplacer("SELECT", "SELECX", "VALUES", "VALUEX").Replace(filled))
	resp, err := u.sendValue(wrong)
	if err != nil || len(shownColumns(resp, products)) > 0 {
		return false, err
	}
	u.reportInjection(u.dbms)
	proof := []string{fmt.Sprintf("The value %s adds a row of %s to the result, and the response shows %s of it as "+
		"the database has computed it.", payload, pluralize(len(kinds), "column"), describeColumns(columns)),
		"So it was with other numbers.", "With a word that is not SQL in place of SELECT or VALUES no " +
			"computed number is shown: " + wrong}
	if u.dbms != "" {
		proof = append(proof, "The database is "+names[u.dbms]+".")
	}
	u.RaiseAlert(activescan.Alert{Rule: byUnion, Request: u.Request.With(u.Point, payload), Payload: payload,
		Responses: append(answers, resp),
		ResponseNotes: []string{"a row of products is added", "a row of other products", "the same with a word that " +
			"is not SQL"}, Proof: proof})
	return true, nil
}

// pluralize writes a number of things.
func pluralize(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// describeColumns names columns.
func describeColumns(columns []int) string {
	var all []string
	for _, n := range columns {
		all = append(all, fmt.Sprint(n))
	}
	if len(all) == 1 {
		return "column " + all[0]
	}
	return "the columns " + strings.Join(all, ", ")
}
