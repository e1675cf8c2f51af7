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
	probeLimit  = 15 * time.Second // of one load of a page
	maxAttempts = 24               // loads with a payload, for one address
	maxSources  = 60
	breakers    = `'"<>` // follow the canary: what is left of them tells what can break out
	maxKept     = 20     // names of cookies and of the browser's storage that are tried
)

// A DOMProbe is a page whose scripts are examined.
type DOMProbe struct {
	As       Session
	Request  *message.Request // GET
	Fragment string           // with "#"; may be empty
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
	Source    string
	Parameter string // of the query or the fragment, or the name of what is kept; empty: the whole
	Sink      string // "Element innerHTML", "eval", "Document write", "navigation", "a href", …
	Payload   string // the text that was executed
	Address   string // that was opened with it; of a message or name: the page's
	// Script is where the sink is called: address:line:column; empty: unknown.
	Script     string
	Executions []Execution
}

// IsStored reports whether the source is something that the browser keeps.
func (f DOMAlert) IsStored() bool { return source{kind: f.Source}.kept() }

// A source is something of a page that others choose.
type source struct {
	kind, name string
	id         string // follows the canary
}

// kept reports whether the browser keeps it for the application.
func (s source) kept() bool { return s.kind == "cookie" || s.kind == "local" || s.kind == "session" }

// A flow is a source's text that has reached a sink.
type flow struct {
	source source
	sink   string // as the browser names it
	// "TrustedHTML", "TrustedScript", "TrustedScriptURL", "navigation", "address", "base", "request", "template"
	kind   string
	value  string // that the sink got
	script string
}

// A prober examines one page.
type prober struct {
	b        *Browser
	t        DOMProbe
	canary   string
	lure     string // a host that answers as an attacker's would; nothing is sent to it
	joint    string // before what is put behind the path
	sources  []source
	attempts int

	mu        sync.Mutex
	flows     []flow
	read      []source // parameters, and what is kept, that scripts read
	listeners []string // source texts of listeners for messages
}

