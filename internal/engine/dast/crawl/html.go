package crawl

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"merlon/internal/engine/dast/crawl/script"
	"merlon/internal/lazyregexp"
)

// This file reads pages.

// addressAttributes hold one address (HTML 5 and what browsers and older pages know).
var addressAttributes = map[string]bool{
	"href": true, "src": true, "data": true, "poster": true, "background": true, "cite": true, "longdesc": true,
	"action": true, "formaction": true, "manifest": true,
	"profile": true, "usemap": true, "dynsrc": true, "lowsrc": true, "classid": true, "codebase": true, "icon": true,
	"itemid": true, "itemtype": false, "ping": true, "archive": true,
	"xlink:href": true, "code": true, "object": true, "implementation": true, "from": false, "to": false, "url": true,
	"uri": true, "link": true, "hx-get": true, "ng-href": true, "ng-src": true, "ng-include": true, "up-href": true,
	"formtarget": false,
}

// maxFragments bounds pages inside of pages.
const maxFragments = 4

// readDocument reads a document: its base first, then every element, its forms in the end.
func (r *reader) readDocument(doc *html.Node) {
	r.readBase(doc)
	for n := range doc.Descendants() {
		switch n.Type {
		case html.ElementNode:
			r.readElement(n)
		case html.DoctypeNode:
			r.addAddress(attributeValue(n, "system"), "link")
		case html.CommentNode:
			r.readComment(n.Data)
		case html.TextNode:
			if p := n.Parent; p != nil && p.Type == html.ElementNode && p.Data != "script" && p.Data != "style" {
				r.readAddresses(n.Data, "text")
				r.readWrittenPaths(n.Data)
			}
		}
	}
	for _, f := range formsOf(doc) {
		f.values = r.values
		r.readForm(f)
	}
}

// readBase reads the first element base that names a host: relative addresses of the whole
// document begin there (HTML, section 4.2.3).
func (r *reader) readBase(doc *html.Node) {
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "base" {
			continue
		}
		if u, err := r.base.Parse(strings.TrimSpace(attributeValue(n, "href"))); err == nil && u.Host != "" {
			r.addAddress(attributeValue(n, "href"), "link")
			r.base = u
			return
		}
	}
}

// readForm adds the requests of a form, with the list that alone decides what one of them
// does, and as one that script sends where nothing else does.
func (r *reader) readForm(f *form) {
	requests := f.submitRequests(r.base)
	r.found.Requests = append(r.found.Requests, requests...)
	for _, q := range requests {
		if list := f.choiceList(q); list != nil {
			r.found.choosers[q] = list
		}
	}
	if typed := f.typedFields(); f.isSentByScript() && len(typed) > 0 {
		for _, q := range requests {
			r.found.scripted = append(r.found.scripted, &scriptForm{request: q, typed: typed})
		}
	}
}

// readWrittenPaths finds paths that a text writes out, as in lists of files. Those in
// the traces of errors are files of the server, with lines. Two slashes are the least
// for a path that is more than a word.
func (r *reader) readWrittenPaths(text string) {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, `"'.,;()[]`)
		if strings.HasPrefix(word, "/") && len(word) < 200 && strings.Count(word, "/") > 1 &&
			script.LooksLikeAddress(word) &&
			!traced.MatchString(word) {
			r.addAddress(word, "text")
		}
	}
}

// traced is a place in a file.
var traced = lazyregexp.New(`:\d+$`)

// attributeValue returns an attribute of an element, or "".
func attributeValue(n *html.Node, name string) string {
	v, _ := lookupAttribute(n, name)
	return v
}

// lookupAttribute returns an attribute and whether the element has it. Attributes of
// SVG are named with their namespace.
func lookupAttribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + a.Key
		}
		if key == name {
			return a.Val, true
		}
	}
	return "", false
}

// readElement reads the attributes of an element, and the code or style in it. Markup
// inside of scripts and of elements that browsers hide is read as well.
func (r *reader) readElement(n *html.Node) {
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + a.Key
		}
		r.readAttribute(n, key, a.Val)
	}
	switch n.Data {
	case "script":
		if q := Resolve(r.base, attributeValue(n, "src"), "script"); q != nil {
			r.found.code.files = append(r.found.code.files, q.Address())
		}
		if n.FirstChild == nil {
			return
		}
		switch kind := strings.ToLower(attributeValue(n, "type")); {
		case strings.Contains(kind, "json"):
			r.readJSON(n.FirstChild.Data)
		case strings.Contains(kind, "html"), strings.Contains(kind, "template"):
			r.readFragment(n.FirstChild.Data)
		default:
			r.readScript(n.FirstChild.Data)
		}
	case "style":
		if n.FirstChild != nil {
			r.readStyle(n.FirstChild.Data)
		}
	case "noscript", "iframe", "noembed", "noframes", "xmp", "template":
		if n.FirstChild != nil && n.FirstChild.Type == html.TextNode {
			r.readFragment(n.FirstChild.Data)
		}
	}
}

