package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"merlon/internal/chromium"
	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// A Gate decides about the requests of pages.
type Gate interface {
	// Admit waits until the request may be sent, and counts it. An error says why it
	// is not sent.
	Admit(ctx context.Context, r *message.Request) error
}

// A Session makes requests those of a user.
type Session interface {
	// Prepare adds headers and cookies to a request within the scope.
	Prepare(ctx context.Context, req *http.Request) error
}

// Options say how to run the browser. Path or Launch, Dial and Gate are needed.
type Options struct {
	Path string // of Chromium; see chromium.Find
	User int    // user and group that it runs as, when we are root; 0: 65534
	// Launch starts a browser elsewhere, in the place of Path; nil: it runs here.
	Launch func(ctx context.Context) (*scan.Chromium, error)
	Dial   Dial
	Gate   Gate
	// Within reports whether an address belongs to the target; nil: all do.
	Within  func(r *message.Request) bool
	Headers []scan.Header // sent with every request to the target
	Agent   string        // User-Agent; empty: Chromium's own
	// Foreign is how many scripts and style sheets of other hosts are loaded in all,
	// since pages do not work without them; 0: 200, negative: none.
	Foreign int
	// Elsewhere reports whether a script or style sheet may be loaded from a host that
	// is not the target's ("cdn.example.org:8443"); nil: from every host.
	Elsewhere func(host string) bool
	Pages     int   // at once; 0: 2
	Memory    int64 // of all processes of Path together, in bytes; 0: 3 GiB
	Crashes   int   // after which it is not started again; 0: 3
	// Values are typed into fields; nil: those of no scan.
	Values *formvalue.Generator
	// IgnoreCertificates lets pages of hosts with bad certificates load.
	IgnoreCertificates bool
}

// setDefaults replaces what is not given.
func (o *Options) setDefaults() {
	if o.Foreign == 0 {
		o.Foreign = 200
	}
	if o.Pages <= 0 {
		o.Pages = 2
	}
	if o.Crashes <= 0 {
		o.Crashes = 3
	}
	if o.Launch == nil {
		here := chromium.Options{Path: o.Path, User: o.User, Memory: o.Memory, IgnoreCertificates: o.IgnoreCertificates}
		o.Launch = func(context.Context) (*scan.Chromium, error) { return chromium.Start(here) }
	}
	if o.Within == nil {
		o.Within = func(*message.Request) bool { return true }
	}
}

// A Browser is a Chromium that is started again when it dies. It is safe for
// concurrent use.
type Browser struct {
	o     Options
	guard *guard
	slots chan struct{}
	cache *cache

	mu      sync.Mutex
	running *instance // nil: not running
	crashes int
	foreign int
	kept    map[Session][]Storage // what pages of sessions begin with
	routes  map[string][]string   // fragments that were seen, by the shape of their document
	asking  map[string][]string   // addresses of pages whose scripts asked, by the shape of the path
	closed  bool
	last    error // why it ended the last time
}

// An instance is one run of Chromium.
type instance struct {
	process *scan.Chromium
	root    *session

	mu    sync.Mutex
	pages map[cdp.BrowserContextID]*Page
	hung  error // why we ended it; nil: we have not
}

// openingError returns why a page was not opened. A browser that has said nothing at
// all in the time that there was for it is ended: nothing comes of waiting for it
// again, and what it has open is as good as lost. A hung browser would otherwise keep
// every page waiting for its own limit.
func (i *instance) openingError(limited, ctx context.Context, err error) error {
	if limited.Err() == nil || ctx.Err() != nil || time.Since(time.Unix(0, i.root.heard.Load())) < startLimit {
		return err
	}
	i.mu.Lock()
	i.hung = fmt.Errorf("it did not respond for %s, and was stopped", startLimit)
	i.mu.Unlock()
	i.process.Stop()
	_ = i.root.transport.Close() // nothing is read from it any more
	<-i.root.lost
	return i.endReason()
}

// endReason tells why the browser is gone.
func (i *instance) endReason() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.hung != nil {
		return i.hung
	}
	return i.process.ExitReason()
}

// Start runs a browser. Its error says why there is none, for a scan's reasons.
func Start(ctx context.Context, o Options) (*Browser, error) {
	if o.Path == "" && o.Launch == nil || o.Dial == nil || o.Gate == nil {
		return nil, errors.New("no Chromium is given")
	}
	o.setDefaults()
	g := newGuard(o.Dial)
	b := &Browser{o: o, guard: g, slots: make(chan struct{}, o.Pages), cache: newCache(), routes: map[string][]string{},
		kept: map[Session][]Storage{}, asking: map[string][]string{}}
	if _, err := b.runningInstance(ctx); err != nil {
		g.closeGuard()
		return nil, err
	}
	return b, nil
}

// Close ends the browser, its pages and its proxy.
func (b *Browser) Close() {
	b.mu.Lock()
	b.closed = true
	now := b.running
	b.running = nil
	b.mu.Unlock()
	if now != nil {
		now.process.Stop()
	}
	b.guard.closeGuard()
}

