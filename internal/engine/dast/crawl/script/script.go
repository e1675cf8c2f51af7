// Package script mines JavaScript for addresses: strings and templates that look like
// one, sums of strings, and what is handed to the functions that send requests, with
// their method and the names of what they send.
package script

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// A Call is an address in code.
type Call struct {
	Address string   // as it stands there; what is not constant in it is "1"
	Method  string   // upper case; empty: unknown
	Body    []string // names of the members that are sent, sorted
	Form    bool     // they are sent as a form
}

// maxSource bounds the code that is parsed as a whole, in bytes; of more, only the
// strings are looked at.
const maxSource = 8 << 20

// Mine returns the addresses in the code, each once.
func Mine(code string) []Call {
	m := &miner{seen: map[string]int{}}
	if len(code) <= maxSource {
		if ast, err := js.Parse(parse.NewInputString(code), js.Options{}); err == nil {
			m.constants = map[string]string{}
			js.Walk(&declared{m.constants}, &ast.BlockStmt)
			js.Walk(m, &ast.BlockStmt)
		} else {
			m.strings(code)
		}
	} else {
		m.strings(code)
	}
	m.markup(code)
	return m.out
}

// declared collects variables with a constant text.
type declared struct{ to map[string]string }

// Enter implements js.IVisitor.
func (d *declared) Enter(n js.INode) js.IVisitor {
	if b, ok := n.(*js.BindingElement); ok && b.Default != nil {
		if v, isVar := b.Binding.(*js.Var); isVar {
			if s, ok := literal(b.Default); ok && len(s) < 500 {
				d.to[string(v.Data)] = s
			}
		}
	}
	return d
}

// Exit implements js.IVisitor.
func (d *declared) Exit(js.INode) {}

type miner struct {
	constants map[string]string
	seen      map[string]int // index in out by address and method
	out       []Call
}

// maxCalls bounds what is taken from one piece of code.
const maxCalls = 5000

func (m *miner) add(c Call) {
	c.Address = strings.TrimSpace(c.Address)
	if len(m.out) == maxCalls || c.Address == "" {
		return
	}
	if i, ok := m.seen[c.Address]; ok {
		if known := &m.out[i]; known.Method == "" || known.Method == c.Method {
			if c.Method != "" {
				known.Method = c.Method
			}
			if len(known.Body) == 0 {
				known.Body, known.Form = c.Body, c.Form
			}
			return
		}
		if c.Method == "" {
			return
		}
	}
	m.seen[c.Address] = len(m.out)
	m.out = append(m.out, c)
}

// Enter implements js.IVisitor.
func (m *miner) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.CallExpr:
		m.call(n)
	case *js.NewExpr:
		if callee := source(n.X); n.Args != nil && len(n.Args.List) > 0 && (callee == "WebSocket" || callee == "EventSource" || callee == "Request" || callee == "URL" || callee == "Worker" || callee == "SharedWorker") {
			if s := m.text(n.Args.List[0].Value); s != "" && plausible(s) {
				m.add(Call{Address: s})
			}
		}
	case *js.BinaryExpr:
		if n.Op == js.AddToken {
			if s := m.text(n); Address(s) {
				m.add(Call{Address: s})
			}
		}
		if n.Op == js.EqToken {
			m.assigned(n)
		}
	case *js.TemplateExpr:
		if s := m.text(n); Address(s) {
			m.add(Call{Address: s})
		}
	case *js.LiteralExpr:
		if s, ok := literal(n); ok && Address(s) {
			m.add(Call{Address: s})
		}
	}
	return m
}

// Exit implements js.IVisitor.
func (m *miner) Exit(js.INode) {}

// assigned reads assignments to properties that are addresses.
func (m *miner) assigned(n *js.BinaryExpr) {
	name := source(n.X)
	for _, property := range []string{"location", ".href", ".src", ".action", "location.hash", ".data"} {
		if strings.HasSuffix(name, property) {
			if s := m.text(n.Y); s != "" && plausible(s) {
				m.add(Call{Address: s})
			}
			return
		}
	}
}

// methods are names of functions that send with the method of their name.
var methods = map[string]string{"get": http.MethodGet, "post": http.MethodPost, "put": http.MethodPut, "patch": http.MethodPatch, "delete": http.MethodDelete, "del": http.MethodDelete,
	"getjson": http.MethodGet, "head": http.MethodHead}

