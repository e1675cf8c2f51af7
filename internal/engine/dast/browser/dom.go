package browser

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	cdppage "github.com/chromedp/cdproto/page"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

const (
	// probeLimit bounds one load of a page.
	probeLimit = 15 * time.Second
	// maxAttempts bounds the loads with a payload for one page.
	maxAttempts = 24
	// maxSources bounds the sources that get a canary.
	maxSources = 60
	// breakers follow the canary: which of them reach the sink says what can break out.
	breakers = `'"<>`
	// maxKept bounds the names of cookies and of the browser's storage that are tried.
	maxKept = 20
	// maxParameters and maxListeners bound what scripts are seen to read: a page may read any
	// number of names.
	maxParameters = 30
	maxListeners  = 10
)

// A DOMProbe is a page whose scripts are examined.
type DOMProbe struct {
	// As is the session of the page; nil: nobody's.
	As Session
	// Request is a GET: an attacker can only send an address.
	Request *message.Request
	// Fragment begins with "#"; empty: the address has none.
	Fragment string
	// Parameters are names that the page may read, beside those in its address and
	// those that it is seen to read.
	Parameters []string
	// Path says that scripts of the page may read the path of its address.
	Path bool
}

// A DOMAlert is a text from outside that a page's own script executes.
type DOMAlert struct {
	// Source is "fragment", "query", "path" (something behind it), "name" (window.name),
	// "referrer", "message"; or what the browser keeps for the application: "cookie",
	// "local", "session", which nobody else can write by himself.
	Source string
	// Parameter is one of the query or the fragment, or the name of what is stored; empty: the
	// whole source.
	Parameter string
	// Sink is what executes the text: "Element innerHTML", "eval", "Document write", "navigation",
	// "a href".
	Sink string
	// Payload is the text that was executed.
	Payload string
	// Address was opened with it; for a message or a name it is that of the page.
	Address string
	// Script is where the sink is called: address:line:column; empty: unknown.
	Script     string
	Executions []Execution
}

// IsStored reports whether the source is something that the browser keeps.
func (f DOMAlert) IsStored() bool { return source{kind: f.Source}.isStored() }

// A source is a part of a page's input that others choose.
type source struct {
	kind, name string
	// id follows the canary and says which source a text comes from.
	id string
}

// isStored reports whether the browser keeps it for the application.
func (s source) isStored() bool {
	return s.kind == "cookie" || s.kind == "local" || s.kind == "session"
}

// A flow is a source's text that has reached a sink.
type flow struct {
	source source
	// The name of the sink as the browser reports it.
	sink string
	// The kind of value that the sink takes: "TrustedHTML", "TrustedScript", "TrustedScriptURL",
	// "navigation", "address", "base", "request", "template".
	kind string
	// The text that the sink got.
	value  string
	script string
}

// A prober examines one page.
type prober struct {
	b      *Browser
	t      DOMProbe
	canary string
	// A host that the browser answers for, as an attacker's would; nothing is sent to it.
	attackerHost string
	// What stands between the path and what is appended to it.
	joint    string
	sources  []source
	attempts int

	mu    sync.Mutex
	flows []flow
	// Parameters and stored values that scripts were seen to read.
	read []source
	// Source texts of listeners for messages.
	listeners []string
}

// ProbeDOM looks for vulnerabilities of a page's own scripts. It loads the page with a
// canary in every source at once and watches which reach a sink that could execute
// them, with characters left that can break out; only those are tried, with a few
// payloads that run nothing but a function of ours. What is returned was executed. This
// is DOM-based cross-site scripting (CWE-79).
func (b *Browser) ProbeDOM(ctx context.Context, t DOMProbe) ([]DOMAlert, error) {
	if t.Request.Method != http.MethodGet {
		return nil, fmt.Errorf("a page that is opened by %s has no address to be sent", t.Request.Method)
	}
	p := &prober{b: b, t: t, canary: "zq" + strings.ToLower(rand.Text()[:8]),
		attackerHost: strings.ToLower(rand.Text()[:10]) +
			".example"}
	for _, q := range t.Request.Query {
		if !isNameless(q) {
			p.addSource("query", q.Name)
		}
	}
	_, _, params := splitFragment(t.Fragment)
	for _, q := range params {
		p.addSource("fragment", q.Name)
	}
	p.addSource("fragment", "")
	p.addSource("query", "")
	p.addSource("name", "")
	p.addSource("referrer", "")
	p.addSource("message", "")
	for _, name := range t.Parameters {
		p.addSource("query", name)
	}
	if err := p.watchSinks(ctx); err != nil {
		return nil, err
	}
	if p.addRead() { // once more, with what it asked for
		if err := p.watchSinks(ctx); err != nil {
			return nil, err
		}
	}
	// By itself: a changed path may be another page, which would hide all other flows.
	if err := p.watchPath(ctx); err != nil {
		return nil, err
	}
	return p.proveFlows(ctx)
}

