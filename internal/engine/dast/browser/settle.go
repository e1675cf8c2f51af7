package browser

import (
	"context"
	"errors"
	"time"
)

const (
	quietNetwork = 120 * time.Millisecond // without a request before a page has settled
	quietTree    = 100 * time.Millisecond // without a change of its document
	longRequest  = 3 * time.Second        // a request that takes longer is not waited for
	settleStep   = 30 * time.Millisecond
	restless     = 1500 * time.Millisecond // a document that changes for longer never rests
)

// Settle waits until the page asks for nothing and changes nothing any more, or the
// limit has passed, which is no error: many pages never rest.
func (p *Page) Settle(ctx context.Context, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	var calm time.Time // since when the network has been
	for time.Now().Before(deadline) {
		if err := p.checkAlive(ctx); err != nil {
			return err
		}
		if !p.networkQuiet() {
			calm = time.Time{}
		} else if calm.IsZero() {
			calm = time.Now()
		}
		if !calm.IsZero() {
			quiet := false
			limited, cancel := context.WithDeadline(ctx, deadline)
			err := p.Eval(limited, p.scriptCall("quiet", quietTree.Milliseconds()), &quiet)
			cancel()
			if err == nil && (quiet || time.Since(calm) > restless) && p.networkQuiet() {
				return nil
			}
		}
		select {
		case <-time.After(settleStep):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return p.checkAlive(ctx)
}

// networkQuiet reports whether no request has begun or ended for a while, and none of
// those under way is new.
func (p *Page) networkQuiet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, since := range p.pending {
		if time.Since(since) < longRequest {
			return false
		}
	}
	return time.Since(p.active) > quietNetwork
}

// checkAlive returns why the page cannot go on; nil: it can.
func (p *Page) checkAlive(ctx context.Context) error {
	if err := p.pageError(ctx.Err()); err != nil {
		return err
	}
	select {
	case <-p.session.gone:
		return errors.New("the page was closed")
	case <-p.session.lost:
		return p.in.endReason()
	default:
		return nil
	}
}
