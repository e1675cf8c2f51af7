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
	openLimit  = 15 * time.Second // of a page in an exploration
	actLimit   = 4 * time.Second  // of what follows an event
	alikeLimit = 10               // elements at places of the same kind that are tried
	maxRevived = 3                // pages of an exploration that may die
	maxQueued  = 5000             // addresses and states that wait
)

// An Exploration says how far to walk through an application. Zero numbers stand for
// the defaults.
type Exploration struct {
	As    Session  // nil: nobody
	Seeds []string // addresses to begin with, with fragments
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
	Bold   bool
	States int           // that differ in structure; 300
	Events int           // that are dispatched; 2,000
	Depth  int           // events in a row from an address; 6
	Time   time.Duration // in all; 5 minutes
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

func (e *Exploration) defaults() {
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

// static are files that are no pages.
var static = lazyregexp.New(`(?i)\.(js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|eot|otf|mp[34]|webm|ogg|wav|pdf|zip|gz|tgz|tar|rar|7z|exe|dmg|apk|jar|docx?|xlsx?|pptx?|csv|wasm)$`)

// A snapshot is what a page offers, as expected interaction.js collects it.
type snapshot struct {
	Links     []string  `json:"links"`
	Forms     []formed  `json:"forms"`
	Elements  []element `json:"elements"`
	Storage   []string  `json:"storage"`
	Address   string    `json:"address"`
	Signature string    `json:"signature"`
	Document  string    `json:"document"`
	Secrets   int       `json:"secrets"` // visible fields for passwords
}

// formed is a form of a page.
type formed struct {
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

// key is the same for the same element of another visit; what stands around all pages
// is the same on each.
func (s *snapshot) key(el *element) string {
	return el.Kind + " " + el.Label + " " + el.Does + " " + s.where(el)
}

// where is the same for elements that are likely to do the same kind of thing.
func (s *snapshot) where(el *element) string {
	if el.Frame || el.Dialog {
		return el.Place
	}
	return shape(s.Address) + " " + el.Place
}

// A state is a page as it was reached: an address, and events from there on.
type state struct {
	address string
	path    []string // keys of elements
	looks   string   // its signature; empty: unknown
	// other is a longer way to the same state, for applications that show something
	// else when a route of theirs is opened.
	other *state
}

// An explorer is one exploration under way.
type explorer struct {
	Exploration
	b    *Browser
	p    *Page
	walk ExplorationResult

	mu     sync.Mutex
	told   map[string]bool // observations
	opened map[string]bool // shapes of addresses
	acted  map[string]bool // keys of elements
	alike  map[string]int  // by place
	seen   map[string]bool // signatures

	addresses []string
	frontier  []state
	revived   int
}

// Explore walks through an application: opens addresses, dispatches the events that
// visible elements listen to, fills in forms, and follows what comes of it until
// nothing new appears. Its error says that the browser could not be used at all.
func (b *Browser) Explore(ctx context.Context, o Exploration) (ExplorationResult, error) {
	o.defaults()
	e := &explorer{Exploration: o, b: b, told: map[string]bool{}, opened: map[string]bool{}, acted: map[string]bool{},
		alike: map[string]int{}, seen: map[string]bool{}}
	limited, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	for _, seed := range o.Seeds {
		e.enqueue(seed, true)
	}
	err := e.renew(limited)
	if err == nil {
		err = e.begin(limited)
	}
	if err == nil {
		err = e.run(limited)
	}
	if e.p != nil {
		e.p.Close()
	}
	switch {
	case ctx.Err() != nil:
		return e.walk, ctx.Err()
	case limited.Err() != nil:
		e.walk.Left, err = "the time of the exploration was up", nil
	case err == nil && e.walk.Events >= o.Events:
		e.walk.Left = "the number of events was used up"
	case err == nil && e.walk.States >= o.States:
		e.walk.Left = "the number of states was used up"
	}
	return e.walk, err
}

// renew opens a page, in the place of one that has died.
func (e *explorer) renew(ctx context.Context) error {
	if e.p != nil {
		e.p.Close()
	}
	p, err := e.b.Page(ctx, PageOptions{As: e.As, Observe: e.event, report: e.report, allow: e.allow, hurry: true})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.p = p
	return err
}

// page is the address that is open.
func (e *explorer) page() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.p == nil {
		return ""
	}
	return e.p.Address()
}

// run takes addresses and states until there are none.
func (e *explorer) run(ctx context.Context) error {
	for ctx.Err() == nil && e.walk.Events < e.Events && e.walk.States < e.States {
		var err error
		var at string
		switch {
		case len(e.addresses) > 0:
			next := e.addresses[0]
			e.addresses = e.addresses[1:]
			at, err = next, e.visit(ctx, state{address: next})
		case len(e.frontier) > 0:
			next := e.frontier[len(e.frontier)-1]
			e.frontier = e.frontier[:len(e.frontier)-1]
			at, err = next.address, e.visit(ctx, next)
		default:
			return nil
		}
		if err != nil && ctx.Err() == nil {
			e.tell(Observation{Kind: "error", Text: err.Error()}, err.Error())
			if e.p.alive(ctx) == nil {
				continue
			}
			e.walk.Ended = append(e.walk.Ended, at+": "+err.Error())
			if e.revived++; e.revived > maxRevived {
				e.walk.Left = err.Error()
				return nil
			}
			if err := e.renew(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit reaches a state and tries what it offers, going on into new states.
func (e *explorer) visit(ctx context.Context, s state) error {
	if err := e.p.Open(ctx, s.address, openLimit); err != nil {
		return err
	}
	e.walk.Pages++
	closed := 0
	if err := e.p.Eval(ctx, e.p.ours("dismiss"), &closed); err == nil && closed > 0 {
		if err := e.p.Settle(ctx, actLimit); err != nil {
			return err
		}
	}
	now, err := e.collect(ctx)
	if err != nil {
		return err
	}
	for _, key := range s.path { // back to where it was
		i := now.index(key)
		if i < 0 {
			return nil // the application has moved on
		}
		if now, err = e.act(ctx, i); err != nil {
			return err
		}
	}
	if s.other != nil && now.Signature != s.looks {
		return e.visit(ctx, *s.other)
	}
	if e.walk.Entered != nil && now.Secrets == 1 {
		return nil // to sign in again as somebody else would end the session
	}
	return e.exhaust(ctx, s, now)
}

func (s *snapshot) index(key string) int {
	for i := range s.Elements {
		if s.key(&s.Elements[i]) == key {
			return s.Elements[i].Index
		}
	}
	return -1
}

// exhaust tries what the page offers as long as there is something new.
func (e *explorer) exhaust(ctx context.Context, at state, now *snapshot) error {
	before := &snapshot{}
	for ctx.Err() == nil && e.walk.Events < e.Events && e.walk.States < e.States {
		c := e.next(now, before)
		if c == nil {
			return nil
		}
		e.acted[c.key] = true
		e.alike[c.place]++
		e.walk.Events++
		after, err := e.act(ctx, c.index)
		if err != nil {
			return err
		}
		if after.Signature == now.Signature && after.Document == now.Document {
			now = after // nothing has changed: the way here need not grow
			continue
		}
		if e.next(now, now) != nil && len(e.frontier) < maxQueued {
			at.looks = now.Signature
			e.frontier = append(e.frontier, at)
		}
		if at = at.then(c.key, now, after); len(at.path) > e.Depth {
			return nil
		}
		before, now = now, after
	}
	return nil
}

// then is the state that an event has led to.
func (s state) then(key string, before, after *snapshot) state {
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

// next chooses: what lies over the page, then what was not there before, then forms,
// then the rest; nil: there is nothing.
func (e *explorer) next(s, before *snapshot) *choice {
	var old *choice
	known := map[string]bool{}
	for i := range before.Elements {
		known[before.key(&before.Elements[i])] = true
	}
	for i := range s.Elements {
		el := &s.Elements[i]
		c := &choice{s.key(el), s.where(el), el.Index}
		if !e.wants(c.key, c.place, el.Label+" "+el.Href) {
			continue
		}
		if el.Dialog || !known[c.key] && len(known) > 0 {
			return c
		}
		if old == nil {
			old = c
		}
	}
	for _, f := range s.Forms {
		if key := formKey(&f); f.Visible && e.Submit && e.wants(key, f.Place, f.Label+" "+f.Action) && e.sendable(&f) {
			return &choice{key, f.Place, f.Index}
		}
	}
	return old
}

func formKey(f *formed) string {
	return "form " + f.Method + " " + strings.Join(f.Names, ",") + " " + shape(f.Action)
}

func (e *explorer) wants(key, place, words string) bool {
	return !e.acted[key] && e.alike[place] < alikeLimit && !sitemap.IsDangerous(words) &&
		(e.Bold || !harmful.MatchString(words))
}

// sendable reports whether a form leads to the target.
func (e *explorer) sendable(f *formed) bool {
	r, err := message.Parse(f.Action)
	return err != nil || e.b.o.Within(r) // a form of scripts leads nowhere by itself
}

// act dispatches events on an element of the last snapshot.
func (e *explorer) act(ctx context.Context, index int) (*snapshot, error) {
	e.p.begin()
	if err := e.p.Eval(ctx, e.p.ours("act", index), nil); err != nil {
		if dead := e.p.alive(ctx); dead != nil {
			return nil, dead
		}
		// The document was left while its events were dispatched.
	}
	if err := e.p.Settle(ctx, actLimit); err != nil {
		return nil, err
	}
	return e.collect(ctx)
}

// collect takes a snapshot and tells what it shows.
func (e *explorer) collect(ctx context.Context) (*snapshot, error) {
	s := &snapshot{}
	for range 3 { // a document may just be replaced by the next
		err := e.p.Eval(ctx, e.p.ours("collect"), s)
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
	if key := shape(s.Address) + " " + s.Signature; !e.seen[key] {
		e.seen[key] = true
		e.walk.States++
	}
	for _, link := range s.Links {
		e.link(link, s.Address)
	}
	for i := range s.Forms {
		e.form(ctx, &s.Forms[i], s.Address)
	}
	for _, name := range s.Storage {
		e.tell(Observation{Kind: "storage", Text: name, Page: s.Address}, name)
	}
	return s, nil
}

// link tells of an address, and queues it.
func (e *explorer) link(address, page string) {
	r, fragment, err := split(address)
	if err != nil {
		return
	}
	r.Origin, r.Referer = "link", page
	e.tell(Observation{Kind: "link", Request: r, Fragment: fragment, Page: page, Foreign: !e.b.o.Within(r)},
		r.Address()+fragment)
	within, _, err := split(page)
	route := err == nil && fragment != "" && within.Address() == r.Address()
	if route || e.Follow {
		e.enqueue(address, false)
	}
}

// enqueue plans an address, once for all of its shape.
func (e *explorer) enqueue(address string, given bool) {
	r, fragment, err := split(address)
	if err != nil || !given && (!e.b.o.Within(r) || static.MatchString(path.Base(r.Path)) ||
		sitemap.IsDangerous(r.Address()+fragment)) {
		return
	}
	key := shape(address)
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

// split separates an address from its fragment.
func split(address string) (*message.Request, string, error) {
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

// remember keeps a fragment of a document that is a route or has parameters.
func (b *Browser) remember(r *message.Request, fragment string) {
	if !words.MatchString(fragment) && !strings.Contains(fragment, "=") {
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
		key := shape(r.Address() + fragment)
		again := seen[key]
		seen[key] = true
		return again
	})
	return out[:min(n, len(out))]
}

// maxAsking bounds the pages that are kept of one request of scripts.
const maxAsking = 3

// asked keeps the page whose script has asked for something.
func (b *Browser) asked(s *Sent, page string) {
	if s.Foreign || s.Refused != "" || page == "" {
		return
	}
	key := asking(s.Request)
	b.mu.Lock()
	defer b.mu.Unlock()
	if pages := b.asking[key]; len(pages) < maxAsking && len(b.asking) < maxQueued &&
		!slices.ContainsFunc(pages, func(p string) bool { return shape(p) == shape(page) }) {
		b.asking[key] = append(pages, page)
	}
}

// asking is the same for requests to the same place.
func asking(r *message.Request) string {
	return r.Method + " " + r.Base() + strings.TrimSuffix(sitemap.PathShape(r), "/")
}

// words are the fragments that look like routes; others are places in a text.
var words = lazyregexp.New(`^#!?/`)

// shape is the same for addresses of the same page: identifiers in the path and
// values of parameters do not count, nor do fragments that are no routes.
func shape(address string) string {
	r, fragment, err := split(address)
	if err != nil {
		return address
	}
	out := sitemap.OperationKey(r)
	if words.MatchString(fragment) {
		if route, err := message.Parse("http://route/" + strings.TrimLeft(fragment, "#!/")); err == nil {
			out += sitemap.OperationKey(route)
		}
	}
	return out
}

// form tells of a form as the request that it makes.
func (e *explorer) form(ctx context.Context, f *formed, page string) {
	r, _, err := split(f.Action)
	if err != nil {
		return
	}
	var pairs []struct {
		Name, Value, Kind string
		File, Shown       bool
	}
	if err := e.p.Eval(ctx, e.p.ours("pairs", f.Index), &pairs); err != nil {
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
	e.tell(Observation{Kind: "form", Request: r, Page: page, Foreign: !e.b.o.Within(r)}, sitemap.OperationKey(r))
}

// tell passes an observation on, once.
func (e *explorer) tell(o Observation, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if key = o.Kind + " " + key; !e.told[key] && len(e.told) < 100_000 {
		e.told[key] = true
		if o.Request != nil && o.Fragment != "" && !o.Foreign {
			e.b.remember(o.Request, o.Fragment)
		}
		e.Found(o)
	}
}

// event tells what the page does by itself.
func (e *explorer) event(ev Event) {
	page := e.page()
	switch {
	case ev.Request != nil:
		s := ev.Request
		if s.Kind == "xhr" || s.Kind == "fetch" {
			e.b.asked(s, page)
		}
		e.tell(Observation{Kind: "request", Request: s.Request, Type: s.Kind, Foreign: s.Foreign, Refused: s.Refused,
			Page: page},
			s.Kind+sitemap.OperationKey(s.Request)+s.Address()+s.Refused)
	case ev.Route != "":
		if r, fragment, err := split(ev.Route); err == nil {
			r.Origin = "browser"
			e.tell(Observation{Kind: "route", Request: r, Fragment: fragment, Page: page, Foreign: !e.b.o.Within(r)},
				r.Address()+fragment)
		}
	case ev.Popup != "":
		o := Observation{Kind: "popup", Text: ev.Popup, Page: page}
		if r, fragment, err := split(ev.Popup); err == nil {
			r.Origin = "browser"
			o.Request, o.Fragment, o.Foreign = r, fragment, !e.b.o.Within(r)
		}
		e.tell(o, ev.Popup)
	case ev.Socket != "":
		o := Observation{Kind: "socket", Text: ev.Socket, Page: page}
		if r, err := message.Parse(strings.Replace(ev.Socket, "ws", "http", 1)); err == nil {
			o.Request, o.Foreign = r, !e.b.o.Within(r)
		}
		e.tell(o, ev.Socket)
	}
}

var errChanges = errors.New("it may change something, which this exploration does not")

// allow refuses what may do harm.
func (e *explorer) allow(s *Sent) error {
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

// report takes what our script tells of a page.
func (e *explorer) report(kind string, text json.RawMessage) {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return
	}
	page := e.page()
	switch kind {
	case "message", "error": // of listeners for messages, their source
		e.tell(Observation{Kind: kind, Text: s, Page: page}, s)
	case "worker":
		if r, _, err := split(s); err == nil {
			e.tell(Observation{Kind: "link", Request: r, Page: page, Foreign: !e.b.o.Within(r)}, s)
		}
	}
}
