// Package livescan is what every analysis of a running target shares. A Visit asks
// whether the target answers, signs in, lets the analysis find operations, attacks
// them, and ends in time with what it has. What it could not do is a reason, never an
// end without a word.
package livescan

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/browser"
	"merlon/internal/engine/dast/formvalue"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/template"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// MaxOperations bounds the operations of one target.
const MaxOperations = 20_000

// A Scan is one scan of one target.
type Scan struct {
	*scan.LivePass
	Scope       *sitemap.Scope
	Client      *traffic.Client
	Sitemap     *sitemap.Map
	As          *session.Session // the first identity, or nobody
	Engine      *activescan.Engine
	Browser     *browser.Browser     // nil: there is none
	Seed        uint64               // of all that is random
	SideEffects *sideeffect.Guard    // of what requests may do
	Values      *formvalue.Generator // that are typed into fields
	// Signed sees the answers of the sign-ins, without credentials; nil: nobody does.
	SeenSignIn func(*message.Response)

	answered bool                   // the target has answered once
	phase    atomic.Pointer[string] // the last step of Progress
	done     atomic.Int64           // operations that were attacked
	left     atomic.Int64           // operations that are still to be attacked
	reported atomic.Int64           // findings
	unkept   atomic.Pointer[error]  // how keeping has ended the last time
}

// A Plan is what an analysis does itself.
type Plan struct {
	// Script says that a browser is wanted whatever the identities are; otherwise one
	// is started for those that sign in with it.
	Script bool
	// Discover finds operations and adds them to the sitemap.
	Discover func(context.Context) error
	// Found is the percentage of the work at which Discover ends.
	Found int
	// Operations are what became of each operation. It is called however the live scan ends.
	Operations func() []finding.Operation
}

// New prepares the live scan of the target of p with the checks and the templates that the
// target brings, and sends nothing. Close
// ends what it holds. Its errors are those of a target that cannot be visited.
func New(p *scan.LivePass, checks []*activescan.Rule) (*Scan, error) {
	t := &p.Target
	checks = slices.Concat(checks, template.Checks(t, p.OAST != nil, p.Degrade))
	for _, name := range t.Checks {
		if !slices.ContainsFunc(checks, func(c *activescan.Rule) bool { return c.ID == name }) {
			return nil, errs.E(errs.Invalid, "there is no check %.100q", name)
		}
	}
	v := &Scan{LivePass: p, Sitemap: sitemap.New(MaxOperations)}
	var err error
	if v.Scope, err = sitemap.NewScope(t); err != nil {
		return nil, err
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(t.URL + p.ID)) // a hash takes everything
	_, _ = seed.Write(p.Resume)             // what an earlier attempt has left in the target is not this one's
	v.Seed = seed.Sum64()
	v.Values = formvalue.New(v.Seed, listenerAddress(p.OAST))
	v.SideEffects = sideeffect.NewGuard(t.Profile, len(t.Identities) > 0, v.Values.Mark())
	v.Client = traffic.New(traffic.Options{Scope: v.Scope, Dial: p.Dial, ID: p.ID, Agent: traffic.DefaultAgent,
		Headers: t.Headers,
		Rate:    t.Rate, Parallel: t.Parallel, Requests: t.Requests, SideEffects: v.SideEffects,
		SignIns: t.Profile.Allows(scan.Full)})
	var identity scan.Identity
	if len(t.Identities) > 0 {
		identity = t.Identities[0]
	}
	if v.As, err = session.New(identity, v.Session()); err != nil {
		v.Client.Close()
		return nil, err
	}
	if err := v.protectAccounts(); err != nil {
		v.Client.Close()
		return nil, err
	}
	v.reportToMonitor()
	v.Engine = &activescan.Engine{Client: v.Client, As: v.As, Sitemap: v.Sitemap, Target: t, Scope: v.Scope,
		SideEffects: v.SideEffects,
		Rules:       checks, OAST: p.OAST, OASTTimeout: p.OASTTimeout, Advisories: p.Advisories,
		Parallel: max(t.Parallel, 4), Seed: v.Seed, ReportFinding: p.Report, ReportGap: p.Degrade, Checkpoint: p.Resume}
	if p.SaveCheckpoint != nil {
		v.Engine.SaveCheckpoint = func(kept []byte) {
			if !v.As.State().Lost { // what was attacked as nobody is attacked again
				err := p.SaveCheckpoint(kept)
				v.unkept.Store(&err)
			}
		}
	}
	if rules := v.Engine.RuleIDs(func(c *activescan.Rule) []*finding.Rule { return c.OASTRules }); p.OAST == nil &&
		p.OASTReason != "" && len(rules) > 0 {
		v.Degrade(scan.Reason{Code: "unavailable", Rules: rules, Message: "flaws that show only in what the target " +
			"sends elsewhere were not looked for: " + p.OASTReason})
	}
	return v, nil
}