// watchPath loads the page with more behind its path, which to many servers is the same
// page.
func (p *prober) watchPath(ctx context.Context) error {
	if !p.t.Path || !p.addSource("path", "") {
		return nil
	}
	// /page/canary for routers and PATH_INFO, /page;canary for servers that drop parameters of the
	// path.
	for _, p.joint = range []string{"/", ";"} {
		if err := p.watchSinks(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		reached := slices.ContainsFunc(p.flows, func(f flow) bool { return f.source.kind == "path" })
		p.mu.Unlock()
		if reached {
			return nil
		}
	}
	return nil
}

// addSource adds a source that will hold a canary of its own; false: it is there
// already, or there are enough.
func (p *prober) addSource(kind, name string) bool {
	if len(p.sources) >= maxSources || slices.ContainsFunc(p.sources, func(s source) bool {
		return s.kind == kind && s.name == name
	}) {
		return false
	}
	p.sources = append(p.sources, source{kind: kind, name: name, id: "n" + strconv.Itoa(len(p.sources)) + "e"})
	return true
}

// addRead adds the parameters that scripts have asked for.
func (p *prober) addRead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	more := false
	for _, r := range p.read {
		more = p.addSource(r.kind, r.name) || more
	}
	return more
}

// splitFragment reads a fragment as a route with parameters: "#/search?q=a", or
// "#q=a&b=c". Routers of single-page applications read it so.
func splitFragment(fragment string) (route string, question bool, params []message.Param) {
	text := strings.TrimPrefix(fragment, "#")
	if before, after, ok := strings.Cut(text, "?"); ok {
		return before, true, message.ParseQuery(after)
	}
	if strings.Contains(text, "=") {
		return "", false, message.ParseQuery(text)
	}
	return text, true, nil
}

// values are what the sources hold in one load; one that is not named keeps what it has.
type values map[source]string

// buildAddress puts values into the address.
func (p *prober) buildAddress(v values) (r *message.Request, fragment string) {
	r = p.t.Request.Clone()
	fragment = p.t.Fragment
	route, question, params := splitFragment(fragment)
	changed := false
	for _, s := range p.sources {
		value, ok := v[s]
		switch {
		case !ok || s.name == "" && s.kind != "path":
		case s.kind == "path":
			r.Path = strings.TrimSuffix(r.Path, "/") + p.joint + escapePath(value)
		case s.kind == "query":
			r.Query = setParam(r.Query, s.name, value)
		case s.kind == "fragment":
			params, changed = setParam(params, s.name, value), true
		}
	}
	if whole, ok := v[p.findSource("query", "")]; ok {
		r.Query = slices.DeleteFunc(r.Query, isNameless)
		r.RawQuery = joinQuery(message.EncodeQuery(r.Query), strings.ReplaceAll(escapeFragment(whole), "#", "%23"))
	}
	whole, ok := v[p.findSource("fragment", "")]
	if changed {
		return r, buildFragment(route, question, joinQuery(message.EncodeQuery(params), escapeFragment(whole)))
	}
	if ok {
		fragment = "#" + escapeFragment(whole)
	}
	return r, fragment
}

// buildFragment is the opposite of splitFragment.
func buildFragment(route string, question bool, query string) string {
	if question {
		route += "?"
	}
	return "#" + route + query
}

// parameterName is a text that can be the name of a parameter.
var parameterName = lazyregexp.New(`^[\w.\[\]-]+$`)

// isNameless reports whether a part of a query is no parameter but a text that is read as
// a whole, such as an address.
func isNameless(q message.Param) bool { return q.Bare && !parameterName.MatchString(q.Name) }

// joinQuery puts a text behind a query.
func joinQuery(query, text string) string {
	if query == "" || text == "" {
		return query + text
	}
	return query + "&" + text
}

// escapeFragment escapes what a browser's address bar would.
func escapeFragment(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", `"`, "%22", "<", "%3C", ">", "%3E", "`", "%60").Replace(s)
}