// call reads a call of a function that sends a request or leads the browser.
func (m *miner) call(c *js.CallExpr) {
	name := source(c.X)
	short := name[strings.LastIndexByte(name, '.')+1:]
	args := c.Args.List
	if len(args) == 0 {
		return
	}
	firstText := m.text(args[0].Value)
	lower := strings.ToLower(short)
	switch {
	case lower == "open" && len(args) > 1 && verb(firstText): // XMLHttpRequest
		if at := m.text(args[1].Value); plausible(at) {
			m.add(Call{Address: at, Method: strings.ToUpper(firstText)})
		}
	case lower == "fetch" || lower == "sendbeacon" || lower == "ajax" || lower == "axios" || lower == "request" || lower == "$http":
		m.fetch(firstText, args)
	case methods[lower] != "" && plausible(firstText) && (strings.Contains(firstText, "/") || strings.HasPrefix(name, "axios") || strings.HasPrefix(name, "$")):
		call := Call{Address: firstText, Method: methods[lower]}
		if len(args) > 1 && call.Method != http.MethodGet {
			call.Body = members(args[1].Value)
			call.Form = strings.HasPrefix(name, "$.") || strings.HasPrefix(name, "jQuery.")
		}
		m.add(call)
	case lower == "open", lower == "assign", lower == "replace" && strings.Contains(name, "location"), lower == "pushstate", lower == "replacestate", lower == "navigate",
		lower == "importscripts", lower == "import", lower == "load", lower == "register", lower == "getscript":
		for _, a := range args {
			if s := m.text(a.Value); plausible(s) && (strings.ContainsAny(s, "/.")) {
				m.add(Call{Address: s})
			}
		}
	case lower == "setattribute" && len(args) > 1 && (firstText == "href" || firstText == "src" || firstText == "action"):
		if s := m.text(args[1].Value); plausible(s) {
			m.add(Call{Address: s})
		}
	}
}

// fetch reads fetch(address, options), axios(options) and $.ajax(options).
func (m *miner) fetch(address string, args []js.Arg) {
	call := Call{Address: address}
	for i, a := range args {
		object, ok := a.Value.(*js.ObjectExpr)
		if !ok {
			continue
		}
		for _, p := range object.List {
			if p.Name == nil {
				continue
			}
			switch strings.Trim(p.Name.String(), `"'`) {
			case "method", "type":
				if v := m.text(p.Value); verb(v) {
					call.Method = strings.ToUpper(v)
				}
			case "url":
				if i == 0 {
					call.Address = m.text(p.Value)
				}
			case "body", "data":
				call.Body = members(p.Value)
				call.Form = strings.Contains(source(p.Value), "URLSearchParams") || strings.Contains(source(p.Value), "FormData")
			}
		}
	}
	if plausible(call.Address) {
		m.add(call)
	}
}

// verb reports whether the text is a method of HTTP.
func verb(s string) bool {
	switch strings.ToUpper(s) {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return true
	}
	return false
}

