package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/lazyregexp"
)

const (
	// openLimit bounds the opening of a page.
	openLimit = 15 * time.Second // of a page in an exploration
	// actLimit bounds what follows an event.
	actLimit = 4 * time.Second
	// alikeLimit bounds the elements at locations of the same kind that are tried, such as rows of
	// a table.
	alikeLimit = 10
	// maxRevived bounds the pages that may die.
	maxRevived = 3
	// maxQueued bounds the addresses and the states that wait.
	maxQueued = 5000
)

// An Exploration says how far to walk through an application. Zero numbers stand for
// the defaults.
type Exploration struct {
	// As is the session; nil: nobody's.
	As Session
	// Seeds are addresses to begin with, with fragments.
	Seeds []string
	// Routes are paths that a router of the application is known to show.
	Routes []string
	// Login is filled in where the application asks for a password; nil: nothing is.
	// Its form needs no address, and it has no steps.
	Login *Login
	// Follow opens links to other pages too; without it only the seeds are opened, and
	// routes within them.
	Follow bool
	// Submit sends forms, and requests that may change something (POST, PUT, PATCH).
	// Without it they are seen, and refused.
	Submit bool
	// Bold presses buttons that say that they delete or buy, and sends DELETE.
	Bold bool
	// States bounds the states that differ in structure; 0: 300.
	States int
	// Events bounds the events that are dispatched; 0: 2,000.
	Events int
	// Depth bounds the events in a row from an address; 0: 6.
	Depth int
	// Time bounds the exploration; 0: 5 minutes.
	Time time.Duration
	// Found takes what is seen, one at a time.
	Found func(Observation)
}

// An Observation is something that the browser has seen of the application.
type Observation struct {
	// Kind is "request" (sent or not), "link", "form", "route", "popup", "socket",
	// "message" (a listener for messages of other windows), "storage", "error".
	Kind string
	// Request is set for request, link, form, route and popup, socket (as http).
	Request  *message.Request
	Fragment string // of a link or route, with "#"
	// Type is how the page sent a request: "document", "xhr", "script", …
	Type    string
	Foreign bool   // of another host
	Refused string // why a request was not sent; empty: it was
	Page    string // the address on which it was seen
	Text    string // of a listener, the name of a key ("local:token"), an error, an address that is not http
}

// A ExplorationResult is how far an exploration came.
type ExplorationResult struct {
	States, Events, Pages int
	// Left says why it ended before everything was tried; empty: everything was.
	Left string
	// Ended are pages that died or had to be closed, with the reason.
	Ended []string
	// Entered is what the browser held after it had signed in; nil: it has not.
	Entered *SignInState
}