// ProbeDOM looks for vulnerabilities of a page's own scripts. It loads the page with a canary in
// every source at once and watches which reach a sink that could execute them, with
// characters left that can break out; only those are tried, with a few payloads that
// run nothing but a function of ours. What is returned was executed.
func (b *Browser) ProbeDOM(ctx context.Context, t DOMProbe) ([]DOMAlert, error) {
	if t.Request.Method != http.MethodGet {
		return nil, fmt.Errorf("a page that is opened by %s has no address to be sent", t.Request.Method)
	}
	p := &prober{b: b, t: t, canary: "zq" + strings.ToLower(rand.Text()[:8]), lure: strings.ToLower(rand.Text()[:10]) +
		".example"}
	for _, q := range t.Request.Query {
		if !nameless(q) {
			p.add("query", q.Name)
		}
	}
	_, _, params := splitFragment(t.Fragment)
	for _, q := range params {
		p.add("fragment", q.Name)
	}
	p.add("fragment", "")
	p.add("query", "")
	p.add("name", "")
	p.add("referrer", "")
	p.add("message", "")
	for _, name := range t.Parameters {
		p.add("query", name)
	}
	if err := p.watch(ctx); err != nil {
		return nil, err
	}
	if p.addRead() { // once more, with what it asked for
		if err := p.watch(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.watchPath(ctx); err != nil {
		return nil, err
	}
	return p.prove(ctx)
}

// watchPath loads the page with more behind its path, which to many servers is the same
// page.
func (p *prober) watchPath(ctx context.Context) error {
	if !p.t.Path || !p.add("path", "") {
		return nil
	}
	for _, p.joint = range []string{"/", ";"} {
		if err := p.watch(ctx); err != nil {
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

func (p *prober) add(kind, name string) bool {
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
		more = p.add(r.kind, r.name) || more
	}
	return more
}

// splitFragment reads a fragment as a route with parameters: "#/search?q=a", or
// "#q=a&b=c".
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

// address puts values into the address.
func (p *prober) address(v values) (r *message.Request, fragment string) {
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
			r.Query = put(r.Query, s.name, value)
		case s.kind == "fragment":
			params, changed = put(params, s.name, value), true
		}
	}
	if whole, ok := v[p.find("query", "")]; ok {
		r.Query = slices.DeleteFunc(r.Query, nameless)
		r.RawQuery = joined(message.EncodeQuery(r.Query), strings.ReplaceAll(escapeFragment(whole), "#", "%23"))
	}
	whole, ok := v[p.find("fragment", "")]
	switch {
	case ok && !changed:
		fragment = "#" + escapeFragment(whole)
	case changed:
		fragment = "#" + route
		if question {
			fragment += "?"
		}
		fragment += joined(message.EncodeQuery(params), escapeFragment(whole))
	}
	return r, fragment
}

// plain is a text that can be the name of a parameter.
var plain = lazyregexp.New(`^[\w.\[\]-]+$`)

// nameless reports whether a part of a query is no parameter but a text that is read as
// a whole, such as an address.
func nameless(q message.Param) bool { return q.Bare && !plain.MatchString(q.Name) }

// joined puts a text behind a query.
func joined(query, text string) string {
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

func put(list []message.Param, name, value string) []message.Param {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Name == name {
			list[i].Value, list[i].Bare = value, false
			return list
		}
	}
	return append(list, message.Param{Name: name, Value: value})
}

func (p *prober) find(kind, name string) source {
	for _, s := range p.sources {
		if s.kind == kind && s.name == name {
			return s
		}
	}
	return source{}
}

// load opens the page with the values.
func (p *prober) load(ctx context.Context, v values, o PageOptions) (*Page, error) {
	o.As, o.windowName, o.lure = p.t.As, v[p.find("name", "")], p.lure
	for s, value := range v {
		if s.kept() {
			o.kept = append(o.kept, kept{Kind: s.kind, Name: s.name, Value: value})
		}
	}
	page, err := p.b.Page(ctx, o)
	if err != nil {
		return nil, err
	}
	r, fragment := p.address(v)
	to := cdppage.NavigateParams{URL: spaced(r.Address() + fragment)}
	if value, ok := v[p.find("referrer", "")]; ok {
		to.Referrer, to.ReferrerPolicy = "https://referrer.example/"+escapePath(value)+"?"+escapeFragment(value),
			cdppage.ReferrerPolicyUnsafeURL
	}
	err = page.open(ctx, to, probeLimit)
	if value, ok := v[p.find("message", "")]; ok && err == nil {
		err = p.post(ctx, page, value)
	}
	if err != nil && page.alive(ctx) != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// spaced writes spaces so that every way of decoding reads them: as a plus sign,
// decodeURIComponent does not.
func spaced(address string) string { return strings.ReplaceAll(address, "+", "%20") }

// watch loads the page with canaries everywhere and keeps what reaches sinks.
func (p *prober) watch(ctx context.Context) error {
	v := values{}
	for _, s := range p.sources {
		v[s] = p.canary + s.id + breakers
	}
	page, err := p.load(ctx, v, PageOptions{trusted: true, canary: p.canary, report: p.report, allow: p.allow})
	if err != nil {
		return err
	}
	defer page.Close()
	var holders []struct{ Kind, Value string }
	if err := page.Eval(ctx, page.ours("holders", p.canary), &holders); err != nil {
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
		p.flow(flow{sink: h.Kind, kind: kind, value: h.Value})
	}
	return nil
}

// allow refuses to leave the page for an address with the canary, which is a sink of
// its own.
func (p *prober) allow(s *Sent) error {
	if s.Kind == "document" && s.Method == http.MethodGet {
		last := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
		own := p.joint != "" && strings.HasPrefix(last, p.canary+p.find("path", "").id)
		if strings.HasPrefix(last, p.canary) && !own {
			p.flow(flow{sink: "navigation", kind: "navigation", value: last})
			return errors.New("the page leaves for an address that somebody else chose")
		}
	}
	return nil
}

// report takes what our script tells.
func (p *prober) report(kind string, text json.RawMessage) {
	switch kind {
	case "sink":
		var s struct{ Sink, Type, Value, At string }
		if json.Unmarshal(text, &s) == nil {
			p.flow(flow{sink: s.Sink, kind: s.Type, value: s.Value, script: caller(s.At)})
		}
	case "parameter":
		var r struct{ Name, Of string }
		if json.Unmarshal(text, &r) == nil {
			p.parameter(r.Name, r.Of)
		}
	case "kept":
		var r struct{ Kind, Name string }
		if json.Unmarshal(text, &r) == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			s := source{kind: r.Kind, name: r.Name}
			if s.kept() && len(p.read) < 30+maxKept && !slices.Contains(p.read, s) {
				p.read = append(p.read, s)
			}
		}
	case "message":
		var s string
		if json.Unmarshal(text, &s) != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.listeners) < 10 && !slices.Contains(p.listeners, s) {
			p.listeners = append(p.listeners, s)
		}
	}
}

// parameter keeps a name that scripts have asked for; the text in which they did tells
// by its canary whether it is the query or the fragment.
func (p *prober) parameter(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	read := source{kind: "query", name: name}
	for _, s := range p.sources {
		if s.kind == "fragment" && strings.Contains(text, p.canary+s.id) {
			read.kind = s.kind
		}
	}
	if len(p.read) < 30+maxKept && name != "" && !slices.Contains(p.read, read) {
		p.read = append(p.read, read)
	}
}

// place is a line of a stack that names a script: its address, query, line and column.
var place = lazyregexp.New(`(https?://[^\s()?#]+)([^\s()]*?)(:\d+:\d+)`)

// caller returns the first place of a stack, without a query.
func caller(stack string) string {
	m := place.FindStringSubmatch(stack)
	if m == nil {
		return ""
	}
	return m[1] + m[3]
}

// flow keeps a flow for every source whose canary the value holds.
func (p *prober) flow(f flow) {
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

// prove tries payloads for what has reached a sink, one vulnerability for each source and sink.
func (p *prober) prove(ctx context.Context) ([]DOMAlert, error) {
	p.mu.Lock()
	flows := slices.Clone(p.flows)
	p.mu.Unlock()
	slices.SortStableFunc(flows, func(a, b flow) int { return cmp.Compare(rank(a.source), rank(b.source)) })
	var out []DOMAlert
	tried := map[source][]string{}
	for _, f := range flows {
		if slices.ContainsFunc(out, func(d DOMAlert) bool { return d.Sink == f.sink && d.Script == f.script }) {
			continue // the same sink by another source
		}
		for _, shape := range payloads(f.kind, f.value, p.canary+f.source.id) {
			if slices.Contains(tried[f.source], shape) {
				continue // whatever it reaches, it has reached then
			}
			if p.attempts >= maxAttempts || ctx.Err() != nil {
				return out, ctx.Err()
			}
			tried[f.source] = append(tried[f.source], shape)
			flaw, err := p.attempt(ctx, f, shape)
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

// rank orders sources by how easily somebody else chooses them.
func rank(s source) int {
	return slices.Index([]string{"query", "fragment", "path", "message", "name", "referrer", "cookie", "session",
		"local"}, s.kind)*2 + min(1, 1-min(1, len(s.name)))
}

// attempt loads the page with one payload; nil: nothing was executed.
func (p *prober) attempt(ctx context.Context, f flow, shape string) (*DOMAlert, error) {
	p.attempts++
	name := "f" + strings.ToLower(rand.Text()[:10])
	payload := strings.NewReplacer("F()", name+"()", "=F#", "="+name+"#", "HOST", p.lure).Replace(shape)
	var mu sync.Mutex
	var done []Execution
	v := values{f.source: payload}
	page, err := p.load(ctx, v, PageOptions{names: []string{name}, lureBody: name + "()//<img src=x onerror=" + name +
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
		page.provoke(ctx, name, f.sink == "Function", ran) // a function may be called later
	}
	if !ran() {
		return nil, nil
	}
	mu.Lock()
	defer mu.Unlock()
	r, fragment := p.address(v)
	for i := range done {
		done[i].Address = page.Address()
	}
	return &DOMAlert{Source: f.source.kind, Parameter: f.source.name, Sink: f.sink, Payload: payload,
		Address: spaced(r.Address() + fragment), Script: f.script, Executions: done}, nil
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

// origins are foreign ones that a listener may take for one that it knows, when it looks
// for a part of a name.
func origins(listener string) []string {
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

// post sends messages of another window to the page: the text, and objects of the
// shape that its listeners look for. Their origin is a foreign one.
func (p *prober) post(ctx context.Context, page *Page, text string) error {
	own := ""
	if err := page.Eval(ctx, page.ours("listening"), &own); err != nil {
		return err
	}
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	if own != "" {
		listeners = append(listeners, own)
	}
	all := []any{text}
	for _, l := range listeners {
		object := map[string]any{}
		for _, expression := range []*lazyregexp.Regexp{property, anyProp} {
			for _, m := range expression.FindAllStringSubmatch(l, 40) {
				if name := m[1]; name != "" {
					object[name] = text
				} else if len(m) > 2 && m[2] != "" {
					object[m[2]] = text
				}
			}
		}
		for _, m := range compared.FindAllStringSubmatch(l, 20) {
			object[m[1]] = m[2]
		}
		if len(object) == 0 {
			continue
		}
		encoded, err := json.Marshal(object)
		if err != nil {
			return err
		}
		all = append(all, object, string(encoded))
		for _, m := range cased.FindAllStringSubmatch(l, 5) {
			for _, name := range []string{"type", "action", "kind", "command", "event"} {
				if _, ok := object[name]; ok {
					variant := maps.Clone(object)
					variant[name] = m[1]
					all = append(all, variant)
				}
			}
		}
	}
	if len(listeners) == 0 {
		return nil
	}
	if err := page.Eval(ctx, page.ours("post", all, origins(strings.Join(listeners, "\n"))), nil); err != nil {
		return err
	}
	return page.Settle(ctx, 2*time.Second)
}
