package browser

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
)

const (
	// maxDialogs closes a page that opens more, unless something is done with it in between.
	maxDialogs = 50
	// maxPopups does the same for windows.
	maxPopups = 50
	// maxHeld bounds the requests that wait for a decision; more are failed.
	maxHeld = 2000
)

//go:embed hook.js
var hookScript string

// PageOptions say what a page is for.
type PageOptions struct {
	// As is the session whose cookies and headers the page gets; nil: nobody's.
	As Session
	// Agree answers questions of the page (confirm, prompt, leaving it) with yes.
	Agree bool
	// Observe is told of what the page does, one at a time, in order; it must not call
	// the page.
	Observe func(Event)
	// Report takes what the scripts that we put into the page say.
	report func(kind string, text json.RawMessage)
	// trusted adds the policy by which all sinks of scripts tell of their input.
	trusted bool
	// canary is the text that a sink's input has to contain to be reported.
	canary string
	// hurry shortens what a page waits for.
	hurry bool
	// values are those of fields, by name, from the beginning.
	values map[string]string
	// windowName is the name that the opener of the page has given it.
	windowName string
	// attackerHost is a host that the interception answers for with attackerBody, as an attacker's
	// would.
	attackerHost, attackerBody string
	// kept are cookies and entries of the storage that every document begins with.
	kept []storedValue
	// allow refuses requests to the target beside the Gate; nil: none.
	allow func(*Sent) error
	// names are functions that exist in every document and report their call.
	names []string
	// first is the request that the next navigation becomes.
	first *message.Request
}

// A storedValue is something that a browser stores for an application: a "cookie", an entry of the
// "local" or of the "session" storage.
type storedValue struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Event is something that a page did. One field is set.
type Event struct {
	// Request is a request, whether it was sent or not.
	Request *Sent
	// Route is an address within the application: history or fragment.
	Route string
	// Popup is an address that was to be opened in another window.
	Popup string
	// Dialog is a box that was opened, and closed at once.
	Dialog *Dialog
	// Socket is the address of a WebSocket.
	Socket string
}

// A Sent is a request of a page.
type Sent struct {
	*message.Request
	Kind string // "document", "xhr", "fetch", "script", "image", … as in the DevTools protocol, in lower case
	// Refused is why it was not sent; empty: it was.
	Refused string
	// Foreign: it goes to another host.
	Foreign bool
}

// A Dialog is a box that the page has opened.
type Dialog struct {
	Kind string // "alert", "confirm", "prompt", "beforeunload"
	// Text is cut at 2,000 bytes.
	Text string
}

// A Page is one tab in a profile of its own: no cookie, no storage is shared.
type Page struct {
	browser *Browser
	in      *instance
	o       PageOptions
	context cdp.BrowserContextID
	cancel  context.CancelFunc
	// Ends with the page.
	ctx context.Context
	// The random name of our object in its documents, so that no script of the page finds it.
	key  string
	once sync.Once

	// Closed when the first tab of the profile is there.
	claimed chan struct{}
	mu      sync.Mutex
	session *session
	target  target.ID
	// Requests under way, with their beginning.
	pending map[network.RequestID]time.Time
	// The last change of pending; a page without changes has settled.
	active  time.Time
	held    int
	dialogs int
	popups  int
	// That of the main frame, with the fragment.
	address string
	// Why the page was closed; nil: it is open.
	failure error
	// Keeps observers and reports in order.
	events sync.Mutex
}

// Page opens a page, when a slot is free.
func (b *Browser) Page(ctx context.Context, o PageOptions) (*Page, error) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := b.openPage(ctx, o)
	if err != nil {
		<-b.slots
		return nil, err
	}
	return p, nil
}

