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
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "base" {
			if u, err := r.base.Parse(strings.TrimSpace(attributeOf(n, "href"))); err == nil && u.Host != "" {
				r.addAddress(attributeOf(n, "href"), "link")
				r.base = u
				break
			}
		}
	}
	for n := range doc.Descendants() {
		switch n.Type {
		case html.ElementNode:
			r.readElement(n)
		case html.DoctypeNode:
			r.addAddress(attributeOf(n, "system"), "link")
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
		requests := f.submitRequests(r.base)
		r.found.Requests = append(r.found.Requests, requests...)
		for _, q := range requests {
			if list := f.chooser(q); list != nil {
				r.found.choosers[q] = list
			}
		}
		if typed := f.typedFields(); f.byScript() && len(typed) > 0 {
			for _, q := range requests {
				r.found.scripted = append(r.found.scripted, &scripted{request: q, typed: typed})
			}
		}
	}
}

// readWrittenPaths finds paths that a text writes out, as in lists of files. Those in the traces
// of errors are files of the server, with lines.
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

func attributeOf(n *html.Node, name string) string {
	v, _ := lookup(n, name)
	return v
}

func lookup(n *html.Node, name string) (string, bool) {
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

// readElement reads the attributes of an element, and the code or style in it.
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
		if q := Resolve(r.base, attributeOf(n, "src"), "script"); q != nil {
			r.found.code.files = append(r.found.code.files, q.Address())
		}
		if n.FirstChild == nil {
			return
		}
		switch kind := strings.ToLower(attributeOf(n, "type")); {
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
		return // forms read them
	case key == "usemap":
		if !strings.HasPrefix(value, "#") {
			r.addAddress(value, "link")
		}
	case key == "srcset" || key == "imagesrcset":
		for candidate := range strings.SplitSeq(value, ",") {
			if fields := strings.Fields(candidate); len(fields) > 0 {
				r.addAddress(fields[0], "link")
			}
		}
	case key == "ping" || key == "archive":
		for _, a := range strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' }) {
			r.addAddress(a, "link")
		}
	case key == "srcdoc":
		r.readFragment(value)
	case key == "style":
		r.readStyle(value)
	case strings.HasPrefix(key, "on"):
		r.readScript(value)
	case key == "content" && n.Data == "meta":
		r.readMeta(n, value)
	case key == "value" && n.Data == "param":
		if script.LooksLikeAddress(value) || strings.Contains(value, ".") {
			r.addAddress(value, "link")
		}
	case key == "value" && n.Data == "option":
		if script.LooksLikeAddress(value) { // of a list that leads to pages
			r.addAddress(value, "link")
		}
	case addressAttributes[key]:
		r.addAddress(value, "link")
	case (strings.HasPrefix(key, "data-") || strings.HasPrefix(key, "hx-")) && script.LooksLikeAddress(value):
		r.addAddress(value, "link")
	}
}

// readMeta reads an element meta.
func (r *reader) readMeta(n *html.Node, value string) {
	switch strings.ToLower(attributeOf(n, "http-equiv")) {
	case "refresh":
		if m := refresh.FindStringSubmatch(value); m != nil && m[1] != "" {
			r.addAddress(m[1], "link")
		}
	case "content-security-policy", "content-security-policy-report-only":
		for directive := range strings.SplitSeq(value, ";") {
			if fields := strings.Fields(directive); len(fields) > 1 && fields[0] == "report-uri" {
				r.addAddress(fields[1], "link")
			} else if len(fields) > 1 {
				for _, f := range fields[1:] {
					if u, err := url.Parse(f); err == nil && u.Host != "" && u.Path != "" && !strings.Contains(f, "*") {
						r.addAddress(f, "link")
					}
				}
			}
		}
	default:
		switch {
		case strings.Contains(value, "<"):
			r.readFragment(value)
		case script.LooksLikeAddress(value):
			r.addAddress(value, "link")
		}
	}
}

// readFrames reads elements that the parser leaves out where they do not belong, which
// older browsers show.
func (r *reader) readFrames(text string) {
	for _, m := range frame.FindAllStringSubmatch(text, 1000) {
		r.addAddress(html.UnescapeString(first(m)), "link")
	}
}

var frame = lazyregexp.New(`(?i)<(?:frame|isindex)\s[^>]*?(?:src|action|href)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// readComment reads what was commented out: markup, else addresses.
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

// readFragment reads markup inside of a page.
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
