// Package operations is the analyzer of running APIs: it reads their descriptions, asks
// every operation as the description says, those that give identifiers before those
// that take them, compares the answers with the description, and attacks. Every
// operation ends reached, refused or not reached, with the reason.
package operations

import (
	"context"
	_ "embed" // the manual
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	"merlon/internal/engine/api/describe"
	"merlon/internal/engine/api/graphql"
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/check"
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

// Analyzer examines a running API by its descriptions.
var Analyzer = &scan.Analyzer{
	ID: "api/operations", Version: 1, Analysis: finding.API, Doc: doc,
	Needs: scan.Needs{Network: true}, Live: examine,
}

// maxOperations bounds the operations of one target.
const maxOperations = 20_000

// An examination is one scan of one API.
type examination struct {
	*scan.LivePass
	scope   *site.Scope
	client  *traffic.Client
	surface *site.Surface
	as      *session.Session
	run     *attack.Run
	seed    uint64

	calls   []*call
	byShape map[string]*call // those that are attacked
	store   *store
}

// A call is an operation with what became of it.
type call struct {
	operation *describe.Operation
	origin    string
	request   *message.Request  // the best one, or the last without an answer; nil: none could be made
	answer    *message.Response // to it; nil: none
	seen      finding.Operation
	created   bool // its path names an object that the scan has made
	late      bool // no answer came in time
}

// examine runs the phases. What ends one of them early is a reason; the operations are
// told in any case.
func examine(p *scan.LivePass) error {
	e := &examination{LivePass: p, surface: site.NewSurface(maxOperations), byShape: map[string]*call{}, store: newStore()}
	if err := e.prepare(); err != nil {
		return err
	}
	defer e.client.Close()
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

// prepare makes what the phases need.
func (e *examination) prepare() (err error) {
	t := &e.Target
	if e.scope, err = site.NewScope(t); err != nil {
		return err
	}
	e.client = traffic.New(traffic.Options{Scope: e.scope, Dial: e.Dial, ID: e.ID, Agent: traffic.DefaultAgent, Headers: t.Headers, Rate: t.Rate, Parallel: t.Parallel, Requests: t.Requests})
	var identity scan.Identity
	if len(t.Identities) > 0 {
		identity = t.Identities[0]
	}
	if e.as, err = session.New(identity, session.Options{Client: e.client, Scope: e.scope, WalkReason: e.BrowserReason}); err != nil {
		return err
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(t.URL + e.ID)) // a hash takes everything
	e.seed = seed.Sum64()
	e.run = &attack.Run{Client: e.client, As: e.as, Surface: e.surface, Target: t, Scope: e.scope, Checks: slices.Concat(e.checks(), graphql.Checks(e.endpoints), check.All), Callback: e.Callback,
		Parallel: max(t.Parallel, 4), Seed: e.seed, Report: e.Report, Degrade: e.Degrade,
		Progress: func(done, all int) {
			e.Progress(40+60*done/max(all, 1), fmt.Sprintf("attacked %d of %d operations, %d requests", done, all, e.client.Sent()))
		}}
	return nil
}

// phases are the scan.
func (e *examination) phases(ctx context.Context) error {
	if err := e.knock(ctx); err != nil {
		return err
	}
	if err := e.as.SignIn(ctx); err != nil {
		if traffic.Over(err) {
			return err
		}
		e.Degrade(scan.Reason{Code: "unavailable", Message: err.Error() + "; the scan goes on without it"})
	}
	e.Progress(5, "read descriptions")
	if err := e.gather(ctx); err != nil {
		return err
	}
	if len(e.calls) == 0 {
		e.Degrade(scan.Reason{Code: "unavailable", Message: "there is no description of the API: none was given, and none is where descriptions usually are"})
		return nil
	}
	if err := e.explore(ctx); err != nil {
		return err
	}
	e.Progress(40, fmt.Sprintf("asked %d operations, %d requests", len(e.calls), e.client.Sent()))
	if slices.ContainsFunc(e.surface.Entries(), func(s site.Entry) bool { return s.Request.Method != http.MethodGet }) {
		e.run.Parallel = 1 // what one operation changes, another one shows: comparisons need it to stand still
	}
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
	for _, c := range e.calls {
		if c.answer != nil {
			return true
		}
	}
	return false
}

// tell reports what became of each operation, with the requests of the attack.
func (e *examination) tell() {
	attacked := map[string]int{}
	for _, entry := range e.surface.Entries() {
		attacked[site.Shape(entry.Request)] = entry.Seen.Requests
	}
	for _, c := range e.calls {
		if c.request != nil {
			shape := site.Shape(c.request)
			if e.byShape[shape] == c {
				c.seen.Requests += attacked[shape]
			}
		}
		e.Operation(c.seen)
	}
	if n := e.client.Slowed(); n > 0 {
		e.Progress(100, fmt.Sprintf("held back for %s because the target asked for it", n.Round(time.Second)))
	}
}
