package credfile

import (
	"fmt"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads dumps of databases: the rows that INSERT and COPY put into a
// table with a column of passwords.

// maxRows is the number of rows of one table that are told one by one; the
// message of the last says how many more there are.
const maxRows = 20

// column is the name of a column with passwords.
var column = lazyregexp.New(`(?i)^(?:[a-z]*_?(?:password|passwd|pwd|passphrase|pass)(?:_?(?:hash|digest|crypt|salt|encrypted))?|encrypted_password|crypted_password|hashed_password|pass_?hash|api_?(?:key|token)|(?:access|auth|refresh|remember|secret|session)_?token|secret(?:_key)?|otp_secret|private_key)$`)

// findDump reports the secrets of every row.
func findDump(f *file, x *format) {
	f.perLine(x, stored)
	for at := indexFold(f.text, "insert into", 0); at >= 0; {
		d := dump{f: f, x: x, at: at + len("insert into")}
		d.insert()
		at = indexFold(f.text, "insert into", max(d.at, at+1))
	}
	for at := indexFold(f.text, "copy ", 0); at >= 0; {
		d := dump{f: f, x: x, at: at + len("copy ")}
		if at == 0 || f.text[at-1] == '\n' {
			d.copied()
		}
		at = indexFold(f.text, "copy ", d.at)
	}
}

// dump reads one statement.
type dump struct {
	f       *file
	x       *format
	at      int
	columns []bool
	rows    int
	last    int // index of the last report
}

// names reads a list of columns in parentheses and reports whether one holds
// passwords.
func (d *dump) names() bool {
	text := d.f.text
	open := strings.IndexByte(text[d.at:min(d.at+300, len(text))], '(')
	if open < 0 || containsFold(text[d.at:d.at+open], "values") || strings.ContainsAny(text[d.at:d.at+open], ";'") {
		return false
	}
	start := d.at + open + 1
	end := strings.IndexByte(text[start:min(start+16<<10, len(text))], ')')
	if end < 0 {
		return false
	}
	some := false
	for _, name := range strings.Split(text[start:start+end], ",") {
		is := column.MatchString(strings.Trim(name, " \t\r\n`\"[]"))
		d.columns = append(d.columns, is)
		some = some || is
	}
	d.at = start + end + 1
	return some
}

// insert reads the rows behind VALUES.
func (d *dump) insert() {
	if !d.names() {
		return
	}
	text := d.f.text
	i := indexFold(text[d.at:min(d.at+40, len(text))], "values", 0)
	if i < 0 {
		return
	}
	for d.at += i + len("values"); d.at < len(text); {
		switch c := text[d.at]; {
		case c == '(':
			d.at++
			d.row()
		case c <= ' ' || c == ',':
			d.at++
		case strings.HasPrefix(text[d.at:], "--") || c == '#':
			if d.at = next(text, '\n', d.at); d.at < 0 {
				d.at = len(text)
			}
		default:
			d.close()
			return
		}
	}
	d.close()
}

// row reads the values up to the closing parenthesis.
func (d *dump) row() {
	text := d.f.text
	var secrets []span
	depth := 0
	for n, start := 0, d.at; d.at < len(text); d.at++ {
		switch c := text[d.at]; c {
		case '\'', '"', '`':
			d.at = quoteEnd(text, d.at)
			continue
		case '(':
			depth++
			continue
		case ',', ')':
			if c == ')' && depth > 0 {
				depth--
				continue
			}
			if c == ',' && depth > 0 {
				continue
			}
		default:
			continue
		}
		if n < len(d.columns) && d.columns[n] {
			s, e := trimAll(text, start, d.at)
			if e-s > 2 && (text[s] == '\'' || text[s] == '"') {
				secrets = append(secrets, span{s + 1, e - 1})
			}
		}
		n, start = n+1, d.at+1
		if text[d.at] == ')' {
			d.at++
			break
		}
	}
	d.take(secrets)
}

func trimAll(text string, start, end int) (int, int) {
	for start < end && text[start] <= ' ' {
		start++
	}
	for end > start && text[end-1] <= ' ' {
		end--
	}
	return start, end
}

// quoteEnd returns the offset of the quote that ends the one at the offset.
func quoteEnd(text string, at int) int {
	q := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == q && i+1 < len(text) && text[i+1] == q:
			i++
		case text[i] == q:
			return i
		}
	}
	return len(text) - 1
}

// take reports the secrets of one row.
func (d *dump) take(secrets []span) {
	var values []span
	for _, s := range secrets {
		if s.start < s.end && !placeholder(d.f.text[s.start:s.end]) {
			values = append(values, s)
		}
	}
	if len(values) == 0 {
		return
	}
	if d.rows++; d.rows > maxRows || d.f.shown {
		return
	}
	for _, s := range values {
		d.f.report(Match{Rule: d.x.rule, Start: s.start, End: s.end})
	}
	d.last = len(d.f.found) - 1
}

// close says at the last row how many are not told.
func (d *dump) close() {
	if d.rows > maxRows && !d.f.shown {
		d.f.found[d.last].Note = fmt.Sprintf("and %d more rows", d.rows-maxRows)
	}
}

// copied reads the rows of COPY … FROM stdin, between tabs, up to "\.".
func (d *dump) copied() {
	if !d.names() {
		return
	}
	text := d.f.text
	line := next(text, '\n', d.at)
	if line < 0 || !containsFold(text[d.at:line], "from stdin") {
		return
	}
	d.at = line
	for start := line + 1; start < len(text); d.at = min(start, len(text)) {
		end := next(text, '\n', start)
		if end < 0 {
			end = len(text)
		}
		if strings.HasPrefix(text[start:end], `\.`) {
			break
		}
		var secrets []span
		for n, cell := 0, start; cell <= end && n < len(d.columns); n++ {
			stop := next(text[:end], '\t', cell)
			if stop < 0 {
				stop = end
			}
			if d.columns[n] && text[cell:stop] != `\N` {
				secrets = append(secrets, span{cell, stop})
			}
			cell = stop + 1
		}
		d.take(secrets)
		start = end + 1
	}
	d.close()
}
