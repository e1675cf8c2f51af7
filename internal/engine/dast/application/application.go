// Package application is the analyzer of running web applications: it signs in, finds operations,
// attacks them, and reports the outcome of each operation.
//
// Operations come from four sources, in this order (discover.go): the crawler, which follows links
// and forms of the markup; the page of the sign-in, which only a guest sees; the routes that source
// code declares (routes.go); and the browser, which runs script. Each adds to what the next one
// begins with. The attack is the work of activescan with the checks of package check, the course of
// the scan that of livescan.
//
// Budget: 30 % of the progress and at most half of the time are for finding operations.
package application

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/check"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/livescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/session"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer examines a running web application.
var Analyzer = &scan.Analyzer{
	ID: "dast/application", Version: 1, Analysis: finding.DAST, Doc: doc, Rules: listRules,
	Needs: scan.Needs{Network: true, Advisories: true}, Live: examine,
}

// listRules returns the rules of all checks.
func listRules() ([]*finding.Rule, error) {
	var out []*finding.Rule
	for _, c := range check.All {
		for _, r := range c.FindingRules {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// An examination is one scan of one target.
type examination struct {
	*livescan.Scan
	// crawler is set by examine before the live scan begins.
	crawler *crawl.Crawler
}

// find signs the other identities in, and finds operations.
func (e *examination) find(ctx context.Context) error {
	for _, other := range e.Engine.OtherIdentities {
		if err := e.SignIn(ctx, other.Session.(*session.Session)); err != nil { // they are all of others
			return err
		}
	}
	err := e.discover(ctx)
	unread := e.crawler.UnreadReasons()
	for _, reason := range unread {
		e.Degrade(reason)
	}
	// A stored value may be on a page without a response, so a scan without findings must not claim
	// that there is none.
	if rules := e.Engine.RuleIDs(func(c *activescan.Rule) []*finding.Rule { return c.StoredRules }); len(unread) > 0 &&
		len(rules) > 0 {
		e.Degrade(scan.Reason{Code: "unreadable", Rules: rules, Message: "stored values were not searched for in " +
			"pages without a response"})
	}
	if err != nil {
		return err
	}
	if len(e.Sitemap.Entries()) == 0 {
		e.Degrade(scan.Reason{Code: "unavailable", Message: "nothing to scan: none of the requested pages exists"})
	}
	return nil
}

// others returns the identities of the target except the first. One of a lower role is less
// privileged: what it sees of the first one's pages is a finding. Role 0 means that no role is
// configured.
func others(v *livescan.Scan) ([]activescan.Identity, error) {
	var out []activescan.Identity
	for _, identity := range v.Target.Identities[min(1, len(v.Target.Identities)):] {
		s, err := session.New(identity, v.Session())
		if err != nil {
			return nil, err
		}
		out = append(out, activescan.Identity{Session: s, LessPrivileged: identity.Role > 0 &&
			identity.Role < v.Target.Identities[0].Role})
	}
	return out, nil
}

// examine runs the live scan of one target.
func examine(p *scan.LivePass) error {
	v, err := livescan.New(p, check.All)
	if err != nil {
		return err
	}
	defer v.Close()
	e := &examination{Scan: v}
	v.Engine.RenewCSRFToken = crawl.TokenRenewer(v.Client, v.As)
	if v.Engine.OtherIdentities, err = others(v); err != nil {
		return err
	}
	// A guest has cookies, but no credentials: some pages exist only for users who are not signed
	// in.
	guest, err := session.New(scan.Identity{}, v.Session())
	if err != nil {
		return err
	}
	v.Client.Receive(guest)
	e.crawler = crawl.New(crawl.Options{Client: v.Client, As: v.As, Scope: v.Scope, Surface: v.Sitemap,
		Keeper: v.SideEffects, Values: v.Values, Submit: e.Target.Profile.Allows(scan.Standard),
		Remove: e.Target.Profile.Allows(scan.Full),
		Look:   func(resp *message.Response) { e.Engine.InspectResponse(e.Context, resp) }, Degrade: e.Degrade,
		Place:    e.Engine.Location,
		Parallel: max(e.Target.Parallel, 4),
		Progress: func(asked, known int) {
			e.Progress(5+15*asked/max(known, 1), fmt.Sprintf("requested %d of %d pages, %d "+
				"requests", asked, known, e.Client.Sent()))
		}})
	// Pages that only the sign-in passes through are read for links too.
	v.SeenSignIn = e.crawler.Signed
	return v.Execute(livescan.Plan{Script: true, Discover: e.find, Found: 30, Operations: func() []finding.Operation {
		var out []finding.Operation
		for _, entry := range e.Sitemap.Entries() {
			entry.Seen.Reason = cmp.Or(entry.Seen.Reason, entry.Unfinished)
			out = append(out, entry.Seen)
		}
		return out
	}})
}
