package credfile

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file reads formats that put one thing on a line.

// eachLine calls fn with the bounds of each line, without its end.
// Lines end with LF or CRLF; the last one may have no end. The offsets are those of the whole
// text, as findings need them.
func eachLine(text string, fn func(start, end int)) {
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		stop := end
		if stop > start && text[stop-1] == '\r' {
			stop--
		}
		fn(start, stop)
		start = end + 1
	}
}

// trimBounds moves the bounds inwards over white space.
func trimBounds(text string, start, end int) (int, int) {
	for start < end && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	for end > start && (text[end-1] == ' ' || text[end-1] == '\t' || text[end-1] == '\r') {
		end--
	}
	return start, end
}

// isComment reports whether the line is a comment.
// The marks are those of shells, INI files, C, SQL, XML and batch files.
// "//registry…:_authToken" of .npmrc begins like a comment and is none.
func isComment(line string) bool {
	for _, mark := range []string{"#", ";", "//", "--", "/*", "* ", "<!--", "rem ", "REM "} {
		if strings.HasPrefix(line, mark) && !strings.HasPrefix(line, "//reg") && !strings.Contains(line, "/:_") {
			return true
		}
	}
	return false
}

// verbs stand before the name in shells.
// Several may follow each other: "export readonly A=b", "private static final String a".
var verbs = lazyregexp.New(`^(?:export|set|setenv|declare(?: -\w+)*|local|readonly|env|ENV|ARG|SET|set -\w+|public|private|protected|static|const|var|let|final|val|def)\s+`)

// readAssignments reads lines such as KEY=value, key: value, export KEY="value"
// and, with sections, [section].
func readAssignments(f *file) []entry {
	var out []entry
	in := &scope{}
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		line := f.text[start:end]
		// 16 KiB: longer lines are data, and every reader must take time in proportion to the
		// text.
		if line == "" || len(line) > 16<<10 || isComment(line) {
			return
		}
		// A line in brackets begins a section, whose name is the scope of the entries behind it.
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			in = &scope{name: strings.Trim(line, `[]" `)}
			return
		}
		if e, ok := parseStatement(f, start, end, in); ok {
			out = append(out, e)
		}
	})
	return out
}

// parseStatement reads an assignment between the bounds, with the verbs before it. Some
// verbs of shells are followed by the name and the value without a sign between them.
func parseStatement(f *file, start, end int, in *scope) (entry, bool) {
	for {
		m := verbs.FindString(f.text[start:end])
		if m == "" {
			return parseAssignment(f, start, end, in)
		}
		// csh and batch files: "setenv NAME value", "set NAME value".
		if m == "setenv " || m == "set " && !strings.Contains(f.text[start:end], "=") {
			return parseWord(f, start+len(m), end, in)
		}
		start += len(m)
	}
}

// parseAssignment reads key = value or key: value between the bounds.
func parseAssignment(f *file, start, end int, in *scope) (entry, bool) {
	line := f.text[start:end]
	at := strings.IndexByte(line, '=')
	// The first of "=" and ": " separates. A colon without a blank is part of the key, as in
	// "host:port=x".
	if c := strings.IndexByte(line, ':'); c >= 0 && (at < 0 || c < at && c+1 < len(line) && line[c+1] == ' ') {
		at = c
	}
	if at <= 0 {
		return entry{}, false
	}
	// "key ?= value", "key := value" and "key += value" are assignments, too (make).
	key := strings.TrimRight(line[:at], " \t:?+")
	key = strings.Trim(key, `"'$[]`)
	// A name with such signs is code and not a key.
	if key == "" || len(key) > 200 || strings.ContainsAny(key, "(){}<>;,!") {
		return entry{}, false
	}
	at, ok := skipOperator(line, at+1)
	if !ok {
		return entry{}, false
	}
	s, e := valueBounds(f.text, start+at, end)
	return entry{key: key, start: s, end: e, in: in}, s < e
}

// skipOperator passes over what follows the first sign of an assignment: "=>", "=~". It
// reports false for "==", a comparison.
// Ruby and Puppet write "=>", some configurations "=~".
func skipOperator(line string, at int) (int, bool) {
	for at < len(line) && (line[at] == '=' || line[at] == '>' || line[at] == '~') {
		if line[at] == '=' && line[at-1] == '=' {
			return at, false
		}
		at++
	}
	return at, true
}

// parseWord reads "name value" between the bounds.
// Files with blanks as separators: "password secret".
func parseWord(f *file, start, end int, in *scope) (entry, bool) {
	start, end = trimBounds(f.text, start, end)
	i := strings.IndexAny(f.text[start:end], " \t")
	if i < 0 {
		return entry{}, false
	}
	s, e := valueBounds(f.text, start+i, end)
	return entry{key: strings.Trim(f.text[start:start+i], `"':`), start: s, end: e, in: in}, s < e
}