// Session is what identities of the target sign in with.
func (v *Scan) Session() session.Options {
	return session.Options{Client: v.Client, Scope: v.Scope, Browse: v.signInWithBrowser, Secrets: v.Secrets,
		Look: func(resp *message.Response) {
			v.Engine.InspectResponse(v.Context, resp)
			if v.SeenSignIn != nil {
				v.SeenSignIn(resp)
			}
		}}
}

// Execute makes the live scan. What ends it early is a reason, unless nothing was seen at all.
func (v *Scan) Execute(plan Plan) error {
	ctx, cancel := context.WithDeadline(v.Context, v.Deadline.Add(-min(removeTime, time.Until(v.Deadline)/10)))
	defer cancel()
	ctx, end := v.withStop(ctx)
	defer end()
	err := v.runPhases(ctx, plan)
	v.notSignedIn()
	operations := v.addCreatedObjects(plan.Operations())
	for _, o := range operations {
		if o.Outcome == finding.Reached && o.Reason == "" {
			o.FindingPath = v.locationOf(o.URL)
		}
		v.Operation(o)
	}
	if last := v.unkept.Load(); last != nil && *last != nil && v.Context.Err() == nil {
		v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the progress of the scan could not be "+
			"saved, so it resumes earlier after an interruption: %v", *last)})
	}
	if list := v.Engine.PersistedPayloads(); len(list) > 0 {
		v.Progress(100, fmt.Sprintf("%d operations received texts with the URL of a script at the OAST listener, "+
			"which is closed now, and may have stored them: %.2000s", len(list),
			strings.Join(list, ", ")))
	}
	if n := v.Client.ThrottledTime(); n > 0 {
		v.Progress(100, fmt.Sprintf("paused for %s because the target requested it", n.Round(time.Second)))
	}
	v.reportRoutes(v.Client.RateLimitedRoutes(),
		scan.Reason{Code: "unavailable", Message: "limits requests and was not " +
			"examined to " +
			"the end"})
	v.reportRoutes(v.Client.TruncatedRoutes(),
		scan.Reason{Code: "too-large", Beyond: true, Message: "returns responses that were read only in part, " +
			"because they are longer than 4 MiB or truncated"})
	switch {
	case err == nil && v.Context.Err() == nil:
		v.warnIfNothingExamined(operations)
		return nil
	case v.Context.Err() != nil:
		return v.Context.Err()
	case errors.Is(context.Cause(ctx), errStopped):
		v.Degrade(scan.Reason{Code: "interrupted", Message: "the scan was interrupted: what follows was not examined"})
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		v.Degrade(scan.Reason{Code: "timeout", Message: "the time of the scan is used up: what follows was not " +
			"examined"})
		return nil
	case traffic.IsFinal(err) && v.answered:
		v.Degrade(scan.Reason{Code: "unavailable", Message: err.Error()})
		return nil
	}
	return err
}

// locationOf is the path by which findings name the place of an operation's address; empty
// where it cannot be told.
func (v *Scan) locationOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	if !ok || host == "" {
		return ""
	}
	return v.Engine.Location(&message.Request{Scheme: scheme, Host: host, Path: "/" + path})
}

// reportRoutes gives the reason for each of the routes, as traffic.Client names them.
func (v *Scan) reportRoutes(list []string, reason scan.Reason) {
	var gaps sitemap.CoverageGaps
	for _, route := range list {
		_, address, _ := strings.Cut(route, " ")
		gaps.Add(v.locationOf(address), "", route+" "+reason.Message)
	}
	for _, r := range gaps.Take(reason.Code, reason.Beyond) {
		v.Degrade(r)
	}
}

