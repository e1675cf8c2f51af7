// Package script mines JavaScript for addresses, without running it: strings and templates that
// look like one, sums of strings, and what is passed to functions that send requests, with their
// method and the names of what they send.
//
// [ExtractCalls] parses the code and walks it twice. The first walk (environment) collects what
// variables, members and fields of classes are assigned; the second (miner) reads calls, and
// evaluates their arguments with it. So `this.http.get(this.base + "/users/" + id)` gives
// /api/users/1. Code that cannot be parsed, or is too large, is searched for strings. Comments,
// markup in strings, and the source map are searched in any case.
//
// Budget: maxSource bytes of code, maxEvaluated evaluations, maxCalls addresses. The package does
// not resolve addresses and sends nothing: package crawl does.
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
	// The body of fetch and of most clients, also where nothing says how it is encoded.
	JSON Kind = iota
	// URLSearchParams, HttpParams, and jQuery by default.
	Form
	// FormData, and components that upload files.
	Multipart
)

// A Call is an address in code, with what is known of the request to it.
type Call struct {
	// Address is as written in the code, absolute or relative; what is not constant in it is "1".
	Address string
	// Method is in upper case; empty: unknown.
	Method string
	// Query contains the names of parameters that are passed beside the address, sorted.
	Query []string
	// Body contains the names of the members that are sent, sorted; nil: none is known.
	Body []string
	// Kind is that of the body, and means nothing without one.
	Kind Kind
	// Headers contains the names of the application's own headers that are sent, sorted.
	Headers []string
}

// Extracted is the result for one piece of code.
type Extracted struct {
	// Calls contains each address and method once, in the order of the code.
	Calls []Call
	// Routes are the paths that the tables of routers in the code show in a browser, with
	// "1" for their parameters, each once.
	Routes []string
	// Headers and Fields say that the code computes names of headers that it sends, and of
	// fields of forms: what they are is known when it runs only.
	Headers, Fields bool
}

// maxSource bounds the code that is parsed as a whole, in bytes; longer code is only searched for
// strings. The syntax tree is many times as large as the code.
const maxSource = 8 << 20

// ExtractCalls extracts the addresses of code. It never fails: code with an error of syntax, such
// as a template that a server fills in, is searched for strings.
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

// A miner is the second walk, which collects what is found.
type miner struct {
	*environment
	// The index in out.Calls by "METHOD address", and a mark by the address alone once a call is
	// known.
	seen map[string]int
	// Objects whose routes were added as children of another one.
	routed map[js.INode]bool
	// Routes that were added.
	shown map[string]bool
	// The XMLHttpRequest that was opened last; a key of seen.
	opened string
	out    Extracted
}

// maxCalls bounds the addresses of one piece of code. Large bundles have hundreds; more are data,
// such as a table of emoji images.
const maxCalls = 5000

// addCall adds a call, or completes the known one of the same method and address. An address
// without a method is merely a text that looks like one, and says nothing beside a call that sends
// it.
func (m *miner) addCall(c Call) {
	c.Address = strings.TrimSpace(c.Address)
	if len(m.out.Calls) == maxCalls || c.Address == "" {
		return
	}
	i, ok := m.seen[c.Method+" "+c.Address]
	// The literal was visited first, or the call was: either way one entry remains, with the
	// method.
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
	// The first call that names members decides: a union would send what no client sends together.
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
	// Routers and uploaders are configured by objects, wherever these stand.
	case *js.ObjectExpr:
		m.addRoute("", n, 0)
		m.readUploader(n)
	case *js.CallExpr:
		m.readCall(n)
	case *js.NewExpr:
		m.readConstruction(n)
	// "/users/" + id, and location.href = "/users".
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
	// "location" matches window.location too; ".data" is the element object.
	for _, property := range []string{"location", ".href", ".src", ".action", "location.hash", ".data"} {
		if strings.HasSuffix(name, property) {
			if s := m.evaluateText(n.Y); s != "" && isPlausibleAddress(s) {
				m.addCall(Call{Address: s})
			}
			return
		}
	}
}

// methods maps names of functions, in small letters, to the method that they send with: axios.get,
// $.post, this.http.delete, request.del (superagent), $.getJSON. To add a client, add its names.
var methods = map[string]string{"get": http.MethodGet, "post": http.MethodPost, "put": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "del": http.MethodDelete,
	"getjson": http.MethodGet, "head": http.MethodHead}

// readCall reads a call that sends a request or leads the browser. Only the last part of the name
// counts, because the object before it is minified or injected: "e.http.get", "this.client.get".
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

// readRequestParts reads calls that prepare a request: its method and address, a header, or a field
// of its form. It reports whether the call is one of them.
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
	// element.setAttribute("name", computed): a form that code builds.
	case len(args) == 2 && first == "name" && (lower == "attr" || lower == "prop" || lower == "setattribute"):
		m.recordField(args[1].Value)
	// formData.append(computed, value).
	case len(args) > 1 && first == "" && lower == "append" && strings.Contains(strings.ToLower(name), "formdata"):
		m.recordField(args[0].Value)
	default:
		return false
	}
	return true
}