// escapePath escapes what would end the path, and what a browser's address bar would.
func escapePath(s string) string {
	return strings.NewReplacer("?", "%3F", "#", "%23", "{", "%7B", "}", "%7D").Replace(escapeFragment(s))
}

// setParam sets a parameter of a query, or adds it. The list that is given stays as it
// is.
func setParam(list []message.Param, name, value string) []message.Param {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Name == name {
			list[i].Value, list[i].Bare = value, false
			return list
		}
	}
	return append(list, message.Param{Name: name, Value: value})
}

// findSource returns a source by its kind and name; the zero source when it is not
// examined.
func (p *prober) findSource(kind, name string) source {
	for _, s := range p.sources {
		if s.kind == kind && s.name == name {
			return s
		}
	}
	return source{}
}

// loadPage opens the page with the values.
func (p *prober) loadPage(ctx context.Context, v values, o PageOptions) (*Page, error) {
	o.As, o.windowName, o.attackerHost = p.t.As, v[p.findSource("name", "")], p.attackerHost
	for s, value := range v {
		if s.isStored() {
			o.kept = append(o.kept, storedValue{Kind: s.kind, Name: s.name, Value: value})
		}
	}
	page, err := p.b.Page(ctx, o)
	if err != nil {
		return nil, err
	}
	r, fragment := p.buildAddress(v)
	to := cdppage.NavigateParams{URL: encodeSpaces(r.Address() + fragment)}
	// An attacker's page chooses its own address and its referrer policy.
	if value, ok := v[p.findSource("referrer", "")]; ok {
		to.Referrer, to.ReferrerPolicy = "https://referrer.example/"+escapePath(value)+"?"+escapeFragment(value),
			cdppage.ReferrerPolicyUnsafeURL
	}
	err = page.navigate(ctx, to, probeLimit)
	if value, ok := v[p.findSource("message", "")]; ok && err == nil {
		err = p.postMessages(ctx, page, value)
	}
	if err != nil && page.checkAlive(ctx) != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// encodeSpaces writes spaces so that every way of decoding reads them: as a plus sign,
// decodeURIComponent does not.
func encodeSpaces(address string) string { return strings.ReplaceAll(address, "+", "%20") }

// watchSinks loads the page with canaries everywhere and keeps what reaches sinks. Each
// canary ends in an id of its source and in the characters that break out.
func (p *prober) watchSinks(ctx context.Context) error {
	v := values{}
	for _, s := range p.sources {
		v[s] = p.canary + s.id + breakers
	}
	page, err := p.loadPage(ctx, v, PageOptions{trusted: true, canary: p.canary, report: p.handleReport,
		allow: p.allowRequest})
	if err != nil {
		return err
	}
	defer page.Close()
	var holders []struct{ Kind, Value string }
	if err := page.Eval(ctx, page.scriptCall("holders", p.canary), &holders); err != nil {
		return nil //nolint:nilerr // not a document
	}
	for _, h := range holders {
		kind := "address"
		switch h.Kind {
		case "template":
			kind = h.Kind
		case "base href":
			kind = "base"
		}
		p.recordFlow(flow{sink: h.Kind, kind: kind, value: h.Value})
	}
	return nil
}

// allowRequest refuses to leave the page for an address with the canary, which is a sink of
// its own.
func (p *prober) allowRequest(s *Sent) error {
	if s.Kind == "document" && s.Method == http.MethodGet {
		last := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
		own := p.joint != "" && strings.HasPrefix(last, p.canary+p.findSource("path", "").id)
		if strings.HasPrefix(last, p.canary) && !own {
			p.recordFlow(flow{sink: "navigation", kind: "navigation", value: last})
			return errors.New("the page navigates to an attacker-controlled URL")
		}
	}
	return nil
}

// handleReport takes what our script tells.
func (p *prober) handleReport(kind string, text json.RawMessage) {
	switch kind {
	case "sink":
		var s struct{ Sink, Type, Value, At string }
		if json.Unmarshal(text, &s) == nil {
			p.recordFlow(flow{sink: s.Sink, kind: s.Type, value: s.Value, script: firstCaller(s.At)})
		}
	case "parameter":
		var r struct{ Name, Of string }
		if json.Unmarshal(text, &r) == nil {
			p.recordParameter(r.Name, r.Of)
		}
	case "kept":
		var r struct{ Kind, Name string }
		if json.Unmarshal(text, &r) == nil {
			p.recordStored(source{kind: r.Kind, name: r.Name})
		}
	case "message":
		var s string
		if json.Unmarshal(text, &s) == nil {
			p.recordListener(s)
		}
	}
}

// recordStored keeps the name of a cookie or of an entry of the storage that scripts read.
func (p *prober) recordStored(s source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.isStored() && len(p.read) < maxParameters+maxKept && !slices.Contains(p.read, s) {
		p.read = append(p.read, s)
	}
}

// recordListener keeps the source of a listener for messages of other windows.
func (p *prober) recordListener(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listeners) < maxListeners && !slices.Contains(p.listeners, text) {
		p.listeners = append(p.listeners, text)
	}
}

