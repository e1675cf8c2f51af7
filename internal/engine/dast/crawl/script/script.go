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

// A Kind is how the body of a request is written.
type Kind int

// Kinds of bodies.
const (
	JSON Kind = iota
	Form
	Multipart
)

// A Call is an address in code.
type Call struct {
	Address string   // as it stands there; what is not constant in it is "1"
	Method  string   // upper case; empty: unknown
	Query   []string // names of parameters that are handed over beside the address, sorted
	Body    []string // names of the members that are sent, sorted
	Kind    Kind     // of the body
	Headers []string // names of headers of the application's own that are sent, sorted
}

// Extracted is what code tells.
type Extracted struct {
	Calls []Call // each address and method once
	// Routes are the paths that the tables of routers in the code show in a browser, with
	// "1" for their parameters, each once.
	Routes []string
	// Headers and Fields say that the code computes names of headers that it sends, and of
	// fields of forms: what they are is known when it runs only.
	Headers, Fields bool
}

// maxSource bounds the code that is parsed as a whole, in bytes; of more, only the
// strings are looked at.
const maxSource = 8 << 20

// ExtractCalls reads code.
func ExtractCalls(code string) *Extracted {
	m := &miner{environment: newEnvironment(), seen: map[string]int{}, routed: map[js.INode]bool{},
		shown: map[string]bool{}}
	if len(code) <= maxSource {
		if ast, err := js.Parse(parse.NewInputString(code), js.Options{}); err == nil {
			js.Walk(m.environment, &ast.BlockStmt)
			js.Walk(m, &ast.BlockStmt)
		} else {
			m.readStrings(code)
		}
	} else {
		m.readStrings(code)
	}
	m.readMarkup(code)
	return &m.out
}

type miner struct {
	*environment
	seen   map[string]int    // index in out by address
	routed map[js.INode]bool // objects whose routes were told with those around them
	shown  map[string]bool   // routes
	opened string            // see open; a key of seen
	out    Extracted
}

// maxCalls bounds what is taken from one piece of code.
const maxCalls = 5000

// addCall keeps a call. An address without a method is one that stands somewhere, and says
// nothing beside a call that sends it.
func (m *miner) addCall(c Call) {
	c.Address = strings.TrimSpace(c.Address)
	if len(m.out.Calls) == maxCalls || c.Address == "" {
		return
	}
	i, ok := m.seen[c.Method+" "+c.Address]
	if !ok && c.Method != "" {
		if i, ok = m.seen[" "+c.Address]; ok {
			delete(m.seen, " "+c.Address)
			m.out.Calls[i].Method, m.seen[c.Method+" "+c.Address] = c.Method, i
		}
	}
	if !ok {
		if _, sent := m.seen[c.Address]; sent && c.Method == "" {
			return
		}
		m.seen[c.Method+" "+c.Address], m.seen[c.Address] = len(m.out.Calls), 0
		m.out.Calls = append(m.out.Calls, c)
		return
	}
	known := &m.out.Calls[i]
	known.Headers = unionNames(known.Headers, c.Headers)
	if len(known.Body) == 0 {
		known.Body, known.Kind = c.Body, c.Kind
	}
	if len(known.Query) == 0 {
		known.Query = c.Query
	}
}

// Enter implements js.IVisitor.
func (m *miner) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ClassDecl:
		m.enterClass(n)
	case *js.ObjectExpr:
		m.addRoute("", n, 0)
		m.readUploader(n)
	case *js.CallExpr:
		m.readCall(n)
	case *js.NewExpr:
		m.readConstruction(n)
	case *js.BinaryExpr:
		if n.Op == js.AddToken {
			m.addText(m.evaluateText(n))
		}
		if n.Op == js.EqToken {
			m.readProperty(n)
		}
	case *js.TemplateExpr:
		m.addText(m.evaluateText(n))
	case *js.LiteralExpr:
		if s, ok := literalValue(n); ok {
			m.addText(s)
		}
	}
	return m
}

// addText takes a text that stands anywhere in the script, where it looks like an address.
func (m *miner) addText(s string) {
	if LooksLikeAddress(s) {
		m.addCall(Call{Address: s})
	}
}

// constructors are objects of browsers that are made of an address.
var constructors = []string{"WebSocket", "EventSource", "Request", "URL", "Worker", "SharedWorker"}