// Crashes is how often the browser has died, and why the last time.
func (b *Browser) Crashes() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recordCrash()
	return b.crashes, b.last
}

// runningInstance returns the running Chromium, starting one when there is none.
func (b *Browser) runningInstance(ctx context.Context) (*instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("the browser is closed")
	}
	if b.recordCrash(); b.running != nil {
		return b.running, nil
	}
	if b.crashes >= b.o.Crashes {
		return nil, fmt.Errorf("the browser has died %d times and is not started again: %w", b.crashes, b.last)
	}
	now, err := b.launchInstance(ctx)
	if err != nil {
		if ctx.Err() == nil { // one that does not even start must not be waited for again and again
			b.crashes, b.last = b.crashes+1, err
		}
		return nil, err
	}
	b.running = now
	return now, nil
}

// recordCrash counts a browser that is gone. mu is held. Who asks next starts another
// one.
func (b *Browser) recordCrash() {
	if b.running == nil {
		return
	}
	select {
	case <-b.running.root.lost:
		b.last = b.running.endReason()
		b.running.process.Stop()
		b.running = nil
		b.crashes++
	default:
	}
}

// launchInstance starts a Chromium and holds every target that it opens until it is set
// up, so that nothing is sent unseen. Downloads are denied: a file of the target must
// not reach the disk.
func (b *Browser) launchInstance(outer context.Context) (*instance, error) {
	p, err := b.o.Launch(outer)
	if err != nil {
		return nil, err
	}
	b.guard.serveBrowser(p.Proxy)
	_, root := newConnection(p.Pipe, p.Pipe)
	i := &instance{process: p, root: root, pages: map[cdp.BrowserContextID]*Page{}}
	go root.serveEvents(func(ev any) { i.handleAttached(ev) })
	ctx, cancel := context.WithTimeout(outer, startLimit)
	defer cancel()
	_, err = runCommand(ctx, root, target.SetAutoAttach,
		target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: pointerTo(true)})
	if err == nil {
		_, err = runCommand(ctx, root, cdpbrowser.SetDownloadBehavior,
			cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorDeny})
	}
	if err == nil {
		return i, nil
	}
	switch {
	case errors.Is(err, errLost):
		err = p.ExitReason()
	case ctx.Err() != nil && outer.Err() == nil:
		err = fmt.Errorf("it did not respond for %s", startLimit)
	}
	p.Stop()
	return nil, fmt.Errorf("the browser does not start: %w", err)
}

// startLimit bounds the wait for a browser's first answers.
const startLimit = time.Minute

// handleAttached gives a new target to the page that it belongs to. A second tab of a
// page's profile was opened by the page: it is held, and closed before it sends.
func (i *instance) handleAttached(ev any) {
	e, ok := ev.(*target.EventAttachedToTarget)
	if !ok {
		return
	}
	s := i.root.sessionOf(e.SessionID)
	i.mu.Lock()
	p := i.pages[e.TargetInfo.BrowserContextID]
	i.mu.Unlock()
	ours := p != nil && !strings.HasPrefix(e.TargetInfo.URL, "chrome:") // not a part of the browser's window
	switch {
	case ours && e.TargetInfo.Type == "page" && p.claimTarget(s, e.TargetInfo.TargetID):
	case ours:
		if e.TargetInfo.URL != "" && e.TargetInfo.URL != "about:blank" {
			p.handlePopup(e.TargetInfo.URL)
		}
		go i.closePopup(s, e.TargetInfo.TargetID)
	default: // the tab that the browser begins with, or a part of its window
		go s.serveEvents(func(any) {})
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
			defer cancel()
			_, _ = runCommand(ctx, s, runtime.RunIfWaitingForDebugger, cdp.Empty{})
		}()
	}
}

// closePopup closes a window that a page has opened. It lets it begin first, with all
// of its requests held: the opener is often of the same process, and stands still for
// as long as the window waits, for ever if that is closed meanwhile. A page can open
// windows faster than they are closed; each costs a process.
func (i *instance) closePopup(s *session, id target.ID) {
	go s.serveEvents(func(any) {})
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	if _, err := runCommand(ctx, s, fetch.Enable,
		fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*"}}}); err == nil {
		_, _ = runCommand(ctx, s, runtime.RunIfWaitingForDebugger, cdp.Empty{})
	}
	i.closeTarget(id)
}

// closeTarget closes a tab or a window, and does not care whether it is still there.
func (i *instance) closeTarget(id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	_, _ = runCommand(ctx, i.root, target.CloseTarget, target.CloseTargetParams{TargetID: id})
}

// commandLimit bounds a command that a healthy page answers at once.
const commandLimit = 8 * time.Second

// takeForeign counts a script or style sheet of another host, if it may be loaded.
func (b *Browser) takeForeign(host string) bool {
	if b.o.Elsewhere != nil && !b.o.Elsewhere(host) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.foreign >= b.o.Foreign {
		return false
	}
	b.foreign++
	return true
}

// pointerTo returns a pointer to a value, which optional parameters of the protocol
// need.
func pointerTo[T any](v T) *T { return &v }