// readAttribute reads one attribute.
func (r *reader) readAttribute(n *html.Node, key, value string) {
	value = strings.TrimSpace(value)
	if value == "" || n.Data == "base" {
		return
	}
	switch {
	case n.Data == "form" && key == "action", key == "formaction":
		// forms read them
	case key == "srcdoc":
		r.readFragment(value)
	case key == "style":
		r.readStyle(value)
	case strings.HasPrefix(key, "on"):
		r.readScript(value)
	case key == "content" && n.Data == "meta":
		r.readMeta(n, value)
	default:
		for _, address := range attributeAddresses(n.Data, key, value) {
			r.addAddress(address, "link")
		}
	}
}

// attributeAddresses returns the addresses that an attribute of an element holds: one in
// most attributes that have any, several in some, and in others one only where the value
// looks like it.
func attributeAddresses(element, key, value string) []string {
	switch key {
	case "usemap":
		if strings.HasPrefix(value, "#") { // a map of the page itself
			return nil
		}
	case "srcset", "imagesrcset":
		var out []string
		for candidate := range strings.SplitSeq(value, ",") {
			if fields := strings.Fields(candidate); len(fields) > 0 {
				out = append(out, fields[0])
			}
		}
		return out
	case "ping", "archive":
		return strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' })
	case "value":
		if !holdsValueAddress(element, value) {
			return nil
		}
	default:
		scripted := strings.HasPrefix(key, "data-") || strings.HasPrefix(key, "hx-")
		if !addressAttributes[key] && !(scripted && script.LooksLikeAddress(value)) {
			return nil
		}
	}
	return []string{value}
}

// holdsValueAddress reports whether the attribute value of an element is an address: of a
// parameter for a plug-in, or of a list that leads to pages.
func holdsValueAddress(element, value string) bool {
	switch element {
	case "param":
		return script.LooksLikeAddress(value) || strings.Contains(value, ".")
	case "option":
		return script.LooksLikeAddress(value)
	}
	return false
}

// readMeta reads an element meta.
func (r *reader) readMeta(n *html.Node, value string) {
	switch strings.ToLower(attributeValue(n, "http-equiv")) {
	case "refresh":
		if m := refresh.FindStringSubmatch(value); m != nil && m[1] != "" {
			r.addAddress(m[1], "link")
		}
	case "content-security-policy", "content-security-policy-report-only":
		r.readPolicy(value)
	default:
		switch {
		case strings.Contains(value, "<"):
			r.readFragment(value)
		case script.LooksLikeAddress(value):
			r.addAddress(value, "link")
		}
	}
}

// readPolicy reads the addresses of a Content Security Policy: where reports go, and
// sources with a path.
func (r *reader) readPolicy(value string) {
	for directive := range strings.SplitSeq(value, ";") {
		fields := strings.Fields(directive)
		if len(fields) < 2 {
			continue
		}
		if fields[0] == "report-uri" {
			r.addAddress(fields[1], "link")
			continue
		}
		for _, f := range fields[1:] {
			if u, err := url.Parse(f); err == nil && u.Host != "" && u.Path != "" && !strings.Contains(f, "*") {
				r.addAddress(f, "link")
			}
		}
	}
}

// readFrames reads elements that the parser leaves out where they do not belong, which
// older browsers show. The parser drops frames outside of a frameset.
func (r *reader) readFrames(text string) {
	for _, m := range frame.FindAllStringSubmatch(text, 1000) {
		r.addAddress(html.UnescapeString(firstGroup(m)), "link")
	}
}

var frame = lazyregexp.New(`(?i)<(?:frame|isindex)\s[^>]*?(?:src|action|href)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// readComment reads what was commented out: markup, else addresses. Conditional
// comments of Internet Explorer hold markup.
func (r *reader) readComment(text string) {
	if inner, ok := strings.CutPrefix(text, "[if"); ok {
		if _, body, found := strings.Cut(inner, "]>"); found {
			text = strings.TrimSuffix(body, "<![endif]")
		}
	}
	if strings.Contains(text, "<") {
		r.readFragment(text)
		return
	}
	r.readAddresses(text, "comment")
	for word := range strings.FieldsSeq(text) {
		if word = strings.Trim(word, `"'.,;()`); strings.HasPrefix(word, "/") && script.LooksLikeAddress(word) {
			r.addAddress(word, "comment")
		}
	}
}

// readFragment reads markup inside of a page. The base of the page holds for it and is
// restored behind it.
func (r *reader) readFragment(text string) {
	if r.deep == maxFragments {
		return
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return
	}
	base := r.base
	r.deep++
	r.readDocument(doc)
	r.deep--
	r.base = base
}