// readConstruction reads new objects that are made of an address.
func (m *miner) readConstruction(n *js.NewExpr) {
	if n.Args == nil || len(n.Args.List) == 0 || !slices.Contains(constructors, nameOf(n.X)) {
		return
	}
	if s := m.evaluateText(n.Args.List[0].Value); s != "" && isPlausibleAddress(s) {
		m.addCall(Call{Address: s})
	}
}

// readProperty reads assignments to properties that are addresses.
func (m *miner) readProperty(n *js.BinaryExpr) {
	name := nameOf(n.X)
	for _, property := range []string{"location", ".href", ".src", ".action", "location.hash", ".data"} {
		if strings.HasSuffix(name, property) {
			if s := m.evaluateText(n.Y); s != "" && isPlausibleAddress(s) {
				m.addCall(Call{Address: s})
			}
			return
		}
	}
}

// methods are names of functions that send with the method of their name.
var methods = map[string]string{"get": http.MethodGet, "post": http.MethodPost, "put": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "del": http.MethodDelete,
	"getjson": http.MethodGet, "head": http.MethodHead}

// readCall reads a call of a function that sends a request or leads the browser.
func (m *miner) readCall(c *js.CallExpr) {
	name := nameOf(c.X)
	args := c.Args.List
	if len(args) == 0 {
		return
	}
	lower := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	first := m.evaluateText(args[0].Value)
	_ = m.readRequestParts(lower, name, first, args) || m.readRequestCall(lower, name, first, args) ||
		m.readNavigation(lower, name, first, args)
}

// readRequestParts reads calls that prepare a request: its method and address, a header, or a
// field of its form. It reports whether the call is one of them.
func (m *miner) readRequestParts(lower, name, first string, args []js.Arg) bool {
	switch {
	case len(args) > 1 && isHTTPMethod(first): // XMLHttpRequest.open, and request of many clients
		if at := m.evaluateText(args[1].Value); isPlausibleAddress(at) &&
			(lower == "open" || strings.Contains(at, "/")) {
			m.addSendingCall(Call{Address: at, Method: strings.ToUpper(first)}, args[2:], false)
		}
		if lower == "open" {
			m.recordOpen(first, m.evaluateText(args[1].Value))
		}
	case lower == "setrequestheader" && len(args) == 2:
		m.recordHeader(first, args)
	case len(args) == 2 && first == "name" && (lower == "attr" || lower == "prop" || lower == "setattribute"):
		m.recordField(args[1].Value)
	case len(args) > 1 && first == "" && lower == "append" && strings.Contains(strings.ToLower(name), "formdata"):
		m.recordField(args[0].Value)
	default:
		return false
	}
	return true
}

// senders are names of functions that send a request which their arguments describe.
var senders = []string{"fetch", "sendbeacon", "ajax", "axios", "request", "$http"}

// readRequestCall reads calls that send a request, and reports whether the call is one.
func (m *miner) readRequestCall(lower, name, first string, args []js.Arg) bool {
	switch {
	case slices.Contains(senders, lower):
		m.readFetchOptions(first, args)
	case methods[lower] != "" && isPlausibleAddress(first) && (strings.Contains(first, "/") ||
		strings.HasPrefix(name, "axios") || strings.HasPrefix(name, "$")):
		m.addSendingCall(Call{Address: first, Method: methods[lower]}, args[1:], strings.HasPrefix(name, "$.") ||
			strings.HasPrefix(name, "jQuery."))
	default:
		return false
	}
	return true
}

// navigators are names of functions that lead the browser to an address, or load one.
var navigators = []string{"open", "assign", "pushstate", "replacestate", "navigate", "importscripts", "import",
	"load", "register", "getscript"}

// readNavigation reads calls that lead the browser somewhere, and reports whether the call is one.
func (m *miner) readNavigation(lower, name, first string, args []js.Arg) bool {
	switch {
	case lower == "when" && len(args) > 1 && strings.HasPrefix(first, "/"):
		if object, ok := m.resolveValue(args[1].Value).(*js.ObjectExpr); ok && isRouteObject(object) {
			m.addRoutePath(first)
		}
	case slices.Contains(navigators, lower), lower == "replace" && strings.Contains(name, "location"):
		for _, a := range args {
			if s := m.evaluateText(a.Value); isPlausibleAddress(s) && strings.ContainsAny(s, "/.") {
				m.addCall(Call{Address: s})
			}
		}
	case lower == "setattribute" && len(args) > 1 && (first == "href" || first == "src" || first == "action"):
		if s := m.evaluateText(args[1].Value); isPlausibleAddress(s) {
			m.addCall(Call{Address: s})
		}
	default:
		return false
	}
	return true
}

