// Package application is the analyzer of running web applications: it signs in, finds
// what there is to reach, attacks it, and says what became of each operation.
package application

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/check"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/site"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer examines a running web application.
var Analyzer = &scan.Analyzer{
	ID: "dast/application", Version: 1, Analysis: finding.DAST, Doc: doc,
	Needs: scan.Needs{Network: true}, Live: examine,
}

// An examination is one scan of one target.
type examination struct {
	*scan.LivePass
	scope   *site.Scope
	client  *traffic.Client
	surface *site.Surface
	as      *session.Session
	run     *attack.Run
	crawler *crawl.Crawler
	browser *browser.Browser // nil: there is none
}

// examine runs the phases. What ends one of them early is a reason; the operations are
// told in any case.
func examine(p *scan.LivePass) error {
	e := &examination{LivePass: p, surface: site.NewSurface(maxOperations)}
	if err := e.prepare(); err != nil {
		return err
	}
	defer e.client.Close()
	defer e.closeBrowser()
	ctx, cancel := context.WithDeadline(p.Context, p.Deadline)
	defer cancel()
	err := e.phases(ctx)
	e.tell()
	switch {
	case err == nil, p.Context.Err() != nil:
		return p.Context.Err()
	case errors.Is(err, context.DeadlineExceeded):
		p.Degrade(scan.Reason{Code: "timeout", Message: "the time of the scan is used up: what follows was not examined"})
		return nil
	case traffic.Over(err) && e.reached():
		p.Degrade(scan.Reason{Code: "unavailable", Message: err.Error()})
		return nil
	}
	return err
}

// maxOperations bounds the operations of one target.
const maxOperations = 20_000

// prepare makes what the phases need.
func (e *examination) prepare() (err error) {
	t := &e.Target
	if e.scope, err = site.NewScope(t); err != nil {
		return err
	}
	agent := traffic.DefaultAgent
	e.client = traffic.New(traffic.Options{Scope: e.scope, Dial: e.Dial, ID: e.ID, Agent: agent, Headers: t.Headers, Rate: t.Rate, Parallel: t.Parallel, Requests: t.Requests})
	for _, name := range t.Checks {
		if !slices.ContainsFunc(check.All, func(c *attack.Check) bool { return c.ID == name }) {
			return errs.E(errs.Invalid, "there is no check %.100q", name)
		}
	}
	if n := len(t.Templates); n > 0 {
		e.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("%d templates were not run: this build has no interpreter for them", n)})
	}
	var identity scan.Identity
	if len(t.Identities) > 0 {
		identity = t.Identities[0]
	}
	if e.as, err = session.New(identity, session.Options{Client: e.client, Scope: e.scope, Walk: e.walk, WalkReason: e.BrowserReason}); err != nil {
		return err
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(t.URL)) // a hash takes everything
	e.run = &attack.Run{Client: e.client, As: e.as, Surface: e.surface, Target: t, Scope: e.scope, Checks: check.All, Callback: e.Callback,
		Parallel: max(t.Parallel, 4), Seed: seed.Sum64(), Renew: crawl.Renewer(e.client, e.as), Report: e.Report, Degrade: e.Degrade,
		Progress: func(done, all int) {
			e.Progress(30+70*done/max(all, 1), fmt.Sprintf("attacked %d of %d operations, %d requests", done, all, e.client.Sent()))
		}}
	e.crawler = crawl.New(crawl.Options{Client: e.client, As: e.as, Scope: e.scope, Surface: e.surface, Submit: t.Profile.Allows(scan.Standard),
		Look: func(resp *message.Response) { e.run.Look(e.Context, resp) }, Degrade: e.Degrade, Parallel: max(t.Parallel, 4),
		Progress: func(asked, known int) {
			e.Progress(5+15*asked/max(known, 1), fmt.Sprintf("asked for %d of %d pages, %d requests", asked, known, e.client.Sent()))
		}})
	return nil
}

// phases are the scan.
func (e *examination) phases(ctx context.Context) error {
	if err := e.knock(ctx); err != nil {
		return err
	}
	if err := e.startBrowser(ctx); err != nil {
		return err
	}
	if err := e.as.SignIn(ctx); err != nil {
		if traffic.Over(err) {
			return err
		}
		e.Degrade(scan.Reason{Code: "unavailable", Message: err.Error() + "; the scan goes on without it"})
	}
	if err := e.discover(ctx); err != nil {
		return err
	}
	e.Progress(30, fmt.Sprintf("found %d operations, %d requests", len(e.surface.Entries()), e.client.Sent()))
	err := e.run.Do(ctx)
	if state := e.as.State(); state.Lost {
		e.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the session of %q was lost at %s: %s; what was asked since then was asked without it",
			e.as.Name(), state.Since.UTC().Format(time.RFC3339), state.Why)})
	}
	return err
}

// knock asks the target once: one that does not answer cannot be examined.
func (e *examination) knock(ctx context.Context) error {
	base, err := message.Of(e.scope.Base())
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "the target cannot be asked")
	}
	for attempt := range 3 {
		if _, err = e.client.Send(ctx, base, nil); err == nil || traffic.Over(err) || errs.Is(err, errs.Forbidden) {
			return err
		}
		select {
		case <-time.After(time.Duration(attempt+1) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errs.Wrap(errs.Unavailable, err, "the target does not answer")
}

// reached reports whether any operation answered.
func (e *examination) reached() bool {
	for _, entry := range e.surface.Entries() {
		if entry.Seen.Outcome == finding.Reached {
			return true
		}
	}
	return false
}

// tell reports what became of each operation.
func (e *examination) tell() {
	for _, entry := range e.surface.Entries() {
		e.Operation(entry.Seen)
	}
	if n := e.client.Slowed(); n > 0 {
		e.Progress(100, fmt.Sprintf("held back for %s because the target asked for it", n.Round(time.Second)))
	}
}