// recordParameter keeps a name that scripts have asked for; the text in which they did tells
// by its canary whether it is the query or the fragment.
func (p *prober) recordParameter(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	read := source{kind: "query", name: name}
	for _, s := range p.sources {
		if s.kind == "fragment" && strings.Contains(text, p.canary+s.id) {
			read.kind = s.kind
		}
	}
	if len(p.read) < maxParameters+maxKept && name != "" && !slices.Contains(p.read, read) {
		p.read = append(p.read, read)
	}
}

// stackPlace is a line of a stack that names a script: its address, query, line and column.
var stackPlace = lazyregexp.New(`(https?://[^\s()?#]+)([^\s()]*?)(:\d+:\d+)`)

// firstCaller returns the first place of a stack, without a query. Two reports of one
// call then have the same script.
func firstCaller(stack string) string {
	m := stackPlace.FindStringSubmatch(stack)
	if m == nil {
		return ""
	}
	return m[1] + m[3]
}

// recordFlow keeps a flow for every source whose canary the value holds. A value may
// hold the canaries of several sources.
func (p *prober) recordFlow(f flow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sources {
		f.source = s
		known := func(k flow) bool {
			return k.source == s && k.kind == f.kind && k.sink == f.sink && k.script == f.script
		}
		if strings.Contains(f.value, p.canary+s.id) && len(p.flows) < 200 && !slices.ContainsFunc(p.flows, known) {
			p.flows = append(p.flows, f)
		}
	}
}

// proveFlows tries payloads for what has reached a sink, one vulnerability for each source and sink.
func (p *prober) proveFlows(ctx context.Context) ([]DOMAlert, error) {
	p.mu.Lock()
	flows := slices.Clone(p.flows)
	p.mu.Unlock()
	slices.SortStableFunc(flows, func(a, b flow) int { return cmp.Compare(rankSource(a.source), rankSource(b.source)) })
	var out []DOMAlert
	tried := map[source][]string{}
	for _, f := range flows {
		if slices.ContainsFunc(out, func(d DOMAlert) bool { return d.Sink == f.sink && d.Script == f.script }) {
			continue // the same sink by another source
		}
		for _, shape := range flowPayloads(f.kind, f.value, p.canary+f.source.id) {
			if slices.Contains(tried[f.source], shape) {
				continue // whatever it reaches, it has reached then
			}
			if p.attempts >= maxAttempts || ctx.Err() != nil {
				return out, ctx.Err()
			}
			tried[f.source] = append(tried[f.source], shape)
			flaw, err := p.tryPayload(ctx, f, shape)
			if err != nil {
				return out, err
			}
			if flaw != nil {
				out = append(out, *flaw)
				break
			}
		}
	}
	return out, nil
}

// rankSource orders sources by how easily somebody else chooses them. A link is easier
// to send than a cookie is to set.
func rankSource(s source) int {
	return slices.Index([]string{"query", "fragment", "path", "message", "name", "referrer", "cookie", "session",
		"local"}, s.kind)*2 + min(1, 1-min(1, len(s.name)))
}