// addSendingCall adds a call with what is handed over behind its address: a body where the
// method has one, then options.
func (m *miner) addSendingCall(call Call, rest []js.Arg, form bool) {
	if len(rest) > 0 && call.Method != http.MethodGet && call.Method != http.MethodHead {
		if object, ok := m.resolveValue(rest[0].Value).(*js.ObjectExpr); call.Method == http.MethodDelete && ok {
			m.readOptions(&call, object)
		} else {
			call.Body, call.Kind = m.sentNames(rest[0].Value)
		}
		rest = rest[1:]
	}
	for _, a := range rest {
		if object, ok := m.resolveValue(a.Value).(*js.ObjectExpr); ok {
			m.readOptions(&call, object)
		}
	}
	if form && call.Kind == JSON {
		call.Kind = Form
	}
	m.addCall(call)
}

// sentNames are the sorted names of what is sent.
func (m *miner) sentNames(e js.IExpr) ([]string, Kind) {
	names, kind := m.memberNames(e)
	slices.Sort(names)
	return slices.Compact(names), kind
}

// readOptions reads what says how to send: fetch(address, options), axios(options),
// $.ajax(options), the last argument of many clients.
func (m *miner) readOptions(call *Call, object *js.ObjectExpr) {
	for _, p := range object.List {
		if p.Name == nil {
			continue
		}
		switch strings.Trim(p.Name.String(), `"'`) {
		case "method", "type":
			if v := m.evaluateText(p.Value); isHTTPMethod(v) {
				call.Method = strings.ToUpper(v)
			}
		case "url":
			if call.Address == "" {
				call.Address = m.evaluateText(p.Value)
			}
		case "params":
			call.Query, _ = m.sentNames(p.Value)
		case "headers":
			names, _ := m.sentNames(p.Value)
			call.Headers = slices.DeleteFunc(names, func(name string) bool { return !isCustomHeader(name) })
		case "body", "data":
			call.Body, call.Kind = m.sentNames(p.Value)
		}
	}
}

// readUploader reads the options of components that upload files: an address, with which
// files are permitted.
func (m *miner) readUploader(object *js.ObjectExpr) {
	call := Call{Method: http.MethodPost, Kind: Multipart}
	field, uploads := "file", false
	for _, p := range object.List {
		if p.Name == nil {
			continue
		}
		switch key := strings.Trim(p.Name.String(), `"'`); {
		case key == "url" || key == "endpoint":
			call.Address = m.evaluateText(p.Value)
		case key == "paramName" || key == "fieldName" || key == "itemAlias":
			if s := m.evaluateText(p.Value); s != "" {
				field = s
			}
		case fileOption.MatchString(key):
			uploads = true
		}
	}
	if uploads && isPlausibleAddress(call.Address) && strings.Contains(call.Address, "/") {
		call.Body = []string{field}
		m.addCall(call)
	}
}

// fileOption are options that say which files are permitted.
var fileOption = lazyregexp.New(`(?i)^((allowed|accepted?)_?(mime|file|types|extensions)|max_?file_?size)`)

// readFetchOptions reads calls that say everything in their options.
func (m *miner) readFetchOptions(address string, args []js.Arg) {
	call := Call{Address: address}
	for _, a := range args {
		if object, ok := m.resolveValue(a.Value).(*js.ObjectExpr); ok {
			m.readOptions(&call, object)
		}
	}
	if isPlausibleAddress(call.Address) {
		m.addCall(call)
	}
}

// isHTTPMethod reports whether the text is a method of HTTP.
func isHTTPMethod(s string) bool {
	switch strings.ToUpper(s) {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return true
	}
	return false
}

