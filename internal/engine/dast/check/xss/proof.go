package xss

import (
	"encoding/xml"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"github.com/tdewolff/parse/v2/js"
	"golang.org/x/net/html"

	"merlon/internal/engine/dast/message"
)

// This file decides whether a browser would run the word.

// findExecution reports whether a page runs the word as a function, and by what. It reads the tree
// that the HTML parser of browsers makes, so mistakes of the page are corrected in the same way.
func findExecution(resp *message.Response, word string) (how string, ok bool) {
	if !strings.Contains(resp.Text(), word) {
		return "", false
	}
	if isXML(resp) {
		return provenXML(resp.Text(), word)
	}
	for n := range resp.Document().Descendants() {
		if n.Type != html.ElementNode || isInert(n) {
			continue
		}
		if how, ok := findInAttributes(n, word); ok {
			return how, true
		}
		if how, ok := loadsFromWord(n, word); ok {
			return how, true
		}
		if n.Data == "style" && n.FirstChild != nil && hasStyleProperty(n.FirstChild.Data, word, false) {
			return styleHow, true
		}
		if n.Data == "script" && n.FirstChild != nil && isExecutable(n) && callsWord(n.FirstChild.Data, word) {
			return "script that calls it", true
		}
	}
	return "", false
}

// isInert reports whether the element is in a part of the page that a browser with script does not
// show.
func isInert(n *html.Node) bool {
	for up := range n.Ancestors() {
		if up.Type == html.ElementNode && (up.Data == "template" || up.Data == "noscript") {
			return true
		}
	}
	return false
}

// isExecutable reports whether a browser runs the element script: by its type it may also be data
// (application/json), a template, or VBScript.
func isExecutable(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "type":
			t := message.MediaType(a.Val)
			return t == "" || t == "module" || strings.Contains(t, "javascript") || strings.Contains(t, "ecmascript")
		case "language":
			if strings.Contains(strings.ToLower(a.Val), "vb") {
				return false
			}
		}
	}
	return true
}

// findInAttributes finds the word in event handlers, styles and addresses of an element.
func findInAttributes(n *html.Node, word string) (how string, ok bool) {
	for _, a := range n.Attr {
		name := a.Key
		if a.Namespace != "" {
			name = a.Namespace + ":" + a.Key
		}
		if !strings.Contains(a.Val, word) {
			continue
		}
		switch {
		case name == "style" && hasStyleProperty(a.Val, word, true):
			return styleHow, true
		// The body of a handler is a function (HTML, section 8.1.8.1), so it may contain return.
		case strings.HasPrefix(name, "on") && len(name) > 3 && callsWord("function f(){"+a.Val+"\n}", word):
			return "an event handler " + name + " that calls it", true
		case isNavigated(n, name):
			if code, is := javascriptOf(a.Val); is && callsWord(code, word) {
				return "an address in " + name + " that calls it", true
			}
		case n.Data == "iframe" && name == "srcdoc":
			inner := &message.Response{Body: []byte(a.Val)}
			if how, ok := findExecution(inner, word); ok {
				return how + " in a page inside", true
			}
		}
	}
	return "", false
}

// styleHow is the proof of a style, which runs no script.
const styleHow = "a declaration of a style of its own"

// loadsFromWord reports whether an element loads from the host that is named like the word, where
// that decides what runs in the page, where its forms send data, or where the browser goes.
func loadsFromWord(n *html.Node, word string) (how string, ok bool) {
	for _, a := range n.Attr {
		if n.Data == "meta" && a.Key == "content" && strings.Contains(a.Val, "url=//"+word+".example/") &&
			isRefresh(n) {
			return foreignHow + n.Data, true
		}
		if n.Data == "link" && !isStyleSheet(n) {
			continue
		}
		if a.Key == foreign[n.Data] && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "//"+word+
			".example") {
			return foreignHow + n.Data, true
		}
	}
	return "", false
}

// isStyleSheet reports whether the element link names a style sheet.
func isStyleSheet(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "rel" && slices.Contains(strings.Fields(strings.ToLower(a.Val)), "stylesheet") {
			return true
		}
	}
	return false
}

// isRefresh reports whether the element meta makes the browser go elsewhere.
func isRefresh(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "http-equiv" && strings.EqualFold(a.Val, "refresh") {
			return true
		}
	}
	return false
}

// foreignHow begins a proof of an address of another site.
const foreignHow = "an address of another site in "

// hasStyleProperty reports whether a style declares a property named like the word. inline says
// that the text is an attribute, without selectors.
func hasStyleProperty(text, word string, inline bool) bool {
	p := css.NewParser(parse.NewInputString(text), inline)
	for range 100_000 {
		grammar, _, name := p.Next()
		switch grammar {
		case css.ErrorGrammar:
			if p.Err() == io.EOF {
				return false
			}
		case css.DeclarationGrammar:
			if string(name) == word {
				return true
			}
		}
	}
	return false
}