// setDefaults replaces what is not given.
func (e *Exploration) setDefaults() {
	for _, d := range []struct {
		field *int
		value int
	}{{&e.States, 300}, {&e.Events, 2000}, {&e.Depth, 6}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if e.Time <= 0 {
		e.Time = 5 * time.Minute
	}
	if e.Found == nil {
		e.Found = func(Observation) {}
	}
}

// harmful are words on controls that take something away or cost something.
var harmful = lazyregexp.New(`(?i)\b(delete|remove|erase|wipe|clear all|pay( now)?|purchase|buy( now)?|place order|order now|empty|discard|enable|disable|activate|deactivate|publish|revoke|regenerate|löschen|entfernen|bezahlen|aktivieren|deaktivieren|supprimer|payer|activer|désactiver|eliminar|borrar|pagar|activar|desactivar|elimina|rimuovi|paga|attiva|disattiva|excluir|remover|ativar|desativar)\b`)

// staticFile are files that are no pages.
var staticFile = lazyregexp.New(`(?i)\.(js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|eot|otf|mp[34]|webm|ogg|wav|pdf|zip|gz|tgz|tar|rar|7z|exe|dmg|apk|jar|docx?|xlsx?|pptx?|csv|wasm)$`)

// A snapshot is what a page offers, as expected interaction.js collects it.
type snapshot struct {
	Links     []string   `json:"links"`
	Forms     []pageForm `json:"forms"`
	Elements  []element  `json:"elements"`
	Storage   []string   `json:"storage"`
	Address   string     `json:"address"`
	Signature string     `json:"signature"`
	Document  string     `json:"document"`
	// Secrets is the number of visible fields for passwords.
	Secrets int `json:"secrets"`
}

// pageForm is a form of a page.
type pageForm struct {
	Index   int      `json:"index"`
	Method  string   `json:"method"`
	Action  string   `json:"action"`
	Type    string   `json:"type"`
	Place   string   `json:"place"`
	Label   string   `json:"label"`
	Visible bool     `json:"visible"`
	Names   []string `json:"names"`
}

// element is something that reacts to events.
type element struct {
	Index  int    `json:"index"`
	Kind   string `json:"kind"` // "press", "input"
	Place  string `json:"place"`
	Label  string `json:"label"`
	Does   string `json:"does"` // its handlers, which events may replace
	Dialog bool   `json:"dialog"`
	Frame  bool   `json:"frame"` // of what stands around all pages, such as a menu
	Href   string `json:"href"`
}

// elementKey is the same for the same element of another visit; what stands around all pages
// is the same on each.
func (s *snapshot) elementKey(el *element) string {
	return el.Kind + " " + el.Label + " " + el.Does + " " + s.elementPlace(el)
}

// elementPlace is the same for elements that are likely to do the same kind of thing.
func (s *snapshot) elementPlace(el *element) string {
	if el.Frame || el.Dialog {
		return el.Place
	}
	return addressShape(s.Address) + " " + el.Place
}

// A state is a page as it was reached: an address, and events from there on.
type state struct {
	address string
	// path contains the keys of the elements, in the order of their events.
	path []string
	// looks is its signature; empty: unknown.
	looks string
	// other is a longer way to the same state, for applications that show something
	// else when a route of theirs is opened.
	other *state
}

// An explorer is one exploration under way.
type explorer struct {
	Exploration
	b      *Browser
	p      *Page
	result ExplorationResult

	mu sync.Mutex
	// Observations that were passed on.
	reported map[string]bool
	// Shapes of addresses that were queued.
	opened map[string]bool
	// Keys of elements that were tried.
	acted map[string]bool
	// How many were tried at locations of one kind.
	alike map[string]int
	// Signatures of states.
	seen map[string]bool

	// Addresses that wait; routes of the open document come first.
	addresses []string
	// States that are not exhausted, as a stack: depth first.
	frontier []state
	renewals int
}

// Explore walks through an application: opens addresses, dispatches the events that
// visible elements listen to, fills in forms, and follows what comes of it until
// nothing new appears. Its error says that the browser could not be used at all. It is
// a depth-first search, in which each state remembers how it was reached.
func (b *Browser) Explore(ctx context.Context, o Exploration) (ExplorationResult, error) {
	o.setDefaults()
	e := &explorer{Exploration: o, b: b, reported: map[string]bool{}, opened: map[string]bool{},
		acted: map[string]bool{},
		alike: map[string]int{}, seen: map[string]bool{}}
	limited, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	for _, seed := range o.Seeds {
		e.enqueueAddress(seed, true)
	}
	err := e.renewPage(limited)
	if err == nil {
		err = e.startExploration(limited)
	}
	if err == nil {
		err = e.runExploration(limited)
	}
	if e.p != nil {
		e.p.Close()
	}
	switch {
	case ctx.Err() != nil:
		return e.result, ctx.Err()
	case limited.Err() != nil:
		e.result.Left, err = "the time of the exploration was up", nil
	case err == nil && e.result.Events >= o.Events:
		e.result.Left = "the number of events was used up"
	case err == nil && e.result.States >= o.States:
		e.result.Left = "the number of states was used up"
	}
	return e.result, err
}

// renewPage opens a page, in the place of one that has died.
func (e *explorer) renewPage(ctx context.Context) error {
	if e.p != nil {
		e.p.Close()
	}
	p, err := e.b.Page(ctx, PageOptions{As: e.As, Observe: e.handleEvent, report: e.handleReport, allow: e.allowRequest,
		hurry: true})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.p = p
	return err
}

// pageAddress is the address that is open.
func (e *explorer) pageAddress() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.p == nil {
		return ""
	}
	return e.p.Address()
}