// openPage makes a profile with one tab, and sets the tab up before it may run.
func (b *Browser) openPage(ctx context.Context, o PageOptions) (*Page, error) {
	i, err := b.runningInstance(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	made, err := runCommand(limited, i.root, target.CreateBrowserContext,
		target.CreateBrowserContextParams{DisposeOnDetach: pointerTo(true)})
	if err != nil {
		return nil, i.openingError(limited, ctx, err)
	}
	p := &Page{browser: b, in: i, o: o, context: made.BrowserContextID, key: "k" + strings.ToLower(rand.Text()),
		claimed: make(chan struct{}), pending: map[network.RequestID]time.Time{}, active: time.Now()}
	// The page outlives the call that opens it.
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	i.mu.Lock()
	i.pages[p.context] = p
	i.mu.Unlock()
	if _, err = runCommand(limited, i.root, target.CreateTarget, target.CreateTargetParams{URL: "about:blank",
		BrowserContextID: p.context}); err == nil {
		select {
		case <-p.claimed:
			err = p.setUp(limited, p.session, true)
		case <-limited.Done():
			err = limited.Err()
		}
	}
	if err != nil {
		err = i.openingError(limited, ctx, err)
		p.disposeProfile()
		return nil, err
	}
	return p, nil
}

// claimTarget makes the session the page's, when it has none. The first tab of its
// profile is the page; any other one is a popup.
func (p *Page) claimTarget(s *session, id target.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != nil {
		return false
	}
	p.session, p.target = s, id
	close(p.claimed)
	return true
}

// setUp prepares a session of the page: its main frame, or a frame or worker that has
// a process of its own. Workers know fewer commands.
func (p *Page) setUp(ctx context.Context, s *session, frame bool) error {
	go func() {
		if !s.serveEvents(func(ev any) { p.handleEvent(s, ev) }) {
			p.failPage("it produced more events than the limit")
		}
	}()
	err := p.enableInterception(ctx, s)
	if frame && err == nil {
		err = p.injectScript(ctx, s)
	}
	if err == nil || !frame {
		_, err = runCommand(ctx, s, target.SetAutoAttach,
			// A child waits until it is set up; without that its first requests would pass the
			// interception.
			target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: pointerTo(true)})
	}
	if err == nil || !frame {
		_, err = runCommand(ctx, s, runtime.RunIfWaitingForDebugger, cdp.Empty{})
	}
	return err
}

// enableInterception holds every request of a session until it is decided about, proxy
// authentication included.
func (p *Page) enableInterception(ctx context.Context, s *session) error {
	patterns := []*fetch.RequestPattern{{URLPattern: "*"}}
	_, err := runCommand(ctx, s, fetch.Enable,
		fetch.EnableParams{Patterns: patterns, HandleAuthRequests: pointerTo(true)})
	if err == nil {
		_, err = runCommand(ctx, s, network.Enable, network.EnableParams{MaxPostDataSize: pointerTo(int64(1 << 20)),
			MaxTotalBufferSize: pointerTo(int64(1 << 20)), MaxResourceBufferSize: pointerTo(int64(1 << 20))})
	}
	return err
}

// sampleValues are what our script types into fields.
func sampleValues(v *formvalue.Generator) map[string]string {
	return map[string]string{"mail": v.Email(), "url": v.URL(), "password": v.Password("browser"), "text": v.Mark()}
}

// injectScript puts our script into every document. It runs before any script of the
// page, so that the page cannot hide from it.
func (p *Page) injectScript(ctx context.Context, s *session) error {
	config, err := json.Marshal(map[string]any{"key": p.key, "names": p.o.names, "trusted": p.o.trusted,
		"canary": p.o.canary, "name": p.o.windowName, "hurry": p.o.hurry, "values": p.o.values, "kept": p.o.kept,
		"samples": sampleValues(p.browser.o.Values), "storage": storageConfig(p.browser.storageOf(p.o.As))})
	if err != nil {
		return err
	}
	if _, err = runCommand(ctx, s, cdppage.Enable, cdppage.EnableParams{}); err == nil {
		_, err = runCommand(ctx, s, runtime.Enable, cdp.Empty{})
	}
	if err == nil {
		_, err = runCommand(ctx, s, inspector.Enable, cdp.Empty{})
	}
	if err == nil {
		_, err = runCommand(ctx, s, runtime.AddBinding, runtime.AddBindingParams{Name: p.key})
	}
	if err == nil {
		_, err = runCommand(ctx, s, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true})
	}
	if err == nil {
		_, err = runCommand(ctx, s, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{
				Source: strings.Replace(hookScript, "CONFIG", string(config), 1), RunImmediately: pointerTo(true)})
	}
	return err
}

// Close ends the page and forgets its profile.
func (p *Page) Close() {
	p.once.Do(func() {
		p.disposeProfile()
		<-p.browser.slots
	})
}

// disposeProfile ends the page with its profile: cookies, storage and cache go with it.
func (p *Page) disposeProfile() {
	p.cancel()
	p.in.mu.Lock()
	delete(p.in.pages, p.context)
	p.in.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	_, _ = runCommand(ctx, p.in.root, target.DisposeBrowserContext,
		target.DisposeBrowserContextParams{BrowserContextID: p.context})
}

// failPage closes a page that does too much. The first reason is kept.
func (p *Page) failPage(reason string) {
	p.mu.Lock()
	first := p.failure == nil
	if first {
		p.failure = errors.New("the page was closed: " + reason)
	}
	id := p.target
	p.mu.Unlock()
	if first {
		go p.in.closeTarget(id)
	}
}

