package application

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/scan"
)

// This file finds operations: by asking, by a browser, and by what the code declares.

// discover finds operations.
func (e *examination) discover(ctx context.Context) error {
	result, err := e.crawler.Run(ctx, append(e.seeds(), e.As.Pages()...)...)
	if err != nil {
		return err
	}
	if page := e.entrance(); page != nil {
		if result, err = e.crawler.CrawlMore(ctx, page); err != nil {
			return err
		}
	}
	if routes := e.routes(); len(routes) > 0 {
		e.Progress(20, fmt.Sprintf("asking for what the code declares, %d requests", e.Client.Sent()))
		if result, err = e.crawler.CrawlMore(ctx, routes...); err != nil {
			return err
		}
	}
	e.sockets(result)
	var found []*message.Request
	if e.Browser != nil {
		e.Progress(20, fmt.Sprintf("running script, %d requests", e.Client.Sent()))
		if found, err = e.explore(ctx, result); err != nil {
			return err
		}
		if _, err = e.crawler.CrawlMore(ctx, found...); err != nil {
			return err
		}
	}
	// After the browser: what a page was seen to request is not left to the analysis of APIs.
	e.leave(found)
	// Forms that were submitted may have added rows, whose links are new.
	_, err = e.crawler.CrawlMore(ctx, e.crawler.ListPages()...)
	return err
}

// entrance returns the page on which the identity signs in, to be requested as a guest: a signed-in
// user is redirected away from it, and from registration and password recovery, which it links to.
// nil: no identity signs in by a form.
func (e *examination) entrance() *message.Request {
	for _, identity := range e.Target.Identities[:min(1, len(e.Target.Identities))] {
		if identity.Form == nil {
			continue
		}
		if page := crawl.Resolve(e.Scope.Base(), identity.Form.URL, "sign-in"); page != nil {
			page.Guest = true
			return page
		}
	}
	return nil
}

// sockets records WebSockets (RFC 6455) on the sitemap, with the reason that their messages are not
// examined. The address wss://host/path becomes https://host/path.
func (e *examination) sockets(result *crawl.Result) {
	for _, address := range result.Sockets {
		r, err := message.Parse(strings.Replace(address, "ws", "http", 1))
		if err != nil || e.Scope.Allows(r) != nil {
			continue
		}
		r.Origin = "socket"
		if e.Sitemap.Add(r) {
			e.Sitemap.RecordFailure(r, "a WebSocket: its messages are not examined")
		}
	}
}

const (
	// maxOpened bounds the pages that the browser begins with.
	maxOpened = 60
	// exploreTime bounds the time of the browser, beside a quarter of what is left for the scan.
	exploreTime = 5 * time.Minute
)

// explore lets the browser walk through the application, and returns the requests that it sent. It
// begins with one page of each shape: scripts behave alike on /users/1 and /users/2.
func (e *examination) explore(ctx context.Context, known *crawl.Result) ([]*message.Request, error) {
	seeds := []string{e.Scope.Base().String()}
	shapes := map[string]bool{}
	for _, p := range known.Pages {
		if shape := sitemap.OperationKey(p); !shapes[shape] && p.Method == http.MethodGet && len(seeds) < maxOpened &&
			!sitemap.IsDangerous(p.Address()) {
			shapes[shape] = true
			seeds = append(seeds, p.Address())
		}
	}
	var mu sync.Mutex
	var found []*message.Request
	walk, err := e.Browser.Explore(ctx, browser.Exploration{As: e.As, Seeds: seeds, Routes: known.Routes,
		Login: e.As.Login(), Follow: true, Submit: e.Target.Profile.Allows(scan.Standard),
		Bold: e.Target.Profile.Allows(scan.Full),
		Time: min(exploreTime, time.Until(e.Deadline)/4),
		Found: func(o browser.Observation) {
			if o.Request == nil || o.Foreign || e.Scope.Allows(o.Request) != nil {
				return
			}
			e.SideEffects.Classify(o.Request, "") // what a form shows tells what it does
			r := e.anonymous(o.Request.Clone())
			r.Origin = "browser"
			// Found is called from the browser's own goroutines.
			mu.Lock()
			defer mu.Unlock()
			found = append(found, r)
		}})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e.Degrade(scan.Reason{Code: "unavailable", Beyond: true, Message: "script was not run to " +
			"its end: " + err.Error()})
	}
	if walk.Entered != nil {
		e.As.AdoptBrowserState(walk.Entered)
	}
	if walk.Left != "" {
		e.Degrade(scan.Reason{Code: "timeout", Beyond: true, Message: "script was not run to its end: " + walk.Left})
	}
	if n := len(walk.Ended); n > 0 {
		e.Degrade(scan.Reason{Code: "timeout", Beyond: true, Message: fmt.Sprintf("script was not run to its end %d "+
			"times: %.500s", n, strings.Join(walk.Ended, ", "))})
	}
	mu.Lock()
	defer mu.Unlock()
	return found, nil
}

// anonymous replaces the identity's credentials in a request that the browser has signed in with.
// Attacks on that request would otherwise send wrong passwords for the real account and lock it.
func (e *examination) anonymous(r *message.Request) *message.Request {
	user, password := e.As.Secrets()
	if password == "" || !slices.ContainsFunc(r.Points(), func(p message.Point) bool { return p.Value == password }) {
		return r
	}
	for _, p := range r.Points() {
		switch p.Value {
		case user:
			r = r.With(p, e.Values.Email())
		case password:
			r = r.With(p, e.Values.Password(r.Location()))
		}
	}
	return r
}

// seeds returns requests of the addresses that the target's settings name. One that is no address
// is a reason, since what it leads to may stay unseen.
func (e *examination) seeds() []*message.Request {
	var out []*message.Request
	for _, s := range e.Target.Seeds {
		if r := crawl.Resolve(e.Scope.Base(), s, "seed"); r != nil {
			out = append(out, r)
			continue
		}
		e.Degrade(scan.Reason{Code: "malformed", Message: fmt.Sprintf("the seed %.200q is no address", s)})
	}
	return out
}
