package credfile

import "strings"

// This file reads JSON and XML. Both readers take what people and programs write:
// comments, commas too many, elements that are not closed. They never fail, and
// say where each value stands.

// readJSON reads the texts and numbers of a document with their names.
func readJSON(f *file) []entry {
	r := &jsonReader{text: f.text, in: &scope{}}
	for r.at < len(r.text) {
		r.readToken()
	}
	return r.out
}

// jsonReader is the state of readJSON: where it is, and which name comes before the next
// value.
// Brackets need not match, quotes end at the end of the line: a file that is damaged or not
// JSON at all yields fewer entries, never an error.
type jsonReader struct {
	// The file, as UTF-8.
	text string
	// Offset of the next byte.
	at int
	// The object or list that is open. The outermost scope has no name.
	in *scope
	// Name of the next value, or of the last one.
	key string
	// after tells that a colon has been read, so that what comes is a value.
	after bool
	out   []entry
}

// readToken reads one token.
func (r *jsonReader) readToken() {
	c := r.text[r.at]
	switch {
	case c == '"' || c == '\'':
		r.readQuoted(c)
	// A nested object or list gets the name in front of it. Inside of a list there are no names:
	// its elements go by the name of the list, so after is set at once for '['.
	case c == '{' || c == '[':
		name := r.key
		if !r.after {
			name = r.in.name
		}
		r.in, r.after, r.key = &scope{name: name, outer: r.in}, c == '[', name
		r.at++
	case c == '}' || c == ']':
		// A closing bracket too many leaves the outermost scope open.
		if r.in.outer != nil {
			r.in = r.in.outer
		}
		r.after = false
		r.at++
	case c == ',':
		r.after = false
		r.at++
	case c == ':':
		r.after = true
		r.at++
	// Comments are no JSON, but common in configuration (JSONC, JSON5).
	case c == '/' && r.at+1 < len(r.text) && r.text[r.at+1] == '/', c == '#':
		r.skipPast("\n")
	case c == '/' && r.at+1 < len(r.text) && r.text[r.at+1] == '*':
		r.skipPast("*/")
	case c <= ' ':
		r.at++
	default:
		r.readBare()
	}
}

// skipPast moves behind the next place of a text, or to the end.
func (r *jsonReader) skipPast(to string) {
	if i := strings.Index(r.text[r.at:], to); i >= 0 {
		r.at += i + len(to)
		return
	}
	r.at = len(r.text)
}

// readQuoted reads a text, which is a key or a value.
func (r *jsonReader) readQuoted(q byte) {
	start := r.at + 1
	i := start
	// A text does not span lines; a missing quote costs one line only.
	for i < len(r.text) && r.text[i] != q && r.text[i] != '\n' {
		if r.text[i] == '\\' {
			i++
		}
		i++
	}
	// A backslash at the end of the file moves the offset past it.
	i = min(i, len(r.text))
	r.at = min(i+1, len(r.text))
	r.addEntry(start, i)
}

// readBare reads a number or a name without quotes.
func (r *jsonReader) readBare() {
	start := r.at
	for r.at < len(r.text) && !strings.ContainsRune(" \t\r\n,:{}[]\"'", rune(r.text[r.at])) {
		r.at++
	}
	// A byte that begins no name, for example a lone quote, must be skipped, or the loop would not
	// end.
	if r.at == start {
		r.at++
	}
	r.addEntry(start, r.at)
}

// addEntry adds a value, or takes it for the key of the next one.
// Keys in quotes and bare keys (JSON5) are treated alike.
func (r *jsonReader) addEntry(start, end int) {
	if r.after {
		r.out = append(r.out, entry{key: r.key, start: start, end: end, in: r.in})
		return
	}
	r.key = r.text[start:end]
}

// readXML reads attributes and texts with their names. The text of an element
// that has a name or key as attribute goes by that.
func readXML(f *file) []entry {
	// The bounds between tags are passed on as text; the tag changes the open element.
	r := &xmlReader{text: f.text, in: &scope{}}
	for r.at < len(r.text) {
		open := strings.IndexByte(r.text[r.at:], '<')
		if open < 0 {
			break
		}
		r.readText(r.at, r.at+open)
		r.at += open
		r.readTag()
	}
	return r.out
}