// valueBounds returns the bounds of a value: what is between quotes, or all up to a
// comment or the sign that ends a statement.
func valueBounds(text string, start, end int) (int, int) {
	start, end = trimBounds(text, start, end)
	if start == end {
		return start, start
	}
	// Quotes end the value. Only in double quotes a backslash escapes.
	if q := text[start]; q == '"' || q == '\'' || q == '`' {
		for i := start + 1; i < end; i++ {
			if text[i] == '\\' && q == '"' {
				i++
				continue
			}
			if text[i] == q {
				return start + 1, i
			}
		}
		// A quote without an end: the value may continue on the next line; the rest of the line is
		// taken.
		return start, end
	}
	// A mark of a comment counts only behind a blank: "#" and "//" occur in passwords and URLs.
	for _, mark := range []string{" #", "\t#", " ;", "\t;", " //", "\t//"} {
		if i := strings.Index(text[start:end], mark); i >= 0 {
			end = start + i
		}
	}
	start, end = trimBounds(text, start, end)
	// Signs that end statements in code and JSON.
	for end > start && (text[end-1] == ';' || text[end-1] == ',') {
		end--
	}
	return start, end
}

// readWords reads lines such as: password "value". What stands before the last
// of the words of a key, as in "set imap_pass = x", is read as assignment.
// An example is .netrc-like configuration: "user admin password secret".
func readWords(f *file) []entry {
	out := readAssignments(f)
	in := &scope{}
	eachLine(f.text, func(start, end int) {
		start, end = trimBounds(f.text, start, end)
		if line := f.text[start:end]; line == "" || len(line) > 16<<10 || isComment(line) ||
			strings.IndexByte(line, '=') >= 0 {
			return
		}
		// Every word may be the key of the next one: login x password y.
		for start < end {
			e, ok := parseWord(f, start, end, in)
			if !ok {
				return
			}
			if isSecretName(e.key) {
				// The value of a bare word ends at the next blank; in quotes it has blanks.
				if text := f.text[e.start:e.end]; e.start > start && f.text[e.start-1] != '"' &&
					f.text[e.start-1] != '\'' {
					if i := strings.IndexAny(text, " \t"); i > 0 {
						e.end = e.start + i
					}
				}
				out = append(out, e)
			}
			next := strings.IndexAny(f.text[start:end], " \t")
			start, _ = trimBounds(f.text, start+next, end)
		}
	})
	return out
}

// readYAML reads block style: "key: value" with the keys above it by their
// indentation, and items of lists, also those of the form NAME=value. It reads
// files with placeholders of a template engine too, which no parser of YAML does.
func readYAML(f *file) []entry {
	r := yamlReader{f: f, stack: []yamlLevel{{-1, &scope{}, false}}, blockIndent: -1}
	eachLine(f.text, r.readLine)
	return r.out
}

// yamlReader is the state of readYAML between two lines.
// Only the nesting is followed: which keys are above a line. Aliases, tags and flow style
// beyond a line are not resolved.
type yamlReader struct {
	f           *file
	stack       []yamlLevel // from the document down to where the line stands
	blockIndent int         // of the key of a text block, whose lines are not entries; -1 outside
	out         []entry
}

// yamlLevel is a mapping or an item that is open.
type yamlLevel struct {
	// The number of blanks in front of the key; tabs count as one.
	indent int
	// The names above.
	in   *scope
	item bool // of a list, which may stand as far left as its key
}

// top returns the innermost level that is open.
// The stack is never empty: the document itself is its first level.
func (r *yamlReader) top() yamlLevel { return r.stack[len(r.stack)-1] }

// readLine reads a line between the bounds.
func (r *yamlReader) readLine(start, end int) {
	text := r.f.text
	from, end := trimBounds(text, start, end)
	line := text[from:end]
	indent := from - start
	// Lines of a text block ("key: |") are indented further than the key; they are skipped as a
	// whole.
	if line == "" || line[0] == '#' || len(line) > 16<<10 || r.blockIndent >= 0 && indent > r.blockIndent {
		return
	}
	r.blockIndent = -1
	// A new document of the file.
	if strings.HasPrefix(line, "---") {
		r.stack = r.stack[:1]
		return
	}
	// "- - a" opens several items at once. Each moves the indentation behind its dash.
	for strings.HasPrefix(text[from:end], "- ") {
		r.openItem(indent)
		rest, _ := trimBounds(text, from+1, end)
		indent += rest - from
		from = rest
	}
	// A line that is not indented further ends the levels beside it.
	for len(r.stack) > 1 && r.top().indent >= indent {
		r.stack = r.stack[:len(r.stack)-1]
	}
	r.readEntry(from, end, indent)
}

// openItem opens an item of a list at the indentation, and ends what is further right
// and the item before it.
// An item may be at the same indentation as its key: YAML allows "key:" and "- a" in one
// column.
func (r *yamlReader) openItem(indent int) {
	for len(r.stack) > 1 && (r.top().indent > indent || r.top().indent == indent && r.top().item) {
		r.stack = r.stack[:len(r.stack)-1]
	}
	outer := r.top().in
	r.stack = append(r.stack, yamlLevel{indent, &scope{name: outer.name, outer: outer}, true})
}

