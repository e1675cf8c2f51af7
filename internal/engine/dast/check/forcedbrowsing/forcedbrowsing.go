// Package forcedbrowsing finds pages that are only hidden from a user (CWE-425): a higher user is
// shown them, no page of a lower user links to them, and yet they open for him with the same
// content, while nobody gets them. Which of two identities is the lower one, the target's settings
// say (scan.Identity.Role).
//
// Budget: maxSeen pages are read as the lower user, maxAsked are compared, with four requests each.
// The check only reads.
package forcedbrowsing

import (
	"fmt"
	"net/http"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/crawl"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

var rule = texts.Get("hidden-page")

// Rule is the check. It only reads.
var Rule = &activescan.Rule{ID: "access", FindingRules: []*finding.Rule{rule}, Profile: scan.Safe, ScanSite: scanSite}

const (
	// maxSeen bounds the pages that are read as the lower user to know where his links lead.
	maxSeen = 80
	// maxAsked bounds the pages that are compared; beyond it the scan reports a gap.
	maxAsked = 100
	// same is the similarity from which on both users see the same page; menus and names differ.
	same = 0.9
)

// scanSite compares what the first identity is shown with what each lower one is.
func scanSite(t *activescan.OperationScan) error {
	for _, other := range t.OtherIdentities {
		if !other.LessPrivileged {
			continue
		}
		seen, err := crawlAs(t, other.Session)
		if err != nil {
			return err
		}
		if seen == nil {
			t.ReportGap(scan.Reason{Code: "unavailable", Rules: []string{rule.ID}, Message: fmt.Sprintf("forced "+
				"browsing was not tested as %q: the session shows the same as none", other.Session.Name())})
			continue
		}
		if err := compareUsers(t, other.Session, seen); err != nil {
			return err
		}
	}
	return nil
}

// crawlAs follows links as a user, and returns the shapes of the paths that his pages lead to; nil:
// his session shows the same as none, so that everything would seem hidden from him.
func crawlAs(t *activescan.OperationScan, as traffic.Session) (map[string]bool, error) {
	mine, err := t.SendAs(t.Request, as)
	if err != nil {
		return nil, err
	}
	nobody, err := t.SendAnonymously(t.Request)
	if err != nil || mine.Status == nobody.Status && string(mine.Body) == string(nobody.Body) &&
		mine.Header.Get("Location") == nobody.Header.Get("Location") {
		return nil, err
	}
	seen := map[string]bool{sitemap.PathShape(t.Request): true}
	asked := map[string]bool{}
	queue := []*message.Request{t.Request}
	push := func(r *message.Request) {
		seen[sitemap.PathShape(r)] = true
		if r.Method == http.MethodGet && !asked[sitemap.OperationKey(r)] && t.Scope.Allows(r) == nil &&
			sitemap.ForbiddenReason(r) == "" {
			asked[sitemap.OperationKey(r)] = true
			queue = append(queue, r)
		}
	}
	// Breadth first: menus are on the first pages.
	for n := 0; len(queue) > 0 && n < maxSeen; n++ {
		r := queue[0]
		queue = queue[1:]
		resp, err := t.SendAs(r, as)
		if err != nil {
			if traffic.IsFinal(err) {
				return nil, err
			}
			continue
		}
		if to := resp.Location(); to != nil {
			if next, err := message.FromURL(to); err == nil {
				push(next)
			}
		}
		for _, next := range crawl.ReadPage(resp).Requests {
			push(next)
		}
	}
	return seen, nil
}

// shown are the origins of operations that a page leads to. What was guessed or comes from source
// code is not shown to the higher user either.
var shown = map[string]bool{"link": true, "form": true, "script": true, "browser": true}

// compareUsers requests what the lower user is not shown, as both users and as nobody.
func compareUsers(t *activescan.OperationScan, as traffic.Session, seen map[string]bool) error {
	asked := 0
	for _, e := range t.Sitemap.Entries() {
		r := e.Request
		if r.Method != http.MethodGet || !shown[r.Origin] || e.Seen.Outcome != finding.Reached ||
			seen[sitemap.PathShape(r)] || sitemap.ForbiddenReason(r) != "" {
			continue
		}
		if asked++; asked > maxAsked {
			t.ReportGap(scan.Reason{Code: "too-many-pages", Rules: []string{rule.ID},
				Message: fmt.Sprintf("more than %d pages that %q is not shown were not compared", maxAsked, as.Name())})
			return nil
		}
		if err := reportAccess(t, as, r); err != nil && traffic.IsFinal(err) {
			return err
		}
	}
	return nil
}

// reportAccess reports a page that opens for the lower user as for the other.
func reportAccess(t *activescan.OperationScan, as traffic.Session, r *message.Request) error {
	own, err := t.Send(r)
	if err != nil || own.Status != http.StatusOK || len(own.Body) == 0 {
		return err
	}
	lower, err := t.SendAs(r, as)
	if err != nil {
		return err
	}
	page := activescan.NewPage(own)
	if page.Similarity(activescan.NewPage(lower)) < same {
		return nil
	}
	nobody, err := t.SendAnonymously(r)
	if err != nil || page.Similarity(activescan.NewPage(nobody)) >= same {
		return err
	}
	// A page that refuses with a status of success is the same for every address.
	strange := r.Clone()
	strange.Path += t.RandomLetters(10)
	other, err := t.SendAs(strange, as)
	if err != nil || page.Similarity(activescan.NewPage(other)) >= same {
		return err
	}
	t.RaiseAlert(activescan.Alert{Rule: rule, Request: r, Responses: []*message.Response{own, lower, nobody},
		ResponseNotes: []string{"as " + t.As.Name(), "as " + as.Name() + ", who may do less", "as nobody"},
		Message:       fmt.Sprintf("The page is shown to %s only, and opens for %s.", t.As.Name(), as.Name()),
		Proof: []string{fmt.Sprintf("No page that %s is shown links there (at most %d pages were checked); pages "+
			"of %s do.", as.Name(), maxSeen, t.As.Name()),
			"Asked for by " + as.Name() + ", it is the same page.", "Without a session it is not returned, and " +
				"another URL returns another page."}})
	return nil
}