// pageError returns why the page cannot be used any more.
func (p *Page) pageError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	return err
}

// handleEvent handles what a session tells.
func (p *Page) handleEvent(s *session, ev any) {
	switch e := ev.(type) {
	case *fetch.EventRequestPaused:
		p.handlePaused(s, e)
	case *fetch.EventAuthRequired:
		go p.authenticateProxy(s, e)
	case *network.EventRequestWillBeSent:
		p.trackRequest(e.RequestID, e.Type)
	case *network.EventLoadingFinished:
		p.untrackRequest(e.RequestID)
	case *network.EventLoadingFailed:
		p.untrackRequest(e.RequestID)
	case *network.EventWebSocketCreated:
		p.decideSocket(e.URL)
	case *cdppage.EventJavascriptDialogOpening:
		p.handleDialog(s, e)
	case *cdppage.EventWindowOpen:
		p.handlePopup(e.URL)
	case *cdppage.EventFrameNavigated:
		if e.Frame.ParentID == "" && s == p.session {
			p.mu.Lock()
			p.address = e.Frame.URL + e.Frame.URLFragment
			p.mu.Unlock()
		}
	case *cdppage.EventNavigatedWithinDocument:
		p.mu.Lock()
		p.address = e.URL
		p.mu.Unlock()
		p.notifyObserver(Event{Route: e.URL})
	case *runtime.EventBindingCalled:
		p.handleBinding(e)
	case *target.EventAttachedToTarget:
		p.prepareChild(e)
	case *inspector.EventTargetCrashed:
		p.failPage("it crashed")
	}
}

// prepareChild prepares a frame or worker of another process. A frame of another site
// has a process and a session of its own.
func (p *Page) prepareChild(e *target.EventAttachedToTarget) {
	s := p.in.root.sessionOf(e.SessionID)
	// These outlive a page and could answer its requests from a cache of their own.
	if e.TargetInfo.Type == "service_worker" || e.TargetInfo.Type == "shared_worker" {
		go p.in.closeTarget(e.TargetInfo.TargetID)
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(p.ctx, startLimit)
		defer cancel()
		if err := p.setUp(ctx, s, e.TargetInfo.Type == "iframe"); err != nil {
			p.in.closeTarget(e.TargetInfo.TargetID) // held for ever otherwise
		}
	}()
}

// notifyObserver tells the owner of the page of an event, one at a time.
func (p *Page) notifyObserver(e Event) {
	if p.o.Observe == nil {
		return
	}
	p.events.Lock()
	defer p.events.Unlock()
	p.o.Observe(e)
}

// handleDialog records a dialog and closes it, since scripts stand still while one is
// open. A question is accepted only where the owner agrees.
func (p *Page) handleDialog(s *session, e *cdppage.EventJavascriptDialogOpening) {
	p.notifyObserver(Event{Dialog: &Dialog{Kind: string(e.Type), Text: message.Truncate(e.Message, 2000)}})
	p.mu.Lock()
	p.dialogs++
	over := p.dialogs > maxDialogs
	p.mu.Unlock()
	if over {
		p.failPage(fmt.Sprintf("it opened more than %d dialogs", maxDialogs))
	}
	// An alert has one button only, and leaving a page must not be prevented by the page.
	accept := p.o.Agree || e.Type == cdppage.DialogTypeAlert || e.Type == cdppage.DialogTypeBeforeunload
	ctx, cancel := context.WithTimeout(p.ctx, commandLimit)
	defer cancel()
	_, _ = runCommand(ctx, s, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: accept,
		PromptText: e.DefaultPrompt})
}

// handlePopup records a window that the page wanted to open; the window itself is
// closed.
func (p *Page) handlePopup(address string) {
	p.mu.Lock()
	p.popups++
	over := p.popups > maxPopups
	p.mu.Unlock()
	if over {
		p.failPage(fmt.Sprintf("it opened more than %d windows", maxPopups))
		return
	}
	p.notifyObserver(Event{Popup: message.Truncate(address, 8000)})
}

// handleBinding takes a report of our script.
func (p *Page) handleBinding(e *runtime.EventBindingCalled) {
	var report struct {
		Kind string          `json:"kind"`
		Text json.RawMessage `json:"text"`
	}
	if e.Name != p.key || len(e.Payload) > 1<<20 || json.Unmarshal([]byte(e.Payload), &report) != nil ||
		p.o.report == nil {
		return
	}
	p.events.Lock()
	defer p.events.Unlock()
	p.o.report(report.Kind, report.Text)
}