// isNavigated reports whether a browser opens the attribute's address as a page, where a
// javascript: address runs.
func isNavigated(n *html.Node, name string) bool {
	switch name {
	case "href", "xlink:href":
		return n.Data == "a" || n.Data == "area"
	case "src":
		return n.Data == "iframe" || n.Data == "frame" // no longer embed, and object
	case "action":
		return n.Data == "form"
	case "formaction":
		return n.Data == "button" || n.Data == "input"
	}
	return false
}

// javascriptOf returns the code of a javascript: address, as the URL standard parses it: leading
// control characters and spaces, and tabs and line ends anywhere are removed.
func javascriptOf(address string) (string, bool) {
	address = strings.TrimLeftFunc(address, func(c rune) bool { return c <= ' ' })
	address = strings.Map(func(c rune) rune {
		if c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, address)
	const scheme = "javascript:"
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return "", false
	}
	code := address[len(scheme):]
	if decoded, err := url.PathUnescape(code); err == nil {
		code = decoded
	}
	return code, true
}

// callsWord reports whether the code parses and calls the word. One error of syntax, such as a
// quote that stays open, keeps the browser from running any of it.
func callsWord(code, word string) bool {
	ast, err := js.Parse(parse.NewInputString(code), js.Options{})
	if err != nil {
		return false
	}
	v := &finder{word: word}
	js.Walk(v, &ast.BlockStmt)
	return v.found
}

// A finder searches a script for a call of the word: word(1), or the tagged template word`1`.
type finder struct {
	word  string
	found bool
}

// Enter implements js.IVisitor.
func (f *finder) Enter(n js.INode) js.IVisitor {
	var called js.IExpr
	switch c := n.(type) {
	case *js.CallExpr:
		called = c.X
	case *js.TemplateExpr:
		called = c.Tag
	}
	if v, ok := called.(*js.Var); ok && string(v.Data) == f.word {
		f.found = true
	}
	if f.found {
		return nil
	}
	return f
}

// Exit implements js.IVisitor.
func (f *finder) Exit(js.INode) {}

// xhtml is the namespace of elements that browsers treat as HTML in any XML document.
const xhtml = "http://www.w3.org/1999/xhtml"

// isXML reports whether a browser shows the response as an XML document. XHTML is parsed by the
// HTML rules here, which is close enough for event handlers.
func isXML(resp *message.Response) bool {
	t := resp.MediaType()
	return t == "text/xml" || t == "application/xml"
}

// provenXML reports whether an XML document has an XHTML element script that calls the word.
// Browsers run it when they have parsed up to there without an error; not where a style sheet
// transforms the document.
func provenXML(text, word string) (how string, ok bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, inside := 0, false
	var code strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", false
		}
		switch t := token.(type) {
		case xml.ProcInst:
			if t.Target == "xml-stylesheet" {
				return "", false
			}
		case xml.StartElement:
			depth++
			// As the root a script would need an XHTML document of its own.
			inside = depth > 1 && t.Name.Space == xhtml && t.Name.Local == "script"
			code.Reset()
		case xml.CharData:
			if inside {
				code.Write(t)
			}
		case xml.EndElement:
			if depth--; inside && callsWord(code.String(), word) {
				return "script that calls it, in a document of XML", true
			}
			inside = false
		}
	}
}

// blockingPolicy returns the directive of the Content-Security-Policy that keeps browsers from
// running what was proven; empty: none does. Policies of a meta element are left to the browser.
// Each policy of the header has to allow the script.
func blockingPolicy(found *proof) string {
	if found.how == styleHow || strings.HasPrefix(found.how, foreignHow) {
		return ""
	}
	for _, policy := range found.answer.Header.Values("Content-Security-Policy") {
		for part := range strings.SplitSeq(policy, ",") {
			if rule := blockingDirective(part); rule != "" {
				return rule
			}
		}
	}
	return ""
}

// blockingDirective returns the directive of one policy that forbids inline script, by Content
// Security Policy 3, section 6.7.3: script-src, else default-src. 'unsafe-inline' has no effect
// beside a nonce, a hash or 'strict-dynamic'.
func blockingDirective(policy string) string {
	rules := map[string]string{}
	for directive := range strings.SplitSeq(policy, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
		// Of a repeated directive the first counts (section 2.2.1).
		if name = strings.ToLower(name); rules[name] == "" {
			rules[name] = strings.ToLower(value) + " "
		}
	}
	for _, name := range []string{"script-src", "default-src"} {
		value, ok := rules[name]
		if !ok {
			continue
		}
		hashed := strings.Contains(value, "'nonce-") || strings.Contains(value, "'sha") ||
			strings.Contains(value, "'strict-dynamic'")
		if strings.Contains(value, "'unsafe-inline'") && !hashed {
			return ""
		}
		return strings.TrimSpace(name + " " + value)
	}
	return ""
}