// nameOf is the name of a variable or a member with those around it, such as
// "this.http.get"; what is neither of them, such as a call, is "()".
func nameOf(n js.INode) string {
	var parts []string
	for range maxDepth {
		switch e := n.(type) {
		case *js.DotExpr:
			parts = append(parts, memberName(e))
			n = e.X
			continue
		case *js.Var:
			parts = append(parts, string(e.Data))
		case *js.LiteralExpr:
			if e.TokenType == js.ThisToken {
				parts = append(parts, "this")
				break
			}
			parts = append(parts, "()")
		default:
			parts = append(parts, "()")
		}
		break
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// memberName is the name of the member that a dot is followed by.
func memberName(e *js.DotExpr) string {
	switch y := e.Y.(type) {
	case *js.Var:
		return string(y.Data)
	case js.LiteralExpr:
		return string(y.Data)
	}
	return ""
}

// templateText is a part of a template literal without its marks.
func templateText(b []byte) string {
	s := strings.TrimPrefix(strings.TrimPrefix(string(b), "`"), "}")
	return strings.TrimSuffix(strings.TrimSuffix(s, "`"), "${")
}

// literalValue returns the value of a string.
func literalValue(e js.IExpr) (string, bool) {
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
	return strings.NewReplacer(`\/`, "/", `\x2f`, "/", `\x2F`, "/", `\u002f`, "/", `\u002F`, "/", `\u0026`, "&", `\x26`,
		"&", `\x3d`, "=", `\x3D`, "=", `\\`, `\`, `\'`, "'", `\"`, `"`).Replace(s)
}

// readStrings looks at the strings of code that cannot be parsed.
func (m *miner) readStrings(code string) {
	for _, s := range quoted.FindAllStringSubmatch(code, 100_000) {
		for _, text := range s[1:] {
			if text = unquote(text); LooksLikeAddress(text) {
				m.addCall(Call{Address: text})
			}
		}
	}
}

var quoted = lazyregexp.New("\"((?:[^\"\\\\\\n]|\\\\.)+)\"|'((?:[^'\\\\\\n]|\\\\.)+)'|`((?:[^`\\\\$]|\\\\.)+)`")

// readMarkup finds attributes of elements that code writes, and the source map.
func (m *miner) readMarkup(code string) {
	for _, s := range written.FindAllStringSubmatch(code, 10_000) {
		if text := unquote(s[1]); isPlausibleAddress(text) {
			m.addCall(Call{Address: text})
		}
	}
	for _, s := range comments.FindAllString(code, 10_000) {
		for word := range strings.FieldsFuncSeq(s, func(c rune) bool {
			return strings.ContainsRune(" \t\r\n\"'`()<>,;*", c)
		}) {
			if strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "//") && strings.Count(word, "/") > 1 &&
				LooksLikeAddress(word) {
				m.addCall(Call{Address: word})
			}
		}
	}
	if s := mapped.FindStringSubmatch(code); s != nil && !strings.HasPrefix(s[1], "data:") {
		m.addCall(Call{Address: s[1]})
	}
}

var (
	written  = lazyregexp.New(`(?i)<[a-z][^<>]*?\s(?:href|src|action)\s*=\s*\\?["']([^"'\\<>\s]+)`)
	comments = lazyregexp.New(`(?s)/\*.{0,1000}?\*/|(?-s)//[^\n]*`)
	mapped   = lazyregexp.New(`(?m)^\s*//[#@]\s*sourceMappingURL=(\S+)\s*$`)
)

// isPlausibleAddress reports whether a text that stands where an address is expected is one.
func isPlausibleAddress(s string) bool {
	return s != "" && len(s) < 2000 && !strings.ContainsAny(s, " <>{}|^`\n\r\t\"'") && s != "/" &&
		strings.Trim(s, "1/.#?&=") != ""
}

// LooksLikeAddress reports whether a text anywhere looks like an address: absolute, a path with
// a slash in front, a relative one with folders or with an extension that the web knows.
func LooksLikeAddress(s string) bool {
	if !isPlausibleAddress(s) || len(s) < 2 {
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
var roots = map[string]bool{"api": true, "rest": true, "v1": true, "v2": true, "v3": true, "graphql": true,
	"ajax": true, "admin": true, "assets": true, "static": true, "auth": true, "oauth": true, "users": true,
	"user": true}

// pages are extensions of files that servers answer with.
var pages = map[string]bool{"html": true, "htm": true, "xhtml": true, "php": true, "php5": true, "phtml": true,
	"asp": true, "aspx": true, "ashx": true, "asmx": true, "jsp": true, "jspx": true, "do": true,
	"action": true, "cgi": true, "pl": true, "json": true, "xml": true, "txt": true, "js": true, "mjs": true,
	"css": true, "svc": true, "rss": true, "wsdl": true, "cfm": true, "py": true, "rb": true}