// senders are the names, in small letters, of functions that send a request which their arguments
// describe: the address first, then options, or everything in the options.
var senders = []string{"fetch", "sendbeacon", "ajax", "axios", "request", "$http"}

// readRequestCall reads calls that send a request, and reports whether the call is one.
func (m *miner) readRequestCall(lower, name, first string, args []js.Arg) bool {
	switch {
	case slices.Contains(senders, lower):
		m.readFetchOptions(first, args)
	// Many objects have a method "get", such as maps and caches. A slash in the argument, or the
	// name of a client before it, distinguishes requests.
	case methods[lower] != "" && isPlausibleAddress(first) && (strings.Contains(first, "/") ||
		strings.HasPrefix(name, "axios") || strings.HasPrefix(name, "$")):
		m.addSendingCall(Call{Address: first, Method: methods[lower]}, args[1:], strings.HasPrefix(name, "$.") ||
			strings.HasPrefix(name, "jQuery."))
	default:
		return false
	}
	return true
}

// navigators are the names, in small letters, of functions that lead the browser to an address, or
// load one: window.open, location.assign, history.pushState, router.navigate, importScripts,
// import, $.load, serviceWorker.register, $.getScript.
var navigators = []string{"open", "assign", "pushstate", "replacestate", "navigate", "importscripts", "import",
	"load", "register", "getscript"}