// runPhases are the live scan.
func (v *Scan) runPhases(ctx context.Context, plan Plan) error {
	if err := v.checkReachable(ctx); err != nil {
		return err
	}
	if err := v.startBrowser(ctx, plan.Script); err != nil {
		return err
	}
	if err := v.SignIn(ctx, v.As); err != nil {
		return err
	}
	if err := v.discoverOperations(ctx, plan); err != nil {
		if traffic.IsFinal(err) {
			v.Engine.SkipAll()
		}
		return err
	}
	v.Progress(plan.Found, fmt.Sprintf("found %d operations, %d requests", len(v.Sitemap.Entries()), v.Client.Sent()))
	v.Engine.Progress = func(done, all int) {
		v.done.Store(int64(done))
		v.left.Store(int64(all - done))
		v.Progress(plan.Found+(100-plan.Found)*done/max(all, 1), fmt.Sprintf("attacked %d of %d operations, %d "+
			"requests", done, all, v.Client.Sent()))
	}
	err := v.Engine.Run(ctx)
	switch state := v.As.State(); {
	case state.IsUnstable():
		v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the session of %q was lost %d times, first "+
			"at %s, last because %s: later requests were partly sent without it",
			v.As.Name(), state.Losses, state.First.UTC().Format(time.RFC3339), state.Why)})
	case state.Lost:
		v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the session of %q was lost at %s: %s; later "+
			"requests were sent without it",
			v.As.Name(), state.Since.UTC().Format(time.RFC3339), state.Why)})
	}
	if err != nil {
		return err
	}
	return v.detectBlocking(ctx)
}

// checkReachable asks the target once: one that does not answer cannot be examined.
func (v *Scan) checkReachable(ctx context.Context) error {
	base, err := message.FromURL(v.Scope.Base())
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "the target cannot be requested")
	}
	for attempt := range 3 {
		select {
		case <-time.After(time.Duration(attempt) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err = v.Client.Send(ctx, base, nil); err == nil || traffic.IsFinal(err) || errs.Is(err, errs.Forbidden) {
			v.answered = err == nil
			return err
		}
	}
	return errs.Wrap(errs.Unavailable, err, "the target does not respond")
}

// startBrowser starts the browser, if there is one and it is wanted. Without it script
// does not run, which is a reason where it matters.
func (v *Scan) startBrowser(ctx context.Context, script bool) error {
	signs := slices.ContainsFunc(v.Target.Identities, func(i scan.Identity) bool {
		return len(i.Steps) > 0 || i.Form != nil
	})
	if !script && !signs {
		return nil
	}
	unavailable := func(reason string) {
		if script {
			rules := v.Engine.RuleIDs(func(c *activescan.Rule) []*finding.Rule { return c.BrowserRules })
			v.Degrade(scan.Reason{Code: "unavailable", Beyond: true, Rules: rules, Message: "script was not run: " +
				reason})
		}
	}
	if v.LivePass.Browser == "" && v.Chromium == nil {
		if v.BrowserReason != "" {
			unavailable(v.BrowserReason)
		}
		return nil
	}
	b, err := browser.Start(ctx, browser.Options{Path: v.LivePass.Browser, User: v.BrowserUser, Launch: v.Chromium,
		Dial: browser.Dial(v.Dial), Gate: v.Client, IgnoreCertificates: true, Values: v.Values,
		Within: func(r *message.Request) bool { return v.Scope.Allows(r) == nil }, Elsewhere: v.allowsScriptHost,
		Headers: append([]scan.Header{{Name: "X-Merlon-Scan", Value: v.ID}}, v.Target.Headers...)})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		unavailable(err.Error())
		return nil
	}
	v.Browser = b
	v.Engine.Browser = browser.Prover{Browser: b, As: v.As}
	return nil
}

// allowsScriptHost reports whether pages may load scripts from the host: one that has a name
// of its own. Another port of the target's host, this machine, and addresses, which may
// be private ones that the scan was allowed for the target's sake, are not asked.
func (v *Scan) allowsScriptHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	_, err := netip.ParseAddr(name)
	return err != nil && strings.Contains(name, ".") && !strings.HasSuffix(name, ".localhost") &&
		!strings.EqualFold(name, v.Scope.Base().Hostname())
}

// signInWithBrowser signs in with the browser. Pages of the session begin with what scripts hold
// then.
func (v *Scan) signInWithBrowser(ctx context.Context, s *session.Session,
	l browser.Login) (*browser.SignInState, error) {
	if v.Browser == nil {
		reason := v.BrowserReason
		if reason == "" {
			reason = "it did not start"
		}
		return nil, errs.E(errs.Unavailable, "to sign in needs a browser: %s", reason)
	}
	state, err := v.Browser.SignIn(ctx, l)
	if err == nil {
		v.Browser.Keep(s, state.Storage)
	}
	return state, err
}

// Close ends the browser, and says when it died, and closes all connections.
func (v *Scan) Close() {
	if v.Browser != nil {
		if n, err := v.Browser.Crashes(); n > 0 {
			v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the browser died %d times: %v", n, err)})
		}
		v.Browser.Close()
	}
	v.Client.Close()
}
