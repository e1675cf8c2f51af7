// Package forcedbrowsing finds pages that are only hidden from a user: what a higher one is
// shown, no page that a lower one sees leads to, and yet it opens for him as for the
// other, and not for nobody. Which of two identities may do less is for the target to
// say (scan.Identity.Role).
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
	maxSeen  = 80  // pages that are looked at as the lower user
	maxAsked = 100 // pages that are compared
	same     = 0.9 // how alike the page of both users is; menus differ
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

// crawlAs follows links as a user, and returns the paths that his pages name; nil: he is
// shown nothing that nobody is not.
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

// shown are the ways by which an operation is found that a page leads to.
var shown = map[string]bool{"link": true, "form": true, "script": true, "browser": true}

// compareUsers asks as both users and as nobody for what the lower one is not shown.
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
