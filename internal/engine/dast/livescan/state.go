package livescan

import (
	"context"
	"fmt"
	"time"

	"merlon/internal/engine/dast/session"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file shows the state of a visit, stops it early, and decides what a failed sign-in
// means.

// errStopped is the cause of a context that scan.Live.Stop has ended.
var errStopped = fmt.Errorf("the scan was stopped: %w", context.Canceled)

// reportToMonitor wraps Report and Progress, so that the monitor can show the state of the live
// scan while it runs. The counters are atomic: the monitor reads them from another goroutine.
func (v *Scan) reportToMonitor() {
	report, progress := v.Report, v.Progress
	v.Report = func(r *finding.Rule, f finding.Finding) {
		v.reported.Add(1)
		report(r, f)
	}
	v.Progress = func(percent int, step string) {
		v.phase.Store(&step)
		progress(percent, step)
	}
	starting := "asking whether the target responds"
	v.phase.Store(&starting)
	v.Monitor.Watch(func() scan.Snapshot {
		done, left := int(v.done.Load()), int(v.left.Load())
		// Before the attack, everything that was found is still to be done.
		if done+left == 0 {
			left = v.Sitemap.Len()
		}
		return scan.Snapshot{Phase: *v.phase.Load(), Requests: v.Client.Sent(), Done: done, Left: left,
			Findings: int(v.reported.Load())}
	})
}

// withStop returns a context that ends when the scan is stopped, with the cause errStopped. A stop
// differs from a cancelled scan: its findings are kept.
func (v *Scan) withStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-v.Stop: // nil: blocks
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// discoverOperations lets the analysis find operations in half of the time that is left at most:
// the other half is for the attack on what is known by then.
func (v *Scan) discoverOperations(ctx context.Context, plan Plan) error {
	end := time.Now()
	end = end.Add(v.Deadline.Sub(end) / 2)
	within, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	err := plan.Discover(within)
	// Only the end of this half is no error; the end of the whole scan and a used-up request budget
	// are.
	if err == nil || ctx.Err() != nil || !traffic.IsFinal(err) || time.Until(end) > almost {
		return err
	}
	v.Degrade(scan.Reason{Code: "timeout", Beyond: true, Message: "finding operations took half of the time of the " +
		"scan: what was not found by then was not examined"})
	return nil
}

// almost is how long before its end the time to find operations counts as used up: a request that
// would have to wait longer for the rate limit is refused at once, so the last one ends before.
const almost = time.Second

// SignIn signs an identity of the target in. Where that fails, the error ends the live scan: what a
// visitor sees says nothing about the application behind the sign-in. With AllowGuest the scan
// continues without the session, which is recorded as a reason.
func (v *Scan) SignIn(ctx context.Context, s *session.Session) error {
	err := s.SignIn(ctx)
	switch {
	case err == nil || traffic.IsFinal(err):
		return err
	case v.AllowGuest:
		v.Degrade(scan.Reason{Code: "unavailable", Message: err.Error() + "; the scan continues without this session"})
		return nil
	}
	return errs.Wrap(errs.Unavailable, err, "sign-in failed, nothing was examined")
}

// protectAccounts makes the client refuse a wrong password for the accounts of the target's
// identities: attacks on the sign-in form would lock them.
func (v *Scan) protectAccounts() error {
	for _, identity := range v.Target.Identities {
		s, err := session.New(identity, v.Session())
		if err != nil {
			return err
		}
		v.Client.ProtectAccount(s.Secrets())
	}
	return nil
}

// notSignedIn marks the operations whose attacks on the sign-in were left out, and reports the sign
// of a locked account.
func (v *Scan) notSignedIn() {
	left, locked := v.Client.SignIns()
	reasons := map[string]string{}
	for _, l := range left {
		reasons[l.Route] = l.Reason
	}
	for _, e := range v.Sitemap.Entries() {
		if why := reasons[traffic.Route(e.Request)]; why != "" {
			v.Sitemap.MarkUnfinished(e.Request, "not attacked to the end: "+why)
		}
	}
	if locked != "" {
		v.Degrade(scan.Reason{Code: "unavailable", Message: "sign-in forms were not attacked any more from the first " +
			"sign of a lock on: " + locked})
	}
}