// resetCounters says that something is done with the page: what it opens then, it opens
// because of that. The limits of dialogs and windows hold for each thing that is done.
func (p *Page) resetCounters() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs, p.popups = 0, 0
}

// Address is the address of the page's main frame, with the fragment.
func (p *Page) Address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// Open goes to an address and waits until the page has settled, or the limit has
// passed. A page that never ends loading is no error; one that could not be loaded is.
func (p *Page) Open(ctx context.Context, address string, limit time.Duration) error {
	return p.navigate(ctx, cdppage.NavigateParams{URL: address}, limit)
}

// Send opens a request of any method as a page, and waits as Open does.
func (p *Page) Send(ctx context.Context, r *message.Request, fragment string, limit time.Duration) error {
	if r.Method != http.MethodGet || r.Body.Kind != message.NoBody || len(r.Header) > 0 {
		p.mu.Lock()
		p.o.first = r
		p.mu.Unlock()
	}
	return p.navigate(ctx, cdppage.NavigateParams{URL: r.Address() + fragment, Referrer: r.Referer}, limit)
}

// navigate goes to an address and waits until the page has settled. A page that never
// ends loading is stopped, and analyzed as it is.
func (p *Page) navigate(ctx context.Context, to cdppage.NavigateParams, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.resetCounters()
	if err := p.addSessionCookies(limited, to.URL); err != nil {
		return err
	}
	began := time.Now()
	result, err := runCommand(limited, p.session, cdppage.Navigate, to)
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil && p.pageError(nil) == nil {
			return p.stopLoading(ctx) // it never ends loading: what is there is looked at
		}
		return p.pageError(err)
	}
	// A download or a 204 aborts the navigation, and is no error.
	if result.ErrorText != "" && result.ErrorText != "net::ERR_ABORTED" {
		return p.pageError(fmt.Errorf("the page %s does not load: %s", message.Truncate(to.URL, 200), result.ErrorText))
	}
	return p.Settle(ctx, limit-time.Since(began))
}

// stopLoading ends the navigation that is under way.
func (p *Page) stopLoading(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	_, err := runCommand(limited, p.session, cdppage.StopLoading, cdp.Empty{})
	return p.pageError(err)
}

// addSessionCookies puts the cookies of the session into the page's profile.
func (p *Page) addSessionCookies(ctx context.Context, address string) error {
	if p.o.As == nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r, err := message.FromURL(req.URL)
	if err != nil || !p.browser.o.Within(r) {
		return nil //nolint:nilerr // the interception says what becomes of it
	}
	if err := p.o.As.Prepare(ctx, req); err != nil {
		return err
	}
	origin := r.Base() + "/"
	var cookies []*network.CookieParam
	for _, c := range req.Cookies() {
		cookies = append(cookies, &network.CookieParam{Name: c.Name, Value: c.Value, URL: origin, Path: "/",
			Secure: r.Scheme == "https"})
	}
	if len(cookies) == 0 {
		return nil
	}
	_, err = runCommand(ctx, p.in.root, storage.SetCookies,
		storage.SetCookiesParams{Cookies: cookies, BrowserContextID: p.context})
	return err
}

// Eval evaluates an expression in the main frame and decodes its value, which may be a
// promise's, into out; nil: it is thrown away. An endless loop is ended. The page's own
// Content Security Policy stays in force.
func (p *Page) Eval(ctx context.Context, expression string, out any) error {
	limited, cancel := context.WithTimeout(ctx, commandLimit+time.Second)
	defer cancel()
	result, err := runCommand(limited, p.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: pointerTo(true), AwaitPromise: pointerTo(true),
		UserGesture:                 pointerTo(true),
		AllowUnsafeEvalBlockedByCSP: pointerTo(false), // or a page's own policy would not hold in what we cause
		Timeout:                     runtime.TimeDelta(commandLimit.Milliseconds())})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			p.failPage("its scripts do not end")
		}
		return p.pageError(err)
	}
	if result.ExceptionDetails != nil {
		text := result.ExceptionDetails.Text
		if x := result.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		return fmt.Errorf("script in the page: %s", message.Truncate(text, 300))
	}
	if out == nil || result.Result == nil || len(result.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(result.Result.Value, out)
}

// scriptCall is the expression of our object in the page with a method's call.
func (p *Page) scriptCall(method string, args ...any) string {
	parts := make([]string, len(args))
	for i, a := range args {
		text, err := json.Marshal(a)
		if err != nil {
			text = []byte("null")
		}
		parts[i] = string(text)
	}
	return fmt.Sprintf("globalThis[%q]?.%s(%s)", p.key, method, strings.Join(parts, ","))
}