// xmlReader is the state of readXML.
// Names of the open elements are a chain of scopes, so that rules can ask for an element
// further up.
type xmlReader struct {
	text string
	at   int
	in   *scope // the element that is open
	name string // by which its text goes
	out  []entry
}

// readText takes the text before a tag.
func (r *xmlReader) readText(start, end int) {
	for start < end && r.text[start] <= ' ' {
		start++
	}
	for end > start && r.text[end-1] <= ' ' {
		end--
	}
	// 64 KiB: longer texts are embedded documents or images, not secrets.
	if start < end && end-start < 64<<10 && r.name != "" && r.in.outer != nil {
		r.out = append(r.out, entry{key: r.name, start: start, end: end, in: r.in.outer})
	}
}

// readTag reads what begins with "<".
func (r *xmlReader) readTag() {
	rest := r.text[r.at:]
	skip := func(to string) {
		if i := strings.Index(rest, to); i >= 0 {
			r.at += i + len(to)
			return
		}
		r.at = len(r.text)
	}
	switch {
	case strings.HasPrefix(rest, "<!--"):
		// Comments are skipped: examples in them are usually not in use.
		skip("-->")
	case strings.HasPrefix(rest, "<![CDATA["):
		// CDATA is text like any other, without escapes.
		start := r.at + len("<![CDATA[")
		skip("]]>")
		r.readText(start, max(start, r.at-len("]]>")))
	// The XML declaration, processing instructions and DOCTYPE.
	case strings.HasPrefix(rest, "<?"), strings.HasPrefix(rest, "<!"):
		skip(">")
	case strings.HasPrefix(rest, "</"):
		// End tags are not compared with start tags; one that is missing shifts the scopes and
		// nothing else.
		if r.in.outer != nil {
			r.in = r.in.outer
		}
		r.name = ""
		skip(">")
	default:
		r.readElement()
	}
}

// readElement reads a start tag with its attributes.
func (r *xmlReader) readElement() {
	r.at++
	name := r.readName()
	if name == "" {
		return
	}
	// The prefix of a namespace does not belong to the name: <ns:password>.
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	in := &scope{name: name, outer: r.in}
	called := name
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '>':
			r.at++
			r.in, r.name = in, called
			return
		case c == '/' && strings.HasPrefix(r.text[r.at:], "/>"):
			r.at += 2
			r.name = ""
			return
		case c == '<':
			// The next tag begins before this one ended: it is read on its own.
			return // the tag was never closed
		case c <= ' ' || c == '/' || c == '=' || c == '"' || c == '\'':
			r.at++
		default:
			key := r.readName()
			start, end := r.readAttribute()
			// Attributes without a value, as in HTML, have no secret.
			if start >= end {
				continue
			}
			r.out = append(r.out, entry{key: key, start: start, end: end, in: in})
			// <property name="password">secret</property>: the text goes by the value of the
			// attribute.
			if k := normalizeName(key); k == "name" || k == "key" {
				called = r.text[start:end]
			}
		}
	}
}

// readAttribute reads ="value" and returns the bounds of the value.
// White space may surround the equals sign. Without quotes there is no value.
func (r *xmlReader) readAttribute() (start, end int) {
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
	if r.at >= len(r.text) || r.text[r.at] != '=' {
		return 0, 0
	}
	r.at++
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
	if r.at >= len(r.text) || r.text[r.at] != '"' && r.text[r.at] != '\'' {
		return 0, 0
	}
	start = r.at + 1
	// An attribute may span lines. Without its closing quote the rest of the file cannot be read.
	i := strings.IndexByte(r.text[start:], r.text[r.at])
	if i < 0 {
		r.at = len(r.text)
		return 0, 0
	}
	r.at = start + i + 1
	return start, start + i
}

// readName reads a name of a tag or an attribute. What ends it is left.
func (r *xmlReader) readName() string {
	start := r.at
	for r.at < len(r.text) && r.text[r.at] > ' ' && !strings.ContainsRune(`=/><"'`, rune(r.text[r.at])) {
		r.at++
	}
	return r.text[start:r.at]
}
