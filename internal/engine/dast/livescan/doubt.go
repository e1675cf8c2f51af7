package livescan

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file doubts a visit that ended well: a target that refuses everything, or that
// has begun to, shows no vulnerabilities either.

// warnIfNothingExamined degrades the scan when there are operations and none was examined.
// Redirects alone are no application: they lead out of the target, or go on for ever.
func (v *Scan) warnIfNothingExamined(operations []finding.Operation) {
	last := ""
	for _, o := range operations {
		switch {
		case o.Outcome != finding.Reached:
			last = o.Reason
		// A firewall in front often shows itself by 503 for everything, a missing sign-in by
		// redirects.
		case o.Status >= http.StatusInternalServerError, o.Status >= 300 && o.Status < 400:
			last = fmt.Sprintf("%d: %s", o.Status, http.StatusText(o.Status))
		default:
			return
		}
	}
	if len(operations) > 0 {
		v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("none of the %d operations that were found "+
			"responded with anything but an error, a denial or a redirect (%s): they were not scanned",
			len(operations), last)})
	}
}

const (
	// suspicious is how many refusals in a row make the target suspected of refusing everything.
	// Attacks alone are refused too: validation refuses several payloads of one parameter.
	suspicious = 20
	// controls is how many operations are requested then, as a user would.
	controls = 3
)

// detectBlocking degrades the scan when the target has begun to refuse what it responded to before:
// a web application firewall or a rate limit has blocked the scanner. One control that is not
// refused refutes the suspicion.
func (v *Scan) detectBlocking(ctx context.Context) error {
	since, run := v.Client.RefusalRun()
	if run < suspicious {
		return nil
	}
	// Only what was reached before can show a change.
	entries := slices.DeleteFunc(v.Sitemap.Entries(), func(e sitemap.Entry) bool {
		return e.Request.Method != http.MethodGet || e.Seen.Outcome != finding.Reached && e.Seen.Status != 0
	})
	n, status := min(controls, len(entries)), 0
	for i := range n {
		// Spread over the sitemap: operations that stand together often have the same rights.
		resp, err := v.Client.Send(ctx, entries[i*len(entries)/n].Request, v.As)
		switch {
		case traffic.IsFinal(err):
			return err
		case err != nil:
		case !traffic.IsRefusal(resp.Status):
			return nil
		default:
			status = resp.Status
		}
	}
	if status != 0 {
		v.Degrade(scan.Reason{Code: "unavailable", Message: fmt.Sprintf("the target denies with %d what it allowed "+
			"before: nothing was scanned from request %d on", status, since)})
	}
	return nil
}
