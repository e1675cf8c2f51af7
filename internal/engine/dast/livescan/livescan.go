// Package livescan is what every analysis of a running target shares, DAST as well as API. New
// prepares a Scan from the settings of the target; [Scan.Execute] runs it: ask whether the target
// responds, start the browser, sign in, let the analysis find operations (Plan.Discover), attack
// them with the engine of activescan, remove what was created, and end in time with what there is.
//
// The Scan owns the parts that belong to one target: its HTTP client, the sitemap, the session, the
// browser, the guard against side effects. What could not be done is a reason ([scan.Reason]), so
// that a report without findings is never mistaken for an examination without gaps.
//
// Budget: half of the time for finding operations, the rest for the attack, except for removeTime
// at the end.
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

// MaxOperations bounds the operations of one target. Each has a request, an outline and the state
// of its checks in memory; sites with more have generated pages, of which one stands for many.
const MaxOperations = 20_000

// A Scan is one scan of one target.
type Scan struct {
	*scan.LivePass
	// Scope says which addresses may be requested.
	Scope *sitemap.Scope
	// Client sends everything: the engine, the session and the browser share its limits.
	Client *traffic.Client
	// Sitemap contains the operations that were found. Discover fills it, the engine attacks it.
	Sitemap *sitemap.Map
	// As is the session of the first identity; without identities it is that of a visitor, never
	// nil.
	As *session.Session
	// Engine runs the checks. An analysis may take rules away before the attack.
	Engine *activescan.Engine
	// Browser runs script; nil: none was wanted, or none could be started.
	Browser *browser.Browser
	// Seed begins all random choices. It depends on the target, the scan and the checkpoint, so
	// that a resumed scan does not take what its earlier attempt has left in the target for its
	// own.
	Seed uint64
	// SideEffects decides which requests the profile allows, and notes what they created.
	SideEffects *sideeffect.Guard
	// Values makes what is typed into fields, with the mark of the scan in it.
	Values *formvalue.Generator
	// SeenSignIn gets the responses of the sign-ins, without credentials; nil: nobody wants them.
	SeenSignIn func(*message.Response)

	// answered: the target has responded once. An error before that is one of the settings.
	answered bool
	// phase is the last step that Progress named.
	phase atomic.Pointer[string]
	// done counts the operations that were attacked.
	done atomic.Int64
	// left counts the operations that are still to be attacked.
	left atomic.Int64
	// reported counts the findings.
	reported atomic.Int64
	// unkept is the result of the last attempt to save a checkpoint; nil: there was no attempt.
	unkept atomic.Pointer[error]
}

// A Plan is what distinguishes one analysis from another: how it finds operations, and how it
// describes them afterwards.
type Plan struct {
	// Script says that a browser is wanted whatever the identities are; otherwise one
	// is started for those that sign in with it.
	Script bool
	// Discover finds operations and adds them to the sitemap.
	Discover func(context.Context) error
	// Found is the percentage of the work at which Discover ends.
	// The rest up to 100 is the attack.
	Found int
	// Operations are what became of each operation. It is called however the live scan ends.
	Operations func() []finding.Operation
}

// New prepares the live scan of the target of p with the checks and the templates that the
// target brings, and sends nothing. Close
// ends what it holds. Its errors are those of a target that cannot be visited.
func New(p *scan.LivePass, checks []*activescan.Rule) (*Scan, error) {
	t := &p.Target
	// Templates are checks too: a name in the settings may select one.
	checks = slices.Concat(checks, template.Checks(t, p.OAST != nil, p.Degrade))
	// A misspelled check would otherwise select nothing, and the scan would report no
	// vulnerabilities.
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
	// From here on errors have to close the client.
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
	// Without a listener, blind SSRF, XXE, and command injection remain unseen.
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
	// A tenth of the time, at most removeTime, is kept back for the removal of created objects.
	ctx, cancel := context.WithDeadline(v.Context, v.Deadline.Add(-min(removeTime, time.Until(v.Deadline)/10)))
	defer cancel()
	ctx, end := v.withStop(ctx)
	defer end()
	err := v.runPhases(ctx, plan)
	// From here on no request is sent but those of addCreatedObjects: the outcome is written down.
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
	// Stored payloads of blind XSS remain in the target. Its operators must know where.
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
	// Findings up to here are kept: who stops a scan wants its result.
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

// locationOf returns the path by which findings name the location of an operation's address; empty
// where the address is not absolute.
func (v *Scan) locationOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	if !ok || host == "" {
		return ""
	}
	return v.Engine.Location(&message.Request{Scheme: scheme, Host: host, Path: "/" + path})
}

// reportRoutes degrades the scan by the reason for each route. A route is "GET https://host/path"
// as traffic.Client names it. CoverageGaps joins them, so that a thousand routes make few reasons.
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

// runPhases runs the phases of the live scan in their order. An error ends it; a reason does not.
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
		// Operations that were found, but not attacked, must not appear as examined.
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
	// After the attack: a session that is lost and renewed now and then is no gap.
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

// checkReachable requests the base address. A target that does not respond cannot be examined: the
// error names the reason, such as a refused connection or a certificate. Three attempts, because a
// target in a container may still be starting.
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

// startBrowser starts the browser where the analysis or an identity needs it. That a browser is
// missing is a reason only where script was to be run.
func (v *Scan) startBrowser(ctx context.Context, script bool) error {
	// A form may need script too, which shows only when it fails.
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

// allowsScriptHost reports whether pages may load scripts from the host, such as a CDN: it must
// have a public name of its own. Another port of the target's host, this machine, and IP addresses,
// which may be private ones that only the target may reach, are not requested: a page of the target
// could otherwise make the scanner send requests into its own network.
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

// signInWithBrowser signs in with the browser. Later pages of the session begin with the cookies
// and the storage that the browser has then.
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
