package credfile

import (
	"fmt"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads dumps of databases: the rows that INSERT and COPY put into a
// table with a column of passwords.
//
// Real dumps are large, generated files: mysqldump writes one INSERT with thousands of rows
// per line, pg_dump one COPY per table with tab-separated lines. Only tables whose column list
// is given and contains a column of secrets are read; an INSERT without a column list is
// skipped, as its values have no names.

// maxRows is the number of rows of one table that are told one by one; the
// message of the last says how many more there are.
// A user table may have a million rows; the first 20 show what was lost, and a finding each
// for the rest would bury everything else.
const maxRows = 20

// column is the name of a column with passwords.
// The name must match as a whole: "user_password" and "password_hash" do,
// "password_changed_at" does not.
var column = lazyregexp.New(`(?i)^(?:[a-z]*_?(?:password|passwd|pwd|passphrase|pass)(?:_?(?:hash|digest|crypt|salt|encrypted))?|encrypted_password|crypted_password|hashed_password|pass_?hash|api_?(?:key|token)|(?:access|auth|refresh|remember|secret|session)_?token|secret(?:_key)?|otp_secret|private_key)$`)

// findDump reports the secrets of every row.
func findDump(f *file, x *format) {
	// Statements such as CREATE USER … IDENTIFIED BY 'x' are on one line and are found by their
	// words.
	f.reportPerLine(x, stored)
	// The search continues behind what was read; max prevents a standstill when nothing was.
	for at := indexFold(f.text, "insert into", 0); at >= 0; {
		d := statementReader{f: f, x: x, at: at + len("insert into")}
		d.readInsert()
		at = indexFold(f.text, "insert into", max(d.at, at+1))
	}
	for at := indexFold(f.text, "copy ", 0); at >= 0; {
		d := statementReader{f: f, x: x, at: at + len("copy ")}
		// COPY must begin a line; the word occurs in comments and texts too.
		if at == 0 || f.text[at-1] == '\n' {
			d.readCopy()
		}
		at = indexFold(f.text, "copy ", d.at)
	}
}

// statementReader reads one statement.
// It is made for each INSERT or COPY, so that rows are counted per table.
type statementReader struct {
	// Text of the dump and matches so far.
	f *file
	// The row of the format, for the rule of the findings.
	x *format
	// Offset of the next byte to read.
	at int
	// By position: the column has secrets.
	columns []bool
	// Rows with secrets so far, reported or not.
	rows int
	// In the matches of the file; valid once rows is above zero.
	last int // index of the last report
}

// readColumns reads a list of columns in parentheses and reports whether one holds
// passwords.
func (d *statementReader) readColumns() bool {
	// 300 bytes are enough for a name with schema and quotes. Without the bound each "insert into"
	// in a text would search the whole file.
	text := d.f.text
	open := strings.IndexByte(text[d.at:min(d.at+300, len(text))], '(')
	// "INSERT INTO t VALUES (" has no column list, and a semicolon or a quote shows that the
	// parenthesis belongs to something else.
	if open < 0 || containsFold(text[d.at:d.at+open], "values") || strings.ContainsAny(text[d.at:d.at+open], ";'") {
		return false
	}
	start := d.at + open + 1
	// 16 KiB are more than the longest list of columns in practice.
	end := strings.IndexByte(text[start:min(start+16<<10, len(text))], ')')
	if end < 0 {
		return false
	}
	some := false
	for _, name := range strings.Split(text[start:start+end], ",") {
		// MySQL quotes names with backticks, SQL Server with brackets, PostgreSQL with double
		// quotes.
		is := column.MatchString(strings.Trim(name, " \t\r\n`\"[]"))
		d.columns = append(d.columns, is)
		some = some || is
	}
	d.at = start + end + 1
	return some
}

// readInsert reads the rows behind VALUES.
func (d *statementReader) readInsert() {
	if !d.readColumns() {
		return
	}
	text := d.f.text
	// Between the list and VALUES there is white space only, or OVERRIDING SYSTEM VALUE, which is
	// rare and skipped.
	i := indexFold(text[d.at:min(d.at+40, len(text))], "values", 0)
	if i < 0 {
		return
	}
	for d.at += i + len("values"); d.at < len(text); {
		switch c := text[d.at]; {
		case c == '(':
			d.at++
			d.readRow()
		case c <= ' ' || c == ',':
			d.at++
		// Comments between rows: mysqldump --skip-extended-insert and hand-written seeds.
		case strings.HasPrefix(text[d.at:], "--") || c == '#':
			if d.at = nextByte(text, '\n', d.at); d.at < 0 {
				d.at = len(text)
			}
		// The semicolon, or ON DUPLICATE KEY …: the rows are over.
		default:
			d.reportOmitted()
			return
		}
	}
	d.reportOmitted()
}

// readRow reads the values up to the closing parenthesis.
// A row is a list of literals: (1, 'name', NULL, SHA1('x')). Commas inside of quotes and of
// calls do not separate.
func (d *statementReader) readRow() {
	text := d.f.text
	var secrets []span
	depth := 0
	// n is the index of the column, start the offset of its value.
	for n, start := 0, d.at; d.at < len(text); d.at++ {
		switch c := text[d.at]; c {
		case '\'', '"', '`':
			d.at = findQuoteEnd(text, d.at)
			continue
		case '(':
			depth++
			continue
		case ',', ')':
			// The closing parenthesis of a call such as NOW().
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
			s, e := trimSpaceBounds(text, start, d.at)
			// Only quoted values are secrets. A number or NULL in a column of passwords is none.
			// The length includes the quotes.
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
	d.reportRow(secrets)
}

// trimSpaceBounds moves the bounds inwards over white space of any kind, line ends
// included.
func trimSpaceBounds(text string, start, end int) (int, int) {
	for start < end && text[start] <= ' ' {
		start++
	}
	for end > start && text[end-1] <= ' ' {
		end--
	}
	return start, end
}

// findQuoteEnd returns the offset of the quote that ends the one at the offset.
// Quotes are escaped with a backslash (MySQL) or doubled (standard SQL). Without an end it is
// the end of the text.
func findQuoteEnd(text string, at int) int {
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

// reportRow reports the secrets of one row.
// A row counts if at least one of its secrets is no placeholder such as '***' or 'changeme'.
func (d *statementReader) reportRow(secrets []span) {
	var values []span
	for _, s := range secrets {
		if s.start < s.end && !isPlaceholder(d.f.text[s.start:s.end]) {
			values = append(values, s)
		}
	}
	if len(values) == 0 {
		return
	}
	// shown is set for tests, examples and manuals, whose rows are invented.
	if d.rows++; d.rows > maxRows || d.f.shown {
		return
	}
	for _, s := range values {
		d.f.addMatch(Match{Rule: d.x.rule, Start: s.start, End: s.end})
	}
	d.last = len(d.f.found) - 1
}

// reportOmitted says at the last row how many are not told.
func (d *statementReader) reportOmitted() {
	if d.rows > maxRows && !d.f.shown {
		d.f.found[d.last].Note = fmt.Sprintf("and %d more rows", d.rows-maxRows)
	}
}

// readCopy reads the rows of COPY … FROM stdin, between tabs, up to "\.".
// Values in the COPY format are not quoted; a null is \N. Tabs inside of values are escaped.
func (d *statementReader) readCopy() {
	if !d.readColumns() {
		return
	}
	text := d.f.text
	line := nextByte(text, '\n', d.at)
	if line < 0 || !containsFold(text[d.at:line], "from stdin") {
		return
	}
	d.at = line
	// The statement ends with "\." on a line of its own; a truncated dump ends with the file.
	for start := line + 1; start < len(text); d.at = min(start, len(text)) {
		end := nextByte(text, '\n', start)
		if end < 0 {
			end = len(text)
		}
		if strings.HasPrefix(text[start:end], `\.`) {
			break
		}
		var secrets []span
		for n, cell := 0, start; cell <= end && n < len(d.columns); n++ {
			stop := nextByte(text[:end], '\t', cell)
			if stop < 0 {
				stop = end
			}
			if d.columns[n] && text[cell:stop] != `\N` {
				secrets = append(secrets, span{cell, stop})
			}
			cell = stop + 1
		}
		d.reportRow(secrets)
		start = end + 1
	}
	d.reportOmitted()
}