// readNavigation reads calls that lead the browser somewhere, and reports whether the call is one.
func (m *miner) readNavigation(lower, name, first string, args []js.Arg) bool {
	switch {
	// AngularJS: $routeProvider.when("/users/:id", {templateUrl: …}).
	case lower == "when" && len(args) > 1 && strings.HasPrefix(first, "/"):
		if object, ok := m.resolveValue(args[1].Value).(*js.ObjectExpr); ok && isRouteObject(object) {
			m.addRoutePath(first)
		}
	case slices.Contains(navigators, lower), lower == "replace" && strings.Contains(name, "location"):
		// pushState has the address as its third argument.
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

// addSendingCall adds a call with what follows the address: a body where the method has one, then
// options. form says that the client encodes bodies as forms by default, as jQuery does.
func (m *miner) addSendingCall(call Call, rest []js.Arg, form bool) {
	if len(rest) > 0 && call.Method != http.MethodGet && call.Method != http.MethodHead {
		// axios.delete(address, options) has no body as an argument of its own.
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

// sentNames returns the names of the members of what is sent, sorted, each once.
func (m *miner) sentNames(e js.IExpr) ([]string, Kind) {
	names, kind := m.memberNames(e)
	slices.Sort(names)
	return slices.Compact(names), kind
}

// readOptions reads options into the call: those of fetch(address, options), axios(options),
// $.ajax(options), and the last argument of many clients. Option names: method and body (fetch),
// type and data (jQuery), url, params and headers (axios, Angular).
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
			// An address that is passed as an argument of its own goes first.
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

// readUploader reads the options of components that upload files, such as Dropzone, Fine Uploader
// and ng2-file-upload: {url: "/upload", maxFileSize: 100}. An address beside an option about
// permitted files is an upload; without a name of the field, these components use "file".
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

// fileOption matches options that restrict files: allowedMimeType, acceptedFiles, accept_types,
// allowedExtensions, maxFileSize, max_file_size.
var fileOption = lazyregexp.New(`(?i)^((allowed|accepted?)_?(mime|file|types|extensions)|max_?file_?size)`)

// readFetchOptions reads a call whose options say everything, or everything but the address.
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

// isHTTPMethod reports whether the text is a method that clients send.
func isHTTPMethod(s string) bool {
	switch strings.ToUpper(s) {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return true
	}
	return false
}

// nameOf returns the name of a variable or a member with those around it, such as "this.http.get";
// what is neither, such as a call in $(x).load, is "()". Names deeper than maxDepth are cut at the
// front.
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

// memberName returns the name behind a dot; empty for a private member or an index.
func memberName(e *js.DotExpr) string {
	switch y := e.Y.(type) {
	case *js.Var:
		return string(y.Data)
	case js.LiteralExpr:
		return string(y.Data)
	}
	return ""
}

// templateText returns a constant part of a template literal. The parser leaves the marks on it:
// "`/users/${", "}/orders`".
func templateText(b []byte) string {
	s := strings.TrimPrefix(strings.TrimPrefix(string(b), "`"), "}")
	return strings.TrimSuffix(strings.TrimSuffix(s, "`"), "${")
}

// literalValue returns the value of a string literal; false: the expression is none.
func literalValue(e js.IExpr) (string, bool) {
	l, ok := e.(*js.LiteralExpr)
	if !ok || l.TokenType != js.StringToken || len(l.Data) < 2 {
		return "", false
	}
	return unquote(string(l.Data[1 : len(l.Data)-1])), true
}

// unquote resolves the escapes that occur in addresses. Bundlers escape slashes ("<\/script>") and
// JSON in pages escapes & and =. Other escapes remain, because no address has them.
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\/`, "/", `\x2f`, "/", `\x2F`, "/", `\u002f`, "/", `\u002F`, "/", `\u0026`, "&", `\x26`,
		"&", `\x3d`, "=", `\x3D`, "=", `\\`, `\`, `\'`, "'", `\"`, `"`).Replace(s)
}

// readStrings searches the strings of code that cannot be parsed. The limit keeps minified data of
// megabytes from being matched in full.
func (m *miner) readStrings(code string) {
	for _, s := range quoted.FindAllStringSubmatch(code, 100_000) {
		for _, text := range s[1:] {
			if text = unquote(text); LooksLikeAddress(text) {
				m.addCall(Call{Address: text})
			}
		}
	}
}

// quoted matches strings in the three kinds of quotes, each without line ends in it; template
// literals only without ${.
var quoted = lazyregexp.New("\"((?:[^\"\\\\\\n]|\\\\.)+)\"|'((?:[^'\\\\\\n]|\\\\.)+)'|`((?:[^`\\\\$]|\\\\.)+)`")

// readMarkup finds attributes of elements that code writes as strings, paths in comments, and the
// source map, whose address often shows the original sources.
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
			// At least two folders: "/ 2" and "/foo" in prose are no paths.
			if strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "//") && strings.Count(word, "/") > 1 &&
				LooksLikeAddress(word) {
				m.addCall(Call{Address: word})
			}
		}
	}
	// A source map inside the code is data: base64 and needs no request.
	if s := mapped.FindStringSubmatch(code); s != nil && !strings.HasPrefix(s[1], "data:") {
		m.addCall(Call{Address: s[1]})
	}
}

var (
	// written captures the address of an attribute in a string: '<a href="/users">', also with the
	// quote escaped.
	written = lazyregexp.New(`(?i)<[a-z][^<>]*?\s(?:href|src|action)\s*=\s*\\?["']([^"'\\<>\s]+)`)
	// comments matches comments of both kinds. A block of more than 1,000 characters is a licence.
	comments = lazyregexp.New(`(?s)/\*.{0,1000}?\*/|(?-s)//[^\n]*`)
	// mapped captures the address of the source map (ECMA-426), in the older form with @ too.
	mapped = lazyregexp.New(`(?m)^\s*//[#@]\s*sourceMappingURL=(\S+)\s*$`)
)

// isPlausibleAddress reports whether a text that is used as an address can be one. Only "1",
// slashes and separators would mean that nothing of it is constant.
func isPlausibleAddress(s string) bool {
	return s != "" && len(s) < 2000 && !strings.ContainsAny(s, " <>{}|^`\n\r\t\"'") && s != "/" &&
		strings.Trim(s, "1/.#?&=") != ""
}

// LooksLikeAddress reports whether a text anywhere looks like an address: absolute, a path with a
// leading slash, or a relative one with a folder of roots or an extension of pages. Texts with
// characters of regular expressions, of modules ("@angular/core") and of code are none.
func LooksLikeAddress(s string) bool {
	if !isPlausibleAddress(s) || len(s) < 2 {
		return false
	}
	lower := strings.ToLower(s)
	for _, scheme := range []string{"http://", "https://", "ws://", "wss://"} {
		if strings.HasPrefix(lower, scheme) {
			// Namespaces of XML are in the code of each library for SVG.
			return len(s) > len(scheme)+1 && !strings.Contains(lower, "www.w3.org/")
		}
	}
	if strings.Contains(s, "://") || strings.ContainsAny(s, `\,;*()[]$!@`) && !strings.Contains(s, "?") {
		return false
	}
	switch {
	// An address without a scheme: "//cdn.example/a.js". Without a dot it is a comment.
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

// word matches a first character that paths begin with; "/(" or "/^" begin regular expressions.
var word = lazyregexp.New(`^[A-Za-z0-9_~.#{-]`)

// roots are the first folders by which relative texts are addresses: "api/users" is one, while
// "text/html", "lodash/fp" and "Europe/Berlin" are not. To add a row, make sure that no package or
// media type begins so.
var roots = map[string]bool{"api": true, "rest": true, "v1": true, "v2": true, "v3": true, "graphql": true,
	"ajax": true, "admin": true, "assets": true, "static": true, "auth": true, "oauth": true, "users": true,
	"user": true}

// pages are the extensions, in small letters, of files that servers return: a text such as
// "main.js" without a slash is an address by its extension alone.
var pages = map[string]bool{"html": true, "htm": true, "xhtml": true, "php": true, "php5": true, "phtml": true,
	"asp": true, "aspx": true, "ashx": true, "asmx": true, "jsp": true, "jspx": true, "do": true,
	"action": true, "cgi": true, "pl": true, "json": true, "xml": true, "txt": true, "js": true, "mjs": true,
	"css": true, "svc": true, "rss": true, "wsdl": true, "cfm": true, "py": true, "rb": true}