// runExploration takes addresses and states until there are none.
func (e *explorer) runExploration(ctx context.Context) error {
	for ctx.Err() == nil && e.result.Events < e.Events && e.result.States < e.States {
		var err error
		var at string
		switch {
		case len(e.addresses) > 0:
			next := e.addresses[0]
			e.addresses = e.addresses[1:]
			at, err = next, e.visitState(ctx, state{address: next})
		case len(e.frontier) > 0:
			next := e.frontier[len(e.frontier)-1]
			e.frontier = e.frontier[:len(e.frontier)-1]
			at, err = next.address, e.visitState(ctx, next)
		default:
			return nil
		}
		if err != nil && ctx.Err() == nil {
			e.reportOnce(Observation{Kind: "error", Text: err.Error()}, err.Error())
			if e.p.checkAlive(ctx) == nil {
				continue
			}
			e.result.Ended = append(e.result.Ended, at+": "+err.Error())
			if e.renewals++; e.renewals > maxRevived {
				e.result.Left = err.Error()
				return nil
			}
			if err := e.renewPage(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// visitState reaches a state and tries what it offers, going on into new states.
func (e *explorer) visitState(ctx context.Context, s state) error {
	now, err := e.openState(ctx, s)
	if err != nil {
		return err
	}
	for _, key := range s.path { // back to where it was
		i := now.indexOf(key)
		if i < 0 {
			return nil // the application has moved on
		}
		if now, err = e.actOn(ctx, i); err != nil {
			return err
		}
	}
	if s.other != nil && now.Signature != s.looks {
		return e.visitState(ctx, *s.other)
	}
	if e.result.Entered != nil && now.Secrets == 1 {
		return nil // to sign in again as somebody else would end the session
	}
	return e.exhaustPage(ctx, s, now)
}

// openState opens the address of a state, closes the banners that lie over the page, and
// collects what it offers.
func (e *explorer) openState(ctx context.Context, s state) (*snapshot, error) {
	if err := e.p.Open(ctx, s.address, openLimit); err != nil {
		return nil, err
	}
	e.result.Pages++
	closed := 0
	if err := e.p.Eval(ctx, e.p.scriptCall("dismiss"), &closed); err == nil && closed > 0 {
		if err := e.p.Settle(ctx, actLimit); err != nil {
			return nil, err
		}
	}
	return e.collectSnapshot(ctx)
}

// indexOf finds an element in a later snapshot by its key, since its index may have
// changed; -1: it is gone.
func (s *snapshot) indexOf(key string) int {
	for i := range s.Elements {
		if s.elementKey(&s.Elements[i]) == key {
			return s.Elements[i].Index
		}
	}
	return -1
}

// exhaustPage tries what the page offers as long as there is something new. An element
// that changes nothing costs one event; one that changes the page leads to a new state.
func (e *explorer) exhaustPage(ctx context.Context, at state, now *snapshot) error {
	before := &snapshot{}
	for ctx.Err() == nil && e.result.Events < e.Events && e.result.States < e.States {
		c := e.nextChoice(now, before)
		if c == nil {
			return nil
		}
		e.acted[c.key] = true
		e.alike[c.place]++
		e.result.Events++
		after, err := e.actOn(ctx, c.index)
		if err != nil {
			return err
		}
		if after.Signature == now.Signature && after.Document == now.Document {
			now = after // nothing has changed: the way here need not grow
			continue
		}
		if e.nextChoice(now, now) != nil && len(e.frontier) < maxQueued {
			at.looks = now.Signature
			e.frontier = append(e.frontier, at)
		}
		if at = at.afterEvent(c.key, now, after); len(at.path) > e.Depth {
			return nil
		}
		before, now = now, after
	}
	return nil
}

// afterEvent is the state that an event has led to. A new document begins a way of its
// own: the events before it need not be done again.
func (s state) afterEvent(key string, before, after *snapshot) state {
	longer := state{address: s.address, path: append(s.path[:len(s.path):len(s.path)], key), looks: after.Signature}
	switch {
	case before.Document != after.Document:
		return state{address: after.Address}
	case before.Address != after.Address:
		return state{address: after.Address, looks: after.Signature, other: &longer}
	case s.other != nil:
		other := *s.other
		other.path = append(other.path[:len(other.path):len(other.path)], key)
		other.looks = after.Signature
		longer.other = &other
	}
	return longer
}

// A choice is what is tried next.
type choice struct {
	key, place string
	index      int
}

// nextChoice chooses: what lies over the page, then what was not there before, then forms,
// then the rest; nil: there is nothing.
func (e *explorer) nextChoice(s, before *snapshot) *choice {
	var old *choice
	known := map[string]bool{}
	for i := range before.Elements {
		known[before.elementKey(&before.Elements[i])] = true
	}
	for i := range s.Elements {
		el := &s.Elements[i]
		c := &choice{s.elementKey(el), s.elementPlace(el), el.Index}
		if !e.mayTry(c.key, c.place, el.Label+" "+el.Href) {
			continue
		}
		if el.Dialog || !known[c.key] && len(known) > 0 {
			return c
		}
		if old == nil {
			old = c
		}
	}
	if c := e.nextForm(s); c != nil {
		return c
	}
	return old
}

// nextForm chooses a form that is sent; nil: there is none, or forms are only seen.
func (e *explorer) nextForm(s *snapshot) *choice {
	if !e.Submit {
		return nil
	}
	for _, f := range s.Forms {
		key := formKey(&f)
		if f.Visible && e.mayTry(key, f.Place, f.Label+" "+f.Action) && e.leadsToTarget(&f) {
			return &choice{key, f.Place, f.Index}
		}
	}
	return nil
}

// formKey is the same for a form of the same fields that leads to the same place.
func formKey(f *pageForm) string {
	return "form " + f.Method + " " + strings.Join(f.Names, ",") + " " + addressShape(f.Action)
}

// mayTry reports whether an element is tried: once, with few of the same kind, and
// never one whose words say that it does harm.
func (e *explorer) mayTry(key, place, words string) bool {
	return !e.acted[key] && e.alike[place] < alikeLimit && !sitemap.IsDangerous(words) &&
		(e.Bold || !harmful.MatchString(words))
}

// leadsToTarget reports whether a form leads to the target.
func (e *explorer) leadsToTarget(f *pageForm) bool {
	r, err := message.Parse(f.Action)
	return err != nil || e.b.o.Within(r) // a form of scripts leads nowhere by itself
}

// actOn dispatches events on an element of the last snapshot. Events go to the element
// as a user's would, in the same order.
func (e *explorer) actOn(ctx context.Context, index int) (*snapshot, error) {
	e.p.resetCounters()
	if err := e.p.Eval(ctx, e.p.scriptCall("act", index), nil); err != nil {
		if dead := e.p.checkAlive(ctx); dead != nil {
			return nil, dead
		}
		// The document was left while its events were dispatched.
	}
	if err := e.p.Settle(ctx, actLimit); err != nil {
		return nil, err
	}
	return e.collectSnapshot(ctx)
}

// collectSnapshot takes a snapshot and tells what it shows. A new shape with a new
// signature is a new state.
func (e *explorer) collectSnapshot(ctx context.Context) (*snapshot, error) {
	s := &snapshot{}
	for range 3 { // a document may just be replaced by the next
		err := e.p.Eval(ctx, e.p.scriptCall("collect"), s)
		if err == nil && s.Signature != "" {
			break
		}
		if err := e.p.Settle(ctx, actLimit); err != nil {
			return nil, err
		}
	}
	if s.Signature == "" {
		return s, nil // no document that scripts run in
	}
	if key := addressShape(s.Address) + " " + s.Signature; !e.seen[key] {
		e.seen[key] = true
		e.result.States++
	}
	for _, link := range s.Links {
		e.recordLink(link, s.Address)
	}
	for i := range s.Forms {
		e.recordForm(ctx, &s.Forms[i], s.Address)
	}
	for _, name := range s.Storage {
		e.reportOnce(Observation{Kind: "storage", Text: name, Page: s.Address}, name)
	}
	return s, nil
}

// recordLink tells of an address, and queues it.
func (e *explorer) recordLink(address, page string) {
	r, fragment, err := splitAddress(address)
	if err != nil {
		return
	}
	r.Origin, r.Referer = "link", page
	e.reportOnce(Observation{Kind: "link", Request: r, Fragment: fragment, Page: page, Foreign: !e.b.o.Within(r)},
		r.Address()+fragment)
	within, _, err := splitAddress(page)
	route := err == nil && fragment != "" && within.Address() == r.Address()
	if route || e.Follow {
		e.enqueueAddress(address, false)
	}
}

// enqueueAddress plans an address, once for all of its shape. The addresses that were
// given are opened in any case.
func (e *explorer) enqueueAddress(address string, given bool) {
	r, fragment, err := splitAddress(address)
	if err != nil || !given && (!e.b.o.Within(r) || staticFile.MatchString(path.Base(r.Path)) ||
		sitemap.IsDangerous(r.Address()+fragment)) {
		return
	}
	key := addressShape(address)
	if given {
		key = address
	}
	if e.opened[key] || len(e.addresses) >= maxQueued {
		return
	}
	e.opened[key] = true
	if fragment != "" && !given { // within the document that is open
		e.addresses = append([]string{address}, e.addresses...)
		return
	}
	e.addresses = append(e.addresses, address)
}

// splitAddress separates an address from its fragment.
func splitAddress(address string) (*message.Request, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.EscapedFragment()
	}
	u.Fragment, u.RawFragment = "", ""
	r, err := message.FromURL(u)
	return r, fragment, err
}

// maxRemembered bounds the routes that are kept of one document, and the documents.
const maxRemembered = 300

// rememberRoute keeps a fragment of a document that is a route or has parameters.
func (b *Browser) rememberRoute(r *message.Request, fragment string) {
	if !routeFragment.MatchString(fragment) && !strings.Contains(fragment, "=") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	document := sitemap.OperationKey(r)
	if len(b.routes[document]) < maxRemembered && len(b.routes) < maxRemembered &&
		!slices.Contains(b.routes[document], fragment) {
		b.routes[document] = append(b.routes[document], fragment)
	}
}

// Routes returns up to n fragments of a document that explorations have seen, one of
// each shape; those with parameters come first.
func (b *Browser) Routes(r *message.Request, n int) []string {
	b.mu.Lock()
	all := slices.Clone(b.routes[sitemap.OperationKey(r)])
	b.mu.Unlock()
	slices.SortStableFunc(all, func(x, y string) int {
		return cmp.Compare(strings.Count(y, "=")-strings.Count(x, "="), 0)
	})
	seen := map[string]bool{}
	out := slices.DeleteFunc(all, func(fragment string) bool {
		key := addressShape(r.Address() + fragment)
		again := seen[key]
		seen[key] = true
		return again
	})
	return out[:min(n, len(out))]
}

// maxAsking bounds the pages that are kept of one request of scripts.
const maxAsking = 3

// recordAsking keeps the page whose script has asked for something.
func (b *Browser) recordAsking(s *Sent, page string) {
	if s.Foreign || s.Refused != "" || page == "" {
		return
	}
	key := askingKey(s.Request)
	b.mu.Lock()
	defer b.mu.Unlock()
	if pages := b.asking[key]; len(pages) < maxAsking && len(b.asking) < maxQueued &&
		!slices.ContainsFunc(pages, func(p string) bool { return addressShape(p) == addressShape(page) }) {
		b.asking[key] = append(pages, page)
	}
}

// askingKey is the same for requests to the same place.
func askingKey(r *message.Request) string {
	return r.Method + " " + r.Base() + strings.TrimSuffix(sitemap.PathShape(r), "/")
}

// routeFragment are the fragments that look like routes; others are places in a text.
var routeFragment = lazyregexp.New(`^#!?/`)

// addressShape is the same for addresses of the same page: identifiers in the path and
// values of parameters do not count, nor do fragments that are no routes. Without it an
// exploration would open every item of a list.
func addressShape(address string) string {
	r, fragment, err := splitAddress(address)
	if err != nil {
		return address
	}
	out := sitemap.OperationKey(r)
	if routeFragment.MatchString(fragment) {
		if route, err := message.Parse("http://route/" + strings.TrimLeft(fragment, "#!/")); err == nil {
			out += sitemap.OperationKey(route)
		}
	}
	return out
}

// recordForm tells of a form as the request that it makes. The values are those that
// the page and our script would send.
func (e *explorer) recordForm(ctx context.Context, f *pageForm, page string) {
	r, _, err := splitAddress(f.Action)
	if err != nil {
		return
	}
	var pairs []struct {
		Name, Value, Kind string
		File, Shown       bool
	}
	if err := e.p.Eval(ctx, e.p.scriptCall("pairs", f.Index), &pairs); err != nil {
		return
	}
	var params []message.Param
	for _, p := range pairs {
		param := message.Param{Name: p.Name, Value: p.Value}
		if p.File {
			param.File, param.Value = "scan.txt", "scan"
		}
		params = append(params, param)
	}
	r.Origin, r.Referer = "form", page
	in := message.InForm
	switch {
	case f.Method != http.MethodPost:
		in, r.Query = message.InQuery, params
	case strings.HasPrefix(f.Type, "multipart/"):
		in, r.Method, r.Body = message.InMultipart, http.MethodPost,
			message.Body{Kind: message.Multipart, Params: params}
	default:
		r.Method, r.Body = http.MethodPost, message.Body{Kind: message.Form, Params: params}
	}
	r.Label, r.Types = f.Label, map[string]string{}
	for _, p := range pairs {
		if p.Kind != "" {
			r.Types[string(in)+":"+p.Name] = p.Kind
		}
		if p.Shown {
			r.Shown = append(r.Shown, p.Name)
		}
	}
	e.reportOnce(Observation{Kind: "form", Request: r, Page: page, Foreign: !e.b.o.Within(r)}, sitemap.OperationKey(r))
}

// reportOnce passes an observation on, once. Found is called under the lock, so that
// observations keep their order.
func (e *explorer) reportOnce(o Observation, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if key = o.Kind + " " + key; !e.reported[key] && len(e.reported) < 100_000 {
		e.reported[key] = true
		if o.Request != nil && o.Fragment != "" && !o.Foreign {
			e.b.rememberRoute(o.Request, o.Fragment)
		}
		e.Found(o)
	}
}

// handleEvent tells what the page does by itself.
func (e *explorer) handleEvent(ev Event) {
	page := e.pageAddress()
	switch {
	case ev.Request != nil:
		s := ev.Request
		if s.Kind == "xhr" || s.Kind == "fetch" {
			e.b.recordAsking(s, page)
		}
		e.reportOnce(Observation{Kind: "request", Request: s.Request, Type: s.Kind, Foreign: s.Foreign,
			Refused: s.Refused,
			Page:    page},
			s.Kind+sitemap.OperationKey(s.Request)+s.Address()+s.Refused)
	case ev.Route != "":
		if r, fragment, err := splitAddress(ev.Route); err == nil {
			r.Origin = "browser"
			e.reportOnce(Observation{Kind: "route", Request: r, Fragment: fragment, Page: page,
				Foreign: !e.b.o.Within(r)},
				r.Address()+fragment)
		}
	case ev.Popup != "":
		o := Observation{Kind: "popup", Text: ev.Popup, Page: page}
		if r, fragment, err := splitAddress(ev.Popup); err == nil {
			r.Origin = "browser"
			o.Request, o.Fragment, o.Foreign = r, fragment, !e.b.o.Within(r)
		}
		e.reportOnce(o, ev.Popup)
	case ev.Socket != "":
		o := Observation{Kind: "socket", Text: ev.Socket, Page: page}
		if r, err := message.Parse(strings.Replace(ev.Socket, "ws", "http", 1)); err == nil {
			o.Request, o.Foreign = r, !e.b.o.Within(r)
		}
		e.reportOnce(o, ev.Socket)
	}
}

// errChanges says that a request of a page was held back because of what it does.
var errChanges = errors.New("it may change something, which this exploration does not")

// allowRequest refuses what may do harm.
func (e *explorer) allowRequest(s *Sent) error {
	switch {
	case sitemap.IsDangerous(s.Address()):
		return errors.New("it ends the session or destroys something")
	case s.Method == http.MethodGet || s.Method == http.MethodHead || s.Method == http.MethodOptions:
		return nil
	case sitemap.IsDelete(s.Request) && !e.Bold, !e.Submit:
		return errChanges
	}
	return nil
}

// handleReport takes what our script tells of a page.
func (e *explorer) handleReport(kind string, text json.RawMessage) {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return
	}
	page := e.pageAddress()
	switch kind {
	case "message", "error": // of listeners for messages, their source
		e.reportOnce(Observation{Kind: kind, Text: s, Page: page}, s)
	case "worker":
		if r, _, err := splitAddress(s); err == nil {
			e.reportOnce(Observation{Kind: "link", Request: r, Page: page, Foreign: !e.b.o.Within(r)}, s)
		}
	}
}