// members returns the names of an object, also of one that JSON.stringify is given.
func members(e js.IExpr) []string {
	if c, ok := e.(*js.CallExpr); ok && len(c.Args.List) > 0 {
		e = c.Args.List[0].Value
	}
	object, ok := e.(*js.ObjectExpr)
	if !ok {
		return nil
	}
	var out []string
	for _, p := range object.List {
		if p.Name != nil && !p.Name.IsComputed() {
			out = append(out, strings.Trim(p.Name.String(), `"'`))
		} else if v, isVar := p.Value.(*js.Var); isVar {
			out = append(out, string(v.Data))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// source is the code of a node.
func source(n js.INode) string {
	var b strings.Builder
	n.JS(&b)
	return b.String()
}

// text is the value of an expression, with "1" for what is not constant; empty when
// nothing of it is.
func (m *miner) text(e js.IExpr) string {
	switch e := e.(type) {
	case *js.LiteralExpr:
		s, _ := literal(e)
		return s
	case *js.GroupExpr:
		return m.text(e.X)
	case *js.Var:
		return m.constants[string(e.Data)]
	case *js.BinaryExpr:
		if e.Op == js.AddToken {
			x, y := m.text(e.X), m.text(e.Y)
			if x == "" && y == "" {
				return ""
			}
			return unknown(x) + unknown(y)
		}
	case *js.TemplateExpr:
		var b strings.Builder
		for _, part := range e.List {
			b.WriteString(templateText(part.Value))
			b.WriteString(unknown(m.text(part.Expr)))
		}
		b.WriteString(templateText(e.Tail))
		return b.String()
	case *js.CallExpr:
		if callee := source(e.X); strings.HasSuffix(callee, ".concat") || strings.HasSuffix(callee, "resolve") {
			var b strings.Builder
			if d, ok := e.X.(*js.DotExpr); ok {
				b.WriteString(m.text(d.X))
			}
			for _, a := range e.Args.List {
				b.WriteString(unknown(m.text(a.Value)))
			}
			return b.String()
		}
	}
	return ""
}

// unknown stands for a text that is not constant.
func unknown(s string) string {
	if s == "" {
		return "1"
	}
	return s
}

// templateText is a part of a template literal without its marks.
func templateText(b []byte) string {
	s := strings.TrimPrefix(strings.TrimPrefix(string(b), "`"), "}")
	return strings.TrimSuffix(strings.TrimSuffix(s, "`"), "${")
}

// literal returns the value of a string.
func literal(e js.IExpr) (string, bool) {
	l, ok := e.(*js.LiteralExpr)
	if !ok || l.TokenType != js.StringToken || len(l.Data) < 2 {
		return "", false
	}
	return unquote(string(l.Data[1 : len(l.Data)-1])), true
}

// unquote removes the escapes that occur in addresses.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\/`, "/", `\x2f`, "/", `\x2F`, "/", `\u002f`, "/", `\u002F`, "/", `\u0026`, "&", `\x26`, "&", `\x3d`, "=", `\x3D`, "=", `\\`, `\`, `\'`, "'", `\"`, `"`).Replace(s)
}

// strings looks at the strings of code that cannot be parsed.
func (m *miner) strings(code string) {
	for _, s := range quoted.FindAllStringSubmatch(code, 100_000) {
		for _, text := range s[1:] {
			if text = unquote(text); Address(text) {
				m.add(Call{Address: text})
			}
		}
	}
}

var quoted = lazyregexp.New("\"((?:[^\"\\\\\\n]|\\\\.)+)\"|'((?:[^'\\\\\\n]|\\\\.)+)'|`((?:[^`\\\\$]|\\\\.)+)`")

// markup finds attributes of elements that code writes, and the source map.
func (m *miner) markup(code string) {
	for _, s := range written.FindAllStringSubmatch(code, 10_000) {
		if text := unquote(s[1]); plausible(text) {
			m.add(Call{Address: text})
		}
	}
	for _, s := range comments.FindAllString(code, 10_000) {
		for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`()<>,;*", c) }) {
			if strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "//") && strings.Count(word, "/") > 1 && Address(word) {
				m.add(Call{Address: word})
			}
		}
	}
	if s := mapped.FindStringSubmatch(code); s != nil && !strings.HasPrefix(s[1], "data:") {
		m.add(Call{Address: s[1]})
	}
}

var (
	written  = lazyregexp.New(`(?i)<[a-z][^<>]*?\s(?:href|src|action)\s*=\s*\\?["']([^"'\\<>\s]+)`)
	comments = lazyregexp.New(`(?s)/\*.{0,1000}?\*/|(?-s)//[^\n]*`)
	mapped   = lazyregexp.New(`(?m)^\s*//[#@]\s*sourceMappingURL=(\S+)\s*$`)
)

// plausible reports whether a text that stands where an address is expected is one.
func plausible(s string) bool {
	return s != "" && len(s) < 2000 && !strings.ContainsAny(s, " <>{}|^`\n\r\t\"'") && s != "/" && strings.Trim(s, "1/.#?&=") != ""
}

// Address reports whether a text anywhere looks like an address: absolute, a path with
// a slash in front, a relative one with folders or with an extension that the web knows.
func Address(s string) bool {
	if !plausible(s) || len(s) < 2 {
		return false
	}
	lower := strings.ToLower(s)
	for _, scheme := range []string{"http://", "https://", "ws://", "wss://"} {
		if strings.HasPrefix(lower, scheme) {
			return len(s) > len(scheme)+1 && !strings.Contains(lower, "www.w3.org/")
		}
	}
	if strings.Contains(s, "://") || strings.ContainsAny(s, `\,;*()[]$!@`) && !strings.Contains(s, "?") {
		return false
	}
	switch {
	case strings.HasPrefix(s, "//"):
		return strings.Contains(s[2:], ".")
	case strings.HasPrefix(s, "/"):
		return len(s) > 1 && word.MatchString(s[1:2])
	case strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"):
		return true
	}
	before, _, _ := strings.Cut(s, "?")
	before, _, _ = strings.Cut(before, "#")
	if pages[strings.ToLower(strings.TrimPrefix(path.Ext(before), "."))] && word.MatchString(before[:1]) {
		return true
	}
	folder, _, ok := strings.Cut(s, "/")
	return ok && roots[strings.ToLower(folder)]
}

var word = lazyregexp.New(`^[A-Za-z0-9_~.#{-]`)

// roots are first folders of relative addresses that are no names of modules or types.
var roots = map[string]bool{"api": true, "rest": true, "v1": true, "v2": true, "v3": true, "graphql": true, "ajax": true, "admin": true, "assets": true, "static": true, "auth": true, "oauth": true, "users": true, "user": true}

// pages are extensions of files that servers answer with.
var pages = map[string]bool{"html": true, "htm": true, "xhtml": true, "php": true, "php5": true, "phtml": true, "asp": true, "aspx": true, "ashx": true, "asmx": true, "jsp": true, "jspx": true, "do": true,
	"action": true, "cgi": true, "pl": true, "json": true, "xml": true, "txt": true, "js": true, "mjs": true, "css": true, "svc": true, "rss": true, "wsdl": true, "cfm": true, "py": true, "rb": true}