// readEntry reads "key: value", or NAME=value of an item, between the bounds. A key
// without a value opens a mapping; one with "|" or ">" a block of text.
func (r *yamlReader) readEntry(from, end, indent int) {
	text, in := r.f.text, r.top().in
	colon := findKeyEnd(text[from:end])
	// An item without a colon may be an assignment: "- DB_PASSWORD=secret" of Docker Compose.
	if colon < 0 {
		if e, ok := parseAssignment(r.f, from, end, in); ok && strings.IndexByte(e.key, ' ') < 0 {
			r.out = append(r.out, cutAtOpenQuote(text, e))
		}
		return
	}
	key := strings.Trim(text[from:from+colon], `"' `)
	s, e := valueBounds(text, from+colon+1, end)
	// "!vault |" is encrypted by Ansible and stays, so that it is recognized as no secret.
	if s < e && (text[s] == '!' || text[s] == '&') { // a tag or an anchor
		if i := strings.IndexByte(text[s:e], ' '); i > 0 && !strings.HasPrefix(text[s:e], "!vault") {
			s, e = valueBounds(text, s+i, end)
		}
	}
	switch v := text[s:e]; {
	// The value follows on the next lines: a mapping or a list.
	case v == "":
		r.stack = append(r.stack, yamlLevel{indent, &scope{name: key, outer: in}, false})
	case v[0] == '|' || v[0] == '>' && len(v) < 4:
		r.blockIndent = indent
	default:
		r.out = append(r.out, entry{key: key, start: s, end: e, in: in})
	}
}

// cutAtOpenQuote moves the end of an entry before a quote that began before its key.
// In - "NAME=value" the quote belongs to the whole item.
func cutAtOpenQuote(text string, e entry) entry {
	if e.end > e.start && (text[e.end-1] == '"' || text[e.end-1] == '\'') && text[e.start-1] != text[e.end-1] {
		e.end--
	}
	return e
}

// findKeyEnd returns where the colon behind a key stands, or -1.
// A colon counts only in front of a blank or the end of the line. A quoted key may contain
// colons.
func findKeyEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"', '\'':
			q := strings.IndexByte(line[i+1:], line[i])
			if i > 0 || q < 0 {
				return -1
			}
			i += q + 1
		case ':':
			if i > 0 && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
				return i
			}
		// An equals sign in front of the colon: the line is an assignment.
		case '=', '{':
			return -1
		}
	}
	return -1
}

// readINI reads lines of "key = value" in sections, of TOML too.
// TOML has the same lines; its tables are sections. Multi-line texts are not read.
func readINI(f *file) []entry { return readAssignments(f) }

// literal is a name that gets a text, in most languages: define('A', 'b'),
// 'a' => 'b', $a['b'] = 'c', a: "b", a.b = "c".
var literal = lazyregexp.New(`(?:\bdefine\s*\(\s*['"]([A-Za-z_][\w.-]*)['"]\s*,|([A-Za-z_][\w.-]*)['"]?\s*\]?\s*(?:=>|:=|=|:)|(?:config|set|put)\s*\(?\s*:?['"]?([A-Za-z_][\w.-]*)['"]?\s*,)\s*(?:[bru]?)(["'])`)

// readCode reads the names that get texts in a program.
// Only literals in quotes count: a call or a variable is not the secret itself.
func readCode(f *file) []entry {
	var out []entry
	in := &scope{}
	eachLine(f.text, func(start, end int) {
		from, to := trimBounds(f.text, start, end)
		line := f.text[from:to]
		// 4 KiB: minified code is left to the detectors that work on any text.
		if len(line) > 4<<10 || isComment(line) {
			return
		}
		for at := 0; at < len(line); {
			m := literal.FindStringSubmatchIndex(line[at:])
			if m == nil {
				return
			}
			// The three groups of the expression are the three spellings; one of them matches.
			key := ""
			for g := 2; g <= 6; g += 2 {
				if m[g] >= 0 {
					key = line[at+m[g] : at+m[g+1]]
				}
			}
			s, e := valueBounds(f.text, from+at+m[8], to)
			if s > from+at+m[8] { // the quote is closed
				out = append(out, entry{key: key, start: s, end: e, in: in})
			}
			// The search continues behind the value, since several assignments may be on one line.
			at = max(e-from+1, at+m[1])
		}
	})
	return out
}

// readColumns reads lines of fields between colons and gives every field its
// number as key.
// The number of a field is its key: keys: "5" is the password of .pgpass. A backslash escapes
// a colon.
func readColumns(f *file) []entry {
	var out []entry
	eachLine(f.text, func(start, end int) {
		from, to := trimBounds(f.text, start, end)
		if from == to || f.text[from] == '#' || to-from > 4<<10 {
			return
		}
		in := &scope{}
		number := byte('1')
		field := from
		for i := from; i <= to && number <= '9'; i++ {
			if i < to && f.text[i] == '\\' {
				i++
				continue
			}
			if i == to || f.text[i] == ':' {
				out = append(out, entry{key: string(number), start: field, end: i, in: in})
				field = i + 1
				number++
			}
		}
	})
	return out
}
