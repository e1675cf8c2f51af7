package sqlinjection

import (
	"fmt"
	"strconv"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file tells where in a statement a value may stand.

// A form is a value that a statement takes, and one that breaks it, though it differs
// only in a word of SQL. Wrong is what an error names then: that word, or what follows it.
// No is the good value with a condition that is false; empty: there is none.
type form struct{ good, bad, wrong, no string }

// A place is one of a statement that the value may stand at.
type place struct {
	kind string
	// make returns a form; the arguments make payloads different from each other.
	make   func(n int, r string) form
	form   form              // that was asked for
	answer *message.Response // to its good value; nil: not asked for yet
	done   bool              // it was looked at to its end
}

// sendGoodValue asks for the good value of a form, once.
func (pl *place) sendGoodValue(s *prober) (err error) {
	if pl.answer == nil {
		s.looked++
		pl.form = s.newForm(pl)
		pl.answer, err = s.SendValue(pl.form.good)
	}
	return err
}

// newForm makes another form.
func (s *prober) newForm(pl *place) form {
	return pl.make(s.RandomNumber(1000, 4999), s.RandomLetters(4))
}

// injectionContexts are those that the value may stand at, those that fit most first.
func (s *prober) injectionContexts() (likely, others []*place) {
	v := s.value
	quoted := func(q string) *place {
		return &place{kind: q, make: func(_ int, r string) form {
			// without spaces, which filters take out
			and := func(word, other string) string { return v + q + word + q + r + q + "=" + q + other }
			return form{and("AND", r), and("ANX", r), "ANX", and("AND", s.RandomLetters(4))}
		}}
	}
	number := &place{kind: "number", make: func(n int, _ string) form {
		return form{fmt.Sprintf("%s AND %d=%d", v, n, n), fmt.Sprintf("%s ANX %d=%d", v, n, n), "ANX",
			fmt.Sprintf("%s AND %d=%d", v, n, n+s.RandomNumber(1, 4000))}
	}}
	cast := func(before, after, kind string) *place {
		return &place{make: func(n int, _ string) form {
			return form{fmt.Sprintf("%s%sCAST(%d AS %s)%s", v, before, n, kind, after),
				fmt.Sprintf("%s%sCAST(%d AZ %s)%s", v, before, n, kind, after), "AZ", ""}
		}}
	}
	list := &place{kind: "list", make: func(n int, _ string) form {
		return form{fmt.Sprintf("%s,(CASE WHEN %d=%d THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%s,(CASE WHEM %d=%d "+
			"THEN 1 ELSE 2 END)", v, n, n), fmt.Sprintf("%d=%d THEN", n, n), ""}
	}}
	table := &place{make: func(n int, _ string) form {
		return form{fmt.Sprintf("%s WHERE %d=%d -- ", v, n, n), fmt.Sprintf("%s WHERX %d=%d -- ", v, n, n), "WHERX", ""}
	}}
	// MySQL joins strings that stand beside each other. Python and Ruby do so as well, but
	// know no such comment.
	beside := &place{make: func(_ int, r string) form {
		return form{v + "' /**/ '" + r, v + "' /**/ AZ '" + r, "AZ", ""}
	}}
	// A limit takes nothing but a number in MySQL; what follows it may be said all the same.
	locked := &place{make: func(_ int, _ string) form {
		return form{v + " LOCK IN SHARE MODE -- ", v + " LOCK IN SHARE MODX -- ", "MODX", ""}
	}}
	spaceless := &place{make: func(_ int, r string) form {
		return form{v + "-0*LENGTH('" + r + "')", v + "-0*LENGTX('" + r + "')", "LENGTX", ""}
	}}
	likely = []*place{quoted("'")}
	others = []*place{cast("'||", "||'", "CHAR(4)")}
	switch {
	case s.matchesDatabase("mysql"):
		others = append([]*place{beside}, others...)
	case s.dbms == "orm" || s.dbms == "":
		others = append(others, beside)
	}
	if s.isNumber() {
		likely = append([]*place{number}, likely...)
		others = append(others, cast("-0*", "", "DECIMAL"), spaceless)
		if limits.MatchString(s.Point.Name) {
			others = append(others, locked)
		}
	} else {
		others = append(others, number)
	}
	switch {
	case !column.MatchString(v):
	case orders.MatchString(s.Point.Name):
		likely = append([]*place{list}, likely...)
	default:
		others = append(others, list)
	}
	others = append(others, quoted(`"`), table, cast("'+", "+'", "CHAR(4)"))
	if s.dbms != "" { // other languages have comments too
		others = append(others, &place{make: func(_ int, r string) form {
			return form{v + "/* " + r + " */", v + "/* " + r + " *", "", ""}
		}})
	}
	return likely, others
}

// orders are names of parameters that say how a list is ordered.
var orders = lazyregexp.New(`(?i)order|sort|column|group|dir$|^by|by$`)

// limits are names of parameters that say how much of a list is shown.
var limits = lazyregexp.New(`(?i)limit|offset|count|size|start|skip|page|rows|first|from|max|top|num|begin|^n$`)

// column is what a list can be ordered by: a name, or the number of a column.
var column = lazyregexp.New(`(?i)^(?:[a-z_][\w.]*|\d+)(?: (?:asc|desc))?$`)

// isNumber reports whether the value is a number.
func (s *prober) isNumber() bool {
	_, err := strconv.ParseFloat(s.value, 64)
	return err == nil
}