// tryPayload loads the page with one payload; nil: nothing was executed. The name of
// the function is random, so that no script of the page calls it by chance.
func (p *prober) tryPayload(ctx context.Context, f flow, shape string) (*DOMAlert, error) {
	p.attempts++
	name := "f" + strings.ToLower(rand.Text()[:10])
	payload := strings.NewReplacer("F()", name+"()", "=F#", "="+name+"#", "HOST", p.attackerHost).Replace(shape)
	var mu sync.Mutex
	var done []Execution
	v := values{f.source: payload}
	page, err := p.loadPage(ctx, v, PageOptions{names: []string{name}, attackerBody: name + "()//<img src=x onerror=" +
		name +
		"()>", Agree: true, report: func(kind string, _ json.RawMessage) {
		mu.Lock()
		defer mu.Unlock()
		if kind == "call" && len(done) == 0 {
			done = append(done, Execution{Kind: "call", Text: name})
		}
	}})
	if err != nil {
		return nil, err
	}
	defer page.Close()
	ran := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(done) > 0
	}
	if !ran() {
		page.provokeMarker(ctx, name, f.sink == "Function", ran) // a function may be called later
	}
	if !ran() {
		return nil, nil
	}
	mu.Lock()
	defer mu.Unlock()
	r, fragment := p.buildAddress(v)
	for i := range done {
		done[i].Address = page.Address()
	}
	return &DOMAlert{Source: f.source.kind, Parameter: f.source.name, Sink: f.sink, Payload: payload,
		Address: encodeSpaces(r.Address() + fragment), Script: f.script, Executions: done}, nil
}

// What a listener for messages looks at: its data's properties, and the values that
// they are compared with.
var (
	property = lazyregexp.New(`\bdata(?:\?)?(?:\.(\w+)|\[["'](\w+)["']\])`)
	anyProp  = lazyregexp.New(`\b\w+\.(\w+)`)
	compared = lazyregexp.New(`\.(\w+)\s*===?\s*["']([^"']{1,100})["']`)
	cased    = lazyregexp.New(`case\s*["']([^"']{1,100})["']`)
	hosts    = lazyregexp.New(`[A-Za-z0-9-]+(?:\\?\.[A-Za-z0-9-]+)+`)
)

// foreignOrigin is that of a window that sends messages.
const foreignOrigin = "https://message.example"

// messageOrigins are foreign ones that a listener may take for one that it knows, when it looks
// for a part of a name.
func messageOrigins(listener string) []string {
	out := []string{foreignOrigin}
	if !strings.Contains(listener, "origin") {
		return out
	}
	for _, m := range hosts.FindAllString(listener, 40) {
		host := strings.ReplaceAll(m, `\`, "")
		if last := host[strings.LastIndexByte(host, '.')+1:]; len(out) < 4 && len(last) <= 6 &&
			!strings.Contains(host, "data") && !strings.Contains(host, "origin") && host != "" {
			out = append(out, "https://"+host+".message.example", "https://message-"+host)
		}
	}
	return out
}

// postMessages sends messages of another window to the page: the text, and objects of the
// shape that its listeners look for. Their origin is a foreign one.
func (p *prober) postMessages(ctx context.Context, page *Page, text string) error {
	own := ""
	if err := page.Eval(ctx, page.scriptCall("listening"), &own); err != nil {
		return err
	}
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	if own != "" {
		listeners = append(listeners, own)
	}
	if len(listeners) == 0 {
		return nil
	}
	all := []any{text}
	for _, l := range listeners {
		shaped, err := messagesFor(l, text)
		if err != nil {
			return err
		}
		all = append(all, shaped...)
	}
	// Listeners that check the origin by a part of its name accept one of these.
	origins := messageOrigins(strings.Join(listeners, "\n"))
	if err := page.Eval(ctx, page.scriptCall("post", all, origins), nil); err != nil {
		return err
	}
	return page.Settle(ctx, 2*time.Second)
}

// messagesFor returns messages with the text in every property that the source of a
// listener reads, as objects and as JSON, with the values that it compares properties
// with. None are returned for one that reads no property.
func messagesFor(listener, text string) ([]any, error) {
	object := map[string]any{}
	for _, expression := range []*lazyregexp.Regexp{property, anyProp} {
		for _, m := range expression.FindAllStringSubmatch(listener, 40) {
			if name := m[1]; name != "" {
				object[name] = text
			} else if len(m) > 2 && m[2] != "" {
				object[m[2]] = text
			}
		}
	}
	// if (e.data.type === "render") requires this value beside the payload.
	for _, m := range compared.FindAllStringSubmatch(listener, 20) {
		object[m[1]] = m[2]
	}
	if len(object) == 0 {
		return nil, nil
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	// Listeners read objects, or parse a text as JSON.
	all := []any{object, string(encoded)}
	for _, m := range cased.FindAllStringSubmatch(listener, 5) {
		for _, name := range []string{"type", "action", "kind", "command", "event"} {
			if _, ok := object[name]; ok {
				variant := maps.Clone(object)
				variant[name] = m[1]
				all = append(all, variant)
			}
		}
	}
	return all, nil
}
